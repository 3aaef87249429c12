"""PNG and PDF: the picture of the SVG, by an optional package; titles."""

from __future__ import annotations

import importlib
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad import nn, viz
from minigrad.viz.drawing.pictures import convert
from minigrad.viz.drawing.style import STYLE

SVG = "{http://www.w3.org/2000/svg}"


def mlp() -> viz.Graph:
    return viz.graph(
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.ones(5, 3)
    )


def pixels(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.needs("cairosvg")
def test_png_and_pdf_show_the_layout_of_the_svg_without_graphviz(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    graph = mlp()
    root = ElementTree.fromstring(graph.to_svg(1, title="Two layers"))
    size = int(root.get("width", "")), int(root.get("height", ""))
    png = graph.save(tmp_path / "two.png", depth=1, title="Two layers").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert pixels(png) == (2 * size[0], 2 * size[1])
    pdf = graph.save(tmp_path / "two.pdf", depth=1).read_bytes()
    assert pdf.startswith(b"%PDF")


def glyph(letter: str) -> bytes:
    """A picture of one letter, by the style of the pictures."""
    text = mlp().to_svg(0, title=letter)
    assert letter in text
    return convert(text, ".png", 2)


@pytest.mark.needs("cairosvg")
def test_the_letters_of_mathematics_are_there() -> None:
    missing = "\u0378"  # a code point that is not a letter is drawn as an empty box
    empty = convert(
        mlp().to_svg(0, title="A").replace(">A</text>", f">{missing}</text>"), ".png", 2
    )
    drawn = {letter: glyph(letter) for letter in "∂×σΣ→…√ᵀ"}
    assert empty not in drawn.values()
    assert len(set(drawn.values())) == len(drawn)


@pytest.mark.needs("cairosvg")
def test_the_colours_of_the_style_sheet_are_drawn() -> None:
    """What converts it reads the style sheet, all but the colours for a dark ground."""
    svg = mlp().to_svg(2)
    light, _, dark = STYLE.partition("@media")
    assert dark
    drawn = convert(svg, ".png", 2)
    assert drawn == convert(svg.replace(STYLE, light), ".png", 2)
    assert drawn != convert(svg.replace(STYLE, ""), ".png", 2)


@pytest.mark.parametrize(
    ("error", "remedies"),
    [
        (ModuleNotFoundError("cairosvg"), ["pip install cairosvg"]),
        (OSError("no library called cairo"), ["libcairo2", "brew install cairo"]),
    ],
    ids=["package", "library"],
)
@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_without_the_extra_one_line_says_what_to_install(
    ending: str,
    error: Exception,
    remedies: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    real = importlib.import_module

    def absent(name: str) -> Any:
        if name == "cairosvg":
            raise error
        return real(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises((ImportError, RuntimeError)) as raised:
        mlp().save(tmp_path / f"picture.{ending}")
    text = str(raised.value)
    assert "\n" not in text
    assert all(remedy in text for remedy in (*remedies, ending.upper()))
    assert not list(tmp_path.iterdir())


def test_a_title_stands_above_everything_and_is_escaped() -> None:
    root = ElementTree.fromstring(mlp().to_svg(title="a <b> & c"))
    [title] = [item for item in root.iter(f"{SVG}text") if "title" in item.get("class", "")]
    assert title.text == "a <b> & c"
    assert root.get("aria-label", "").startswith("a <b> & c: ")
    plain = ElementTree.fromstring(mlp().to_svg())
    added = int(root.get("height", "")) - int(plain.get("height", ""))
    assert 0 < int(title.get("y", "")) < added
    long = ElementTree.fromstring(mlp().to_svg(title="long " * 12))
    assert int(long.get("width", "")) > int(root.get("width", ""))
