"""The figures of the guide: each has the colours of both modes, and a page shows it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


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
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    pictures = {path.name for path in (DOCS / "_static").iterdir() if path.suffix != ".css"}
    assert pictures == {*re.findall(r"_static/([\w.]+)\)", text)}
