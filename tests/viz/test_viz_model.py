"""The data of a drawing: JSON there and back, folding, residuals."""

import json

import pytest

from minigrad.viz import Edge, Graph, Group, Node
from minigrad.viz.record.fold import BUDGET
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.roles import residuals


def chain(*labels: str, groups: tuple[str | None, ...] | None = None) -> list[Node]:
    homes = groups or (None,) * len(labels)
    kinds = ["input", *["op"] * (len(labels) - 2), "output"]
    return [
        Node(f"n{i}", kind, label, (2, 3), "float32", home)  # type: ignore[arg-type]
        for i, (kind, label, home) in enumerate(zip(kinds, labels, homes, strict=True))
    ]


def residual_block() -> Graph:
    """x -> [f: exp -> tanh] -> add with x -> output."""
    nodes = chain("x", "exp", "tanh", "add", "output", groups=(None, "g0", "g0", None, None))
    edges = [
        Edge("n0", "n1", 0, "x", (2, 3)),
        Edge("n1", "n2", 0, "x", (2, 3)),
        Edge("n0", "n3", 0, "a", (2, 3)),
        Edge("n2", "n3", 1, "b", (2, 3)),
        Edge("n3", "n4", 0, "", (2, 3)),
    ]
    return Graph(tuple(nodes), tuple(edges), (Group("g0", "f", "f", "Sequential", None, 7),))


def test_json_there_and_back() -> None:
    graph = residual_block()
    again = Graph.from_json(graph.to_json())
    assert again == graph
    assert type(again) is Graph
    assert again.to_json() == graph.to_json()
    closed = graph.collapse(depth=0)  # slots that are None, notes
    assert Graph.from_json(closed.to_json()) == closed


@pytest.mark.parametrize(
    ("text", "why"),
    [("nonsense", "Expecting value"), ("[]", "'format' is not 2"), ("{}", "'format' is not 2"),
     ('{"format": 99, "nodes": [], "edges": []}', "'format' is not 2"),
     ('{"format": 2}', "'nodes' and 'edges'"),
     ('{"format": 2, "nodes": [{"id": 3}], "edges": []}', "'kind' and 'label'"),
     ('{"format": 2, "nodes": [5], "edges": []}', "'int' object has no attribute 'items'")],
)  # fmt: skip
def test_json_that_is_no_graph_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Graph.from_json(text)


def test_json_with_an_unknown_kind_is_refused() -> None:
    data = json.loads(residual_block().to_json())
    data["nodes"][0]["kind"] = "wormhole"
    with pytest.raises(ValueError, match="wormhole"):
        Graph.from_json(json.dumps(data))


def test_a_doubling_is_no_residual() -> None:
    nodes = chain("x", "add", "output")
    graph = Diagram(tuple(nodes), (Edge("n0", "n1", 0), Edge("n0", "n1", 1), Edge("n1", "n2", 0)))
    assert residuals(graph) == set()


def test_a_negative_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        residual_block().collapse(depth=-1)


def net(blocks: int, alike: bool = True) -> Graph:
    """A net of blocks of two halves of four ops each."""
    nodes, edges, groups = [Node("n0", "input", "x")], [], [Group("g0", "", "", "Net")]
    for block in range(blocks):
        outer = f"g{len(groups)}"
        kind = "Block" if alike else f"Block{block}"
        groups.append(Group(outer, f"block{block}", f"block{block}", kind, "g0"))
        for half in range(2):
            inner = f"g{len(groups)}"
            groups.append(Group(inner, f"half{half}", f"block{block}.half{half}", "Half", outer))
            for _ in range(4):
                edges.append(Edge(nodes[-1].id, f"n{len(nodes)}"))
                nodes.append(Node(f"n{len(nodes)}", "op", "exp", group=inner))
    return Graph(tuple(nodes), tuple(edges), tuple(groups))


def test_what_fits_is_opened() -> None:
    assert net(4).collapse() == net(4)  # 33 boxes


def test_repetitions_become_one_box_and_the_first_is_their_example() -> None:
    labels = [node.label for node in net(30).collapse().nodes]
    assert labels == ["x", *["exp"] * 8, "block1 … block29"]


def test_as_many_levels_are_opened_as_fit() -> None:
    """Blocks of different classes are not repetitions; one half is opened, as an example."""
    labels = [node.label for node in net(5, alike=False).collapse().nodes]
    assert labels == ["x", *["exp"] * 4, "half1", *["half0", "half1"] * 4]
    labels = [node.label for node in net(19, alike=False).collapse().nodes]
    assert labels == ["x", *["half0", "half1"] * 19]
    labels = [node.label for node in net(20, alike=False).collapse().nodes]
    assert len(labels) == BUDGET
    assert labels[-3:] == ["half0", "half1", "block19"]


def test_the_first_level_is_opened_whatever_its_size() -> None:
    assert len(net(100, alike=False).collapse().nodes) == 101 > BUDGET
