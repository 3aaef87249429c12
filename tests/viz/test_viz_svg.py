"""SVG: complete, escaped, legible in both themes, and drawn with nothing installed."""

from __future__ import annotations

import contextlib
import math
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from svg_reading import SVG, classed, parse, texts

import minigrad
from minigrad import nn, viz
from minigrad.viz import Edge, Graph, Group, Node, Saved
from minigrad.viz.drawing.style import DARK, LIGHT, STYLE, Palette
from minigrad.viz.drawing.svg import draw
from minigrad.viz.layout.labels import text_width
from minigrad.viz.record.writing import number_text

HOSTILE = "a<&\">'\n|{}</title><script>alert(1)</script>"


def tooltips(root: ElementTree.Element, kind: str) -> list[str]:
    return [item.findtext(f"{SVG}title") or "" for item in classed(root, kind)]


def encoder_layer(norm_first: bool = False) -> Graph:
    layer = nn.TransformerEncoderLayer(16, 4, 32, norm_first=norm_first)
    return viz.graph(layer, minigrad.ones(2, 5, 16))


def test_a_hundred_characters_are_a_hundred_times_as_wide_as_one() -> None:
    """Exactly: a sum of floats depends on the version of Python."""
    for character, em in {"i": 42, "a": 63, "A": 70, "m": 97, "国": 105}.items():
        assert text_width(character * 100, "name") == 12 * em
        assert text_width(character * 100, "title") == math.ceil(18 * 1.15 * em - 1e-6)


@pytest.mark.parametrize("depth", [None, 0, 1, 2, 3])
def test_every_box_edge_and_open_module_of_a_view_is_drawn(depth: int | None) -> None:
    graph = encoder_layer()
    view = graph.collapse(depth)
    root = parse(graph.to_svg(depth))
    nodes = [node.id for node in view.nodes]
    drawn = [item.get("data-id") for item in classed(root, "box") if item.get("data-id")]
    assert sorted(drawn, key=str) == sorted(nodes)
    edges = [item.get("data-edge") for item in classed(root, "edge")]
    assert edges == [str(index) for index in map(int, edges)]
    assert len(set(edges)) == len(view.edges)
    frames = {item.get("data-id") for item in classed(root, "frame")}
    assert frames == {group.id for group in view.groups} - set(nodes)


def test_the_page_begins_with_the_picture() -> None:
    graph = encoder_layer()
    picture = draw(graph.collapse(1)).partition("</style>")[2]
    assert picture in graph.to_html(1)


def hostile() -> Graph:
    nodes = (
        Node("n0", "input", HOSTILE, (2,), notes=(HOSTILE,), line=HOSTILE),
        Node("n1", "parameter", f"{HOSTILE}.{HOSTILE}", (2,), "float32", "g1"),
        Node("n2", "op", HOSTILE, (2,), HOSTILE, "g1", saved=(Saved(HOSTILE, (2,), HOSTILE, 8),)),
        Node("n3", "op", "matmul", (2,), "float32", "g0", error=HOSTILE),
        Node("n4", "output", HOSTILE),
    )
    edges = (
        Edge("n0", "n2", 0, HOSTILE, (2,)),
        Edge("n1", "n2", 1, HOSTILE, (2,)),
        Edge("n2", "n3", 1, HOSTILE, (2,), "float16"),
        Edge("n2", "n3", 0, "tensors[0]", (2,), "float16"),
        Edge("n3", "n4", 0, "", (2,)),
    )
    groups = (
        Group("g0", "", "", HOSTILE, None, 1234, 1, 2),
        Group("g1", HOSTILE, HOSTILE, HOSTILE, "g0"),
    )
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


@pytest.mark.parametrize("name", [r"\N", "<b>bold</b>", "&amp;", "\x00\ud800", "é中🙂", "]]>", ""])
def test_no_name_is_read_as_markup(name: str) -> None:
    graph = Graph((Node("n0", "input", name), Node("n1", "output", "y")), (Edge("n0", "n1"),))
    written = graph.to_svg().encode()  # which a lone surrogate would prevent
    shown = name.replace("\x00\ud800", r"\x00\ud800")
    assert shown in [*texts(ElementTree.fromstring(written)), ""]


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
    parse(graph.to_svg(1))


def test_a_notebook_shows_the_picture() -> None:
    graph = encoder_layer()
    assert graph._repr_mimebundle_()["image/svg+xml"] == graph.to_svg()
    assert graph._repr_svg_() == graph.to_svg()


def test_a_notebook_says_why_there_is_no_picture() -> None:
    """Of a graph written by hand, whose groups feed each other."""
    nodes = tuple(Node(f"n{i}", "op", "f", group=f"g{i % 2}") for i in range(3))
    groups = tuple(Group(f"g{i}", f"m{i}", f"m{i}", "Module") for i in range(2))
    graph = Graph(nodes, (Edge("n0", "n1"), Edge("n1", "n2")), groups)
    assert list(graph._repr_mimebundle_()) == ["text/plain"]
    assert "feed each other" in graph._repr_mimebundle_()["text/plain"]


def every_kind() -> Graph:
    w = minigrad.ones(3, 4, requires_grad=True)
    norm = nn.LayerNorm(4)
    with contextlib.suppress(ValueError), viz.trace() as traced:
        h = norm(minigrad.ones(5, 3) @ w)
        with minigrad.no_grad():
            h.mean()
        h @ w
    return traced.graph()


def test_kinds_differ_by_shape_and_glyph() -> None:
    graph = every_kind()
    root = parse(graph.to_svg(1))
    boxes = {item.get("class", ""): item for item in classed(root, "box") if item.get("data-id")}

    def shape(kind: str) -> tuple[str, str]:
        item = next(item for classes, item in boxes.items() if kind in classes.split())
        parts = [part for part in item.iter() if part.get("class") in ("shape", "inner", "sign")]
        rounding = "".join(part.get("rx", "") for part in parts[:1])
        return " ".join(part.tag.removeprefix(SVG) for part in parts), rounding

    kinds = ["op", "fused", "parameter", "input", "constant"]
    assert len({shape(kind) for kind in kinds}) == len(kinds)
    closed = parse(graph.to_svg(0))
    assert len(classed(closed, "inner")) == 2  # the module, and in the legend
    assert texts(root).count("W") == 3  # weight, bias, and in the legend
    assert len(classed(root, "unrecorded")) == 2  # mean, and in the legend


def test_it_says_what_it_is_to_who_does_not_see_it() -> None:
    root = parse(encoder_layer().to_svg(1))
    assert root.get("role") == "group"
    label = root.get("aria-label") or ""
    assert label.startswith("Compute graph: 1 input")
    assert label.endswith("1 open module")
    for kind in ("box", "frame"):
        for item in classed(root, kind):
            if item.get("data-id"):
                assert item.get("role") == "img"
                assert item.get("aria-label")
    names = [item.get("aria-label") for item in classed(root, "box")]
    assert "op add, 2×5×16" in names
    assert "module norm1, 2×5×16" in names


@pytest.mark.slow
# Colours -----------------------------------------------------------------------------------------


def channels(colour: str) -> list[float]:
    """A colour in linear light."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one: str, other: str) -> float:
    light, dark = sorted(
        (sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), channels(x), strict=True))
         for x in (one, other)),
        reverse=True,
    )  # fmt: skip
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_stand_out_in_both_themes(palette: Palette) -> None:
    grounds = [palette[name] for name in palette if name in ("page", "ground") or "fill" in name]
    for ground in grounds:
        for name in ("text", "faint", "error"):
            assert contrast(palette[name], ground) >= 4.5, (name, ground)
    for ground in (palette["page"], palette["ground"]):
        for name in ("line", "residual", "outline", "op", "parameter", "error"):
            assert contrast(palette[name], ground) >= 3, (name, ground)
    assert contrast(palette["parameter"], palette["parameter fill"]) >= 4.5  # its glyph
    assert contrast(palette["op"], palette["op fill"]) >= 3


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


def lab(colour: str, matrix: list[list[float]]) -> list[float]:
    """A colour as somebody sees it, in CIE Lab."""
    rgb = channels(colour)
    seen = [min(max(sum(m * c for m, c in zip(row, rgb, strict=True)), 0), 1) for row in matrix]
    xyz = [
        sum(m * c for m, c in zip(row, seen, strict=True)) / white
        for row, white in (
            ((0.4124, 0.3576, 0.1805), 0.9505),
            ((0.2126, 0.7152, 0.0722), 1.0),
            ((0.0193, 0.1192, 0.9505), 1.089),
        )
    ]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", SEEN)
def test_hues_can_be_told_apart_by_all_eyes(palette: Palette, eyes: str) -> None:
    hues = [lab(palette[name], SEEN[eyes]) for name in ("op", "parameter", "error", "text")]
    for index, one in enumerate(hues):
        for other in hues[index + 1 :]:
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 >= 12


def rules(sheet: str) -> Iterator[str]:
    for rule in re.findall(r"([^{}]+)\{[^{}]*\}", sheet):
        yield from rule.split(",")


def test_the_style_sheet_touches_no_other_part_of_a_page() -> None:
    light, _, dark = STYLE.partition("@media (prefers-color-scheme:dark){")
    assert dark
    assert all(rule.startswith(".minigrad-graph ") for rule in rules(light + dark))
    assert "{op}" not in STYLE


class TestNumbers:
    """Of scalars the picture shows value and gradient, as micrograd's does."""

    def test_of_a_finished_graph_what_is_known(self) -> None:
        a, b = (minigrad.tensor(value, requires_grad=True) for value in (2.0, -3.0))
        loss = minigrad.exp(a) * b
        told = [t for t in texts(parse(viz.graph(loss, a=a, b=b).to_svg())) if "data" in t]
        assert told == ["data 2", "data 7.389", "data −3", "data −22.17", "data −22.17"]
        loss.backward()
        told = [t for t in texts(parse(viz.graph(loss, a=a, b=b).to_svg())) if "data" in t]
        assert "data 2 | grad −22.17" in told
        assert "data −3 | grad 7.389" in told

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (0.0, "0"), (-0.25, "−0.25"), (138.834, "138.8"), (1.26e-5, "1.3e-5"),
            (123456.0, "1.2e5"), (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "NaN"),
        ],
    )  # fmt: skip
    def test_as_people_write_them(self, value: float, text: str) -> None:
        assert number_text(value) == text.replace("-", "−")
