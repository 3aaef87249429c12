"""The directive ```{drawing}, which shows code and the graph that it draws.

The picture is drawn from the code while the page is built. All code above it on the page runs
first, in the same namespace. The last line of the block is a graph.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

from docutils import nodes
from pages import blocks_of, run
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import minigrad
from minigrad.viz.drawing.style import STYLE

LIGHT, _, DARK = STYLE.removesuffix("}").partition("@media (prefers-color-scheme:dark){")

THEMES = f"""{LIGHT}
body[data-theme="dark"] {{{DARK}}}
@media (prefers-color-scheme: dark) {{body:not([data-theme="light"]) {{{DARK}}}}}
.drawing {{margin: 1rem 0 1.5rem; overflow-x: auto}}
.drawing svg {{display: block; margin: 0 auto; max-width: 100%; height: auto}}
"""
"""The picture's own style sheet, once for all pages, and as the reader has set the theme."""


class Drawing(SphinxDirective):
    """Code, and the picture of the graph that is the value of its last line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run the page up to this block, and draw."""
        code = "\n".join(self.content)
        shown = nodes.literal_block(code, code, language="python")
        self.set_source_info(shown)
        picture = self._value().to_svg().replace(f"<style>{STYLE}</style>", "")
        return [shown, nodes.raw("", f'<div class="drawing">\n{picture}</div>', format="html")]

    def _value(self) -> Any:
        """Run the blocks from the last drawing on the page to this one; return its value."""
        known = self.env.temp_data
        page = Path(self.env.doc2path(self.env.docname))
        if "drawing blocks" not in known:
            known["drawing blocks"] = iter(blocks_of(page.read_text(encoding="utf-8")))
            known["drawing names"] = {"__name__": "__main__"}
            minigrad.random.seed(0)
        for block in known["drawing blocks"]:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    value = run(block, known["drawing names"], os.path.relpath(page))
            except Exception as error:
                place = f"the code below line {block.line}"
                raise self.error(f"{place}: {type(error).__name__}: {error}") from error
            if block.language == "drawing":
                return value
        raise self.error("drawing: its code was not found on the page")


def write_style(app: Sphinx, _: Any) -> None:
    """Write the style sheet beside the pages."""
    if app.builder.format == "html":
        (Path(app.outdir) / "_static" / "drawing.css").write_text(THEMES, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("drawing", Drawing)
    app.add_css_file("drawing.css")
    app.connect("build-finished", write_style)
    return {"parallel_read_safe": True}
