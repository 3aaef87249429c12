"""Drawings: SVG, DOT, PNG, PDF: complete, escaped, legible, drawn with nothing installed."""

import importlib
import math
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import graphviz
import numpy as np
import pytest
from reading import SVG, classed, encoder_layer, parse, texts

import minigrad
from minigrad import nn, viz
from minigrad.viz import Edge, Graph, Group, Node, Saved
from minigrad.viz.drawing import dot as styles
from minigrad.viz.drawing.pictures import convert
from minigrad.viz.drawing.style import DARK, LIGHT, STYLE, Palette
from minigrad.viz.drawing.svg import draw
from minigrad.viz.layout.labels import text_width
from minigrad.viz.record.writing import number_text

HOSTILE = "a<&\">'\n|{}</title><script>alert(1)</script>"


def tooltips(root: ElementTree.Element, kind: str) -> list[str]:
    return [item.findtext(f"{SVG}title") or "" for item in classed(root, kind)]


def test_a_hundred_characters_are_a_hundred_times_as_wide_as_one() -> None:
    """Exactly: a sum of floats depends on the version of Python."""
    for character, em in {"i": 42, "a": 63, "A": 70, "m": 97, "国": 105}.items():
        assert text_width(character * 100, "name") == 12 * em
        assert text_width(character * 100, "title") == math.ceil(18 * 1.15 * em - 1e-6)


def test_the_page_begins_with_the_picture() -> None:
    graph = encoder_layer()
    picture = draw(graph.collapse(1)).partition("</style>")[2]
    assert picture in graph.to_html(1)


def hostile(name: str = HOSTILE) -> Graph:
    nodes = (
        Node("n0", "input", name, (2,), notes=(name,), line=name),
        Node("n1", "parameter", f"{name}.{name}", (2,), "float32", "g1"),
        Node("n2", "op", name, (2,), name, "g1", saved=(Saved(name, (2,), name, 8),)),
        Node("n3", "op", "matmul", (2,), "float32", "g0", error=name),
        Node("n4", "output", name),
    )
    ways = (0, 2, 0, name), (1, 2, 1, name), (2, 3, 1, name), (2, 3, 0, "tensors[0]"), (3, 4, 0, "")
    edges = tuple(Edge(f"n{a}", f"n{b}", slot, of, (2,), "f2") for a, b, slot, of in ways)
    groups = Group("g0", "", "", name, None, 1234, 1, 2), Group("g1", name, name, name, "g0")
    return Graph(nodes, edges, groups)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_hostile_names_are_text_and_nothing_else(depth: int) -> None:
    root = parse(hostile().to_svg(depth))
    assert not [item.tag for item in root.iter() if item.tag.endswith("script")]
    assert all("\n" not in text for text in texts(root))
    tip = next(tip for tip in tooltips(root, "input") if tip)
    assert HOSTILE.replace("\n", r"\n") in tip  # whole; the text in the box is shortened
    shown = {name for item in root.iter() for name in item.attrib}
    assert not [name for name in shown if name.startswith("on")]


NAMES = [r"\N", "<b>bold</b>", "&amp;", "\x00\ud800"]


def named(name: str) -> Graph:
    return Graph((Node("n0", "input", name), Node("n1", "output", "y")), (Edge("n0", "n1"),))


def written_out(name: str) -> str:
    return name.replace("\x00\ud800", r"\x00\ud800")


@pytest.mark.parametrize("name", [*NAMES, "é中🙂", "]]>", ""])
def test_no_name_is_read_as_markup(name: str) -> None:
    written = named(name).to_svg().encode()  # which a lone surrogate would prevent
    assert written_out(name) in [*texts(ElementTree.fromstring(written)), ""]


def test_nothing_is_loaded_and_nothing_runs() -> None:
    for graph in (hostile(), encoder_layer()):
        svg = graph.to_svg(2).replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http" not in svg
        for forbidden in ("<script", "<image", "<foreignObject", "<use", "href", "url(", "@import"):
            assert forbidden not in svg


def test_it_draws_where_nothing_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "graphviz", None)  # importing it fails
    graph = encoder_layer()
    written = graph.save(tmp_path / "layer.svg", depth=1)
    assert written.read_text(encoding="utf-8") == graph.to_svg(1)
    assert [file.name for file in tmp_path.iterdir()] == ["layer.svg"]
    assert graph._repr_mimebundle_()["image/svg+xml"] == graph._repr_svg_() == graph.to_svg()


# Colours -----------------------------------------------------------------------------------------


def channels(colour: str) -> list[float]:
    """A colour in linear light."""
    if colour == "white":
        return [1.0] * 3
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one: str, other: str) -> float:
    dark, light = sorted(np.dot((0.2126, 0.7152, 0.0722), channels(x)) for x in (one, other))
    return (light + 0.05) / (dark + 0.05)


def stand_out(colours: Iterable[str], grounds: Iterable[str], least: float) -> None:
    for colour, ground in product(colours, grounds):
        assert contrast(colour, ground) >= least, (colour, ground)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_stand_out_in_both_themes(palette: Palette) -> None:
    def colours(*names: str) -> list[str]:
        return [palette[name] for name in names]

    fills = [palette[name] for name in palette if "fill" in name]
    grounds = colours("page", "ground")
    stand_out(colours("text", "faint", "error"), grounds + fills, 4.5)
    lines = colours("line", "residual", "outline", "op", "parameter", "error")
    stand_out(lines, grounds, 3)
    stand_out(colours("parameter"), colours("parameter fill"), 4.5)  # its glyph
    stand_out(colours("op"), colours("op fill"), 3)


# Machado, Oliveira and Fernandes (2009), full severity.
SEEN = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, matrix: list[list[float]]) -> list[float]:
    """A colour as somebody sees it, in CIE Lab."""
    seen = np.clip(np.array(matrix) @ channels(colour), 0, 1)
    xyz = TO_XYZ @ seen / (0.9505, 1.0, 1.089)  # of white
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", SEEN)
def test_hues_can_be_told_apart_by_all_eyes(palette: Palette, eyes: str) -> None:
    hues = [lab(palette[name], SEEN[eyes]) for name in ("op", "parameter", "error", "text")]
    for one, other in combinations(hues, 2):
        assert math.dist(one, other) >= 12


def test_the_style_sheet_touches_no_other_part_of_a_page() -> None:
    light, _, dark = STYLE.partition("@media (prefers-color-scheme:dark){")
    assert dark
    rules = ",".join(re.findall(r"([^{}]+)\{[^{}]*\}", light + dark)).split(",")
    assert all(rule.startswith(".minigrad-graph ") for rule in rules)
    assert "{op}" not in STYLE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.25, "−0.25"), (138.834, "138.8"), (1.26e-5, "1.3e-5"),
        (123456.0, "1.2e5"), (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(value: float, text: str) -> None:
    assert number_text(value) == text.replace("-", "−")


def drawn(graph: Graph, depth: int, form: str) -> str:
    """What `dot` makes of the graph, which must be without complaint."""
    source = graph.to_dot(depth).encode()
    result = subprocess.run(["dot", f"-T{form}"], input=source, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout.decode()


@pytest.mark.needs("dot")
def test_hostile_names_survive_in_dot() -> None:
    shown, written = texts(parse(drawn(hostile('a<&">\n|{}'), 2, "svg"))), r'a<&">\n|{}'
    told = " ".join(shown)
    assert told.count(written) == 10  # boxes, notes, errors, operands, names and classes
    assert f"W {written}" in shown


@pytest.mark.needs("dot")
@pytest.mark.parametrize("name", [*NAMES, "é中", r"back\slash"])
def test_no_name_is_read_as_markup_of_dot(name: str) -> None:
    assert written_out(name) in texts(parse(drawn(named(name), 0, "svg")))


def test_dot_text_needs_no_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Which draws the same text."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    graph = hostile()
    written = graph.save(str(tmp_path / "graph.dot"))
    assert written == tmp_path / "graph.dot"
    assert written.read_text(encoding="utf-8") == graph.to_dot()
    for depth in (None, 0, 2):
        source = graph.to_graphviz(depth)
        assert isinstance(source, graphviz.Source)
        assert source.source == graph.to_dot(depth)
    with pytest.raises(graphviz.ExecutableNotFound, match="dot"):
        source.pipe(format="svg")


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    for name in ("picture", "picture.jpeg"):
        with pytest.raises(ValueError, match=r"\.svg, \.html, \.dot, \.png, \.pdf"):
            hostile().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_colours_of_dot_can_be_told_from_what_they_stand_on() -> None:
    grounds = [*styles.GROUNDS, *(style["fillcolor"] for style in styles.STYLES.values())]
    stand_out((styles.NEUTRAL, styles.FAINT, styles.OP), grounds, 4.5)
    lines = styles.LINE, styles.RESIDUAL["color"], styles.OP, styles.PARAMETER
    stand_out(lines, styles.GROUNDS, 3)


def mlp() -> viz.Graph:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    return viz.graph(model, minigrad.ones(5, 3))


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
    assert struct.unpack(">II", png[16:24]) == (2 * size[0], 2 * size[1])
    pdf = graph.save(tmp_path / "two.pdf", depth=1).read_bytes()
    assert pdf.startswith(b"%PDF")


def glyph(letter: str) -> bytes:
    """A picture of one letter, by the style of the pictures."""
    text = mlp().to_svg(0, title=letter)
    assert letter in text
    return convert(text, ".png")


@pytest.mark.needs("cairosvg")
def test_the_letters_of_mathematics_are_there() -> None:
    missing = "\u0378"  # a code point that is not a letter is drawn as an empty box
    svg = mlp().to_svg(0, title="A").replace(">A</text>", f">{missing}</text>")
    empty = convert(svg, ".png")
    drawn = {letter: glyph(letter) for letter in "∂×σΣ→…√ᵀ"}
    assert empty not in drawn.values()
    assert len(set(drawn.values())) == len(drawn)


REMEDIES = {
    "package": (ModuleNotFoundError("cairosvg"), ["pip install cairosvg"]),
    "library": (OSError("no library called cairo"), ["libcairo2", "brew install cairo"]),
}


@pytest.mark.parametrize("absent", REMEDIES)
@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_without_the_extra_one_line_says_what_to_install(
    ending: str, absent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error, remedies = REMEDIES[absent]
    real = importlib.import_module

    def imported(name: str) -> Any:
        if name == "cairosvg":
            raise error
        return real(name)

    monkeypatch.setattr(importlib, "import_module", imported)
    with pytest.raises((ImportError, RuntimeError)) as raised:
        mlp().save(tmp_path / f"picture.{ending}")
    text = str(raised.value)
    assert "\n" not in text
    assert all(remedy in text for remedy in (*remedies, ending.upper()))
    assert not list(tmp_path.iterdir())
