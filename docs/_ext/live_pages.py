"""Directives for the live pages of the gallery, which are written when the documentation is built.

```{gallery} lists pages, one name a line: for each its title, its picture, which leads to the page,
what to look at, and its program. ```{live} shows one page in a frame; its name may be followed by a
place in the page: ```{live} nan#step=2.
"""

from __future__ import annotations

import html
from pathlib import Path

from docutils import nodes
from gallery import Example, example, names, picture_of, write_pages
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "gallery"
"""Where the pages are, below the first page of the documentation."""


def raw(text: str) -> nodes.raw:
    """HTML as it is; other formats leave it out."""
    return nodes.raw("", text, format="html")


class LivePages(SphinxDirective):
    """What both directives do."""

    def address(self, page: str) -> str:
        """Where a live page lies, seen from this page of the documentation."""
        name = page.partition("#")[0]
        if name not in names():
            raise self.error(f"{self.name}: there is no examples/gallery/{name}.py")
        above = "../" * self.env.docname.count("/")
        return html.escape(f"{above}{FOLDER}/{name}.html{page[len(name) :]}")

    def page_of(self, name: str) -> str:
        """The text of a live page; nothing if it was left out, or if no HTML is built."""
        file = Path(self.env.app.outdir) / FOLDER / f"{name}.html"
        return file.read_text(encoding="utf-8") if file.exists() else ""


class Live(LivePages):
    """A live page in a frame."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the frame, and a link to the page alone."""
        page = self.arguments[0]
        address, title = self.address(page), html.escape(example(page.partition("#")[0]).title)
        return [
            raw(
                f'<figure class="live"><div><iframe src="{address}" title="{title}"></iframe></div>'
                f'<figcaption><a href="{address}">Open this page by itself</a></figcaption>'
                "</figure>"
            )
        ]


class Gallery(LivePages):
    """A list of live pages."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write a section for each page."""
        missing = {*names()} - {*self.content}
        if missing:
            raise self.error(f"gallery: not listed: {', '.join(sorted(missing))}")
        return [self._section(example(name)) for name in self.content]

    def _section(self, one: Example) -> nodes.section:
        address, page = self.address(one.name), self.page_of(one.name)
        title = html.escape(one.title)
        link = (
            f'<a class="live-picture" href="{address}" aria-label="Open the page: {title}">'
            f"{picture_of(page)}</a>"
            if page
            else "<p>This page is left out here: it needs <code>mpi4py</code> and an MPI when the "
            "documentation is built.</p>"
        )
        program = nodes.literal_block(one.code, one.code, language="python")
        summary = f"<details><summary>The program: <code>{one.name}.py</code></summary>"
        section = nodes.section("", nodes.title("", one.title), names=[one.title.lower()])
        self.state.document.note_implicit_target(section, section)
        section += self.parse_text_to_nodes(one.text)
        section += [raw(link), raw(summary), program, raw("</details>")]
        return section


def write(app: Sphinx) -> None:
    """Run the scripts, before the pages that show what they wrote."""
    if app.builder.format == "html":
        write_pages(Path(app.outdir) / FOLDER)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("gallery", Gallery)
    app.add_directive("live", Live)
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
