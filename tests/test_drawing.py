"""The pictures of the documentation: each is on a page, and figures have the colours of both modes.

That the graphs of the guide are those of the code above them is in test_documentation.py.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import gallery
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
@pytest.mark.needs("matplotlib")
def test_a_figure_follows_the_mode_of_its_reader(tmp_path: Path) -> None:
    figures = importlib.import_module("figures")
    for name in figures.FIGURES:
        figures.save(name, tmp_path / "figure.svg")
        head, _, drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8").partition("</style>")
        assert "@media (prefers-color-scheme:dark)" in head
        assert "var(--text)" in drawn
        assert not re.findall("#[0-9a-f]{6};", drawn), f"{name}: a colour of one mode"


def test_every_picture_is_on_a_page() -> None:
    docs = ROOT / "docs"
    text = "\n".join(page.read_text(encoding="utf-8") for page in docs.rglob("*.md"))
    static = docs / "_static"
    there = {path.relative_to(static).as_posix() for path in static.rglob("*.*")}
    pictures = {name for name in there if not name.endswith(".css")}
    assert pictures == {*re.findall(r"_static/([\w./]+)\)", text)}


def test_the_gallery_lists_every_program() -> None:
    assert {*gallery.ORDER} == {*gallery.names()}
    assert gallery.listed() == gallery.LISTED.read_text("utf-8"), "tools/gallery.py --docs"
