"""DOT: valid, complete, escaped, and written without Graphviz."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import graphviz
import pytest

from minigrad.viz import Edge, Graph, Group, Node
from minigrad.viz.drawing import dot as styles

HOSTILE = 'a<&">\n|{}'
WRITTEN = r'a<&">\n|{}'
"""What the picture says: a newline is written out."""


def hostile_graph() -> Graph:
    nodes = (
        Node("n0", "input", HOSTILE, (2,)),
        Node("n1", "parameter", f"{HOSTILE}.{HOSTILE}", (2,), "float32", "g1"),
        Node("n2", "op", HOSTILE, (2,), "float16", "g1"),
        Node("n3", "op", "matmul", (2,), "float32", "g0"),
        Node("n4", "output", HOSTILE),
    )
    edges = (
        Edge("n0", "n2", 0, HOSTILE, (2,)),
        Edge("n1", "n2", 1, HOSTILE, (2,)),
        Edge("n2", "n3", 1, HOSTILE, (2,), "float16"),
        Edge("n2", "n3", 0, "tensors[0]", (2,), "float16"),
        Edge("n3", "n4"),
    )
    groups = (
        Group("g0", "", "", HOSTILE, None, 1234, 1, 2),
        Group("g1", HOSTILE, HOSTILE, HOSTILE, "g0"),
    )
    return Graph(nodes, edges, groups)


def drawn(graph: Graph, depth: int, form: str) -> str:
    """What `dot` makes of the graph, which must be without complaint."""
    source = graph.to_dot(depth).encode()
    result = subprocess.run(["dot", f"-T{form}"], input=source, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout.decode()


@pytest.mark.needs("dot")
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_every_box_and_edge_of_a_view_is_drawn(depth: int) -> None:
    view = hostile_graph().collapse(depth)
    lines = [line.split()[0] for line in drawn(view, depth, "plain").splitlines() if line]
    assert lines.count("node") == len(view.nodes)
    assert lines.count("edge") == len(view.edges)
    clusters = len(view.groups) - sum(node.kind == "module" for node in view.nodes)
    assert view.to_dot(depth).count("subgraph cluster_") == clusters


@pytest.mark.needs("dot")
def test_hostile_names_survive() -> None:
    svg = ElementTree.fromstring(drawn(hostile_graph(), 2, "svg"))
    texts = [text.text or "" for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count(WRITTEN) == 6  # input, op, output, a name, two classes
    assert f"W {WRITTEN}" in texts


@pytest.mark.needs("dot")
@pytest.mark.parametrize(
    "name", [r"\N", r"back\slash", "<b>bold</b>", "&amp;", "\x00\ud800", "é中"]
)
def test_no_name_is_read_as_markup(name: str) -> None:
    graph = Graph((Node("n0", "input", name), Node("n1", "output", "y")), (Edge("n0", "n1"),))
    svg = ElementTree.fromstring(drawn(graph, 0, "svg"))
    texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert name.replace("\x00\ud800", r"\x00\ud800") in texts


def without_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))


def test_dot_text_needs_no_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_graphviz(monkeypatch, tmp_path)
    graph = hostile_graph()
    written = graph.save(str(tmp_path / "graph.dot"))
    assert written == tmp_path / "graph.dot"
    assert written.read_text(encoding="utf-8") == graph.to_dot()


def test_graphviz_draws_the_same_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_graphviz(monkeypatch, tmp_path)
    graph = hostile_graph()
    for depth in (None, 0, 2):
        source = graph.to_graphviz(depth)
        assert isinstance(source, graphviz.Source)
        assert source.source == graph.to_dot(depth)
    with pytest.raises(graphviz.ExecutableNotFound, match="dot"):
        source.pipe(format="svg")


@pytest.mark.needs("dot")
@pytest.mark.parametrize(
    ("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_pictures_of_graphviz_are_what_their_names_say(ending: str, start: bytes) -> None:
    assert hostile_graph().to_graphviz(1).pipe(format=ending).startswith(start)


@pytest.mark.parametrize("name", ["picture", "picture.jpeg"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"\.svg, \.html, \.dot, \.png, \.pdf"):
        hostile_graph().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def luminance(colour: str) -> float:
    if colour == "white":
        return 1.0
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_told_from_what_they_stand_on() -> None:
    grounds = [*styles.GROUNDS, *(style["fillcolor"] for style in styles.STYLES.values())]
    for ground in grounds:
        for text in (styles.NEUTRAL, styles.FAINT, styles.OP):
            assert contrast(text, ground) >= 4.5, (text, ground)
    for ground in styles.GROUNDS:
        lines = [styles.LINE, styles.RESIDUAL["color"], styles.OP, styles.PARAMETER]
        for line in lines:
            assert contrast(line, ground) >= 3, (line, ground)
