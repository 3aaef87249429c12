"""The live pages of the gallery, which are written when the documentation is built.

The directive ```{live} shows one page in a frame; its name may be followed by a place in the page:
```{live} nan#step=2. A picture of the gallery leads to its page.
"""

from __future__ import annotations

import html
from pathlib import Path

from docutils import nodes
from gallery import example, names, write_pages
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "gallery"
"""Where the pages are, below the first page of the documentation."""


class Live(SphinxDirective):
    """A live page in a frame."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the frame, and a link to the page alone."""
        page = self.arguments[0]
        name = page.partition("#")[0]
        if name not in names():
            raise self.error(f"live: there is no examples/gallery/{name}.py")
        above = "../" * self.env.docname.count("/")
        address = html.escape(f"{above}{FOLDER}/{name}.html{page[len(name) :]}")
        title = html.escape(example(name).title)
        frame = (
            f'<figure class="live"><div><iframe src="{address}" title="{title}"></iframe></div>'
            f'<figcaption><a href="{address}">Open this page by itself</a></figcaption></figure>'
        )
        return [nodes.raw("", frame, format="html")]


def link_pictures(app: Sphinx, document: nodes.document) -> None:
    """Let each picture of a live page lead to the page, if it was written."""
    for picture in document.findall(nodes.image):
        file = Path(FOLDER) / f"{Path(picture['uri']).stem}.html"
        if picture["uri"].startswith("_static/gallery/") and (Path(app.outdir) / file).exists():
            link = nodes.reference(refuri=file.as_posix(), classes=["live-picture"])
            picture.replace_self(link)
            link += picture


def write(app: Sphinx) -> None:
    """Run the scripts, before the pages that show what they wrote."""
    if app.builder.format == "html":
        write_pages(Path(app.outdir) / FOLDER)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive and the links."""
    app.add_directive("live", Live)
    app.connect("builder-inited", write)
    app.connect("doctree-read", link_pictures)
    return {"parallel_read_safe": True}
