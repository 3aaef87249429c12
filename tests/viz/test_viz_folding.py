"""What is closed, folded, opened and hidden: modules, loops, choices; and JSON there and back."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from random_graphs import Plan, Random, diagrams, plans
from reading import labels, watched

import minigrad
from minigrad import Tensor, nn, tensor, viz
from minigrad.autograd import grad
from minigrad.viz import Edge, Graph, Group, Node
from minigrad.viz.layout import skeleton
from minigrad.viz.record import repeats
from minigrad.viz.record.fold import BLOCK, BUDGET
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.repeats import wrap_repeats
from minigrad.viz.record.roles import residuals


def made(*names: str, groups: tuple[str | None, ...] | None = None) -> list[Node]:
    homes = groups or (None,) * len(names)
    kinds = ["input", *["op"] * (len(names) - 2), "output"]
    return [
        Node(f"n{i}", kind, label, (2, 3), "float32", home)  # type: ignore[arg-type]
        for i, (kind, label, home) in enumerate(zip(kinds, names, homes, strict=True))
    ]


def residual_block() -> Graph:
    """x -> [f: exp -> tanh] -> add with x -> output."""
    nodes = made("x", "exp", "tanh", "add", "output", groups=(None, "g0", "g0", None, None))
    ways = (0, 1, 0, "x"), (1, 2, 0, "x"), (0, 3, 0, "a"), (2, 3, 1, "b"), (3, 4, 0, "")
    edges = [Edge(f"n{a}", f"n{b}", slot, name, (2, 3)) for a, b, slot, name in ways]
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
    [("nonsense", "Expecting value"), ("[]", "'format' is not 6"), ("{}", "'format' is not 6"),
     ('{"format": 99, "nodes": [], "edges": []}', "'format' is not 6"),
     ('{"format": 6}', "'nodes' and 'edges'"),
     ('{"format": 6, "nodes": [{"id": 3}], "edges": []}', "'kind' and 'label'"),
     (residual_block().to_json().replace('"input"', '"wormhole"'), "wormhole"),
     ('{"format": 6, "nodes": [5], "edges": []}', "'int' object has no attribute 'items'")],
)  # fmt: skip
def test_json_that_is_no_graph_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Graph.from_json(text)


def test_a_doubling_is_no_residual() -> None:
    ends = Edge("n0", "n1", 0), Edge("n0", "n1", 1), Edge("n1", "n2", 0)
    assert residuals(Diagram(tuple(made("x", "add", "output")), ends)) == set()
    for refused in (residual_block().collapse, residual_block().to_text):
        with pytest.raises(ValueError, match="depth.*-1"):
            refused(depth=-1)


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


def test_as_much_is_opened_as_fits() -> None:
    """Blocks of different classes are not repetitions; one half is opened, as an example."""

    def shown(blocks: int, alike: bool = True) -> list[str]:
        return labels(net(blocks, alike).collapse())

    assert net(4).collapse() == net(4)  # 33 boxes
    # Repetitions become one box, and the first is their example.
    assert shown(30) == ["x", *["exp"] * 8, "block1 … block29"]
    assert shown(5, alike=False) == ["x", *["exp"] * 4, "half1", *["half0", "half1"] * 4]
    assert shown(19, alike=False) == ["x", *["half0", "half1"] * 19]
    assert len(shown(20, alike=False)) == BUDGET
    assert shown(20, alike=False)[-3:] == ["half0", "half1", "block19"]
    assert len(shown(100, alike=False)) == 101 > BUDGET  # the first level, whatever its size


def layers(number: int) -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), number)


MOST: dict[str, tuple[nn.Module, int, int]] = {
    "attention": (nn.MultiHeadAttention(16, 4), 3, 20),
    "post-norm": (nn.TransformerEncoderLayer(16, 4, 32), 1, 20),
    "pre-norm": (nn.TransformerEncoderLayer(16, 4, 32, norm_first=True), 1, 20),
    "decoder layer": (nn.TransformerDecoderLayer(16, 4, 32), 2, 20),
    **{f"{number} layers": (layers(number), 1, BUDGET) for number in (1, 2, 6, 12)},
    "both": (nn.Transformer(16, 4, 6, 6, 32), 2, BUDGET),
}


@pytest.mark.parametrize("name", MOST)
@pytest.mark.parametrize("training", [True, False])
def test_a_picture_can_be_taken_in(name: str, training: bool) -> None:
    model, inputs, most = MOST[name]
    graph = viz.graph(model.train(training), *(minigrad.ones(2, 5, 16) for _ in range(inputs)))
    view = graph.collapse()
    assert 8 < len(view.nodes) <= most <= 40
    if name.endswith("layers"):  # of which one at least is open
        assert {"attention", "add"} <= {*labels(view)}
        assert len(residuals(view)) >= 2


def test_a_cell_without_a_name_is_called_by_its_class() -> None:
    cell, x, h = nn.LSTMCell(4, 8), minigrad.randn(2, 4), (minigrad.zeros(2, 8),) * 2
    with viz.trace() as traced:
        for _ in range(50):
            h = cell(x, h)
    assert "LSTMCell, calls 2 … 50" in labels(traced.graph(x=x).collapse())


@given(plans, st.sampled_from([None, 0, 1, 2, 3]))
def test_closing_modules_makes_no_cycle_and_loses_no_tensor(plan: Plan, depth: int | None) -> None:
    x, extra = minigrad.zeros(3), minigrad.zeros(3)
    view = viz.graph(Random(plan), x, extra).collapse(depth)
    position = {node.id: index for index, node in enumerate(view.nodes)}
    assert len(position) == len(view.nodes)
    for edge in view.edges:
        assert position[edge.source] < position[edge.target]  # so there is no cycle, no loop
    assert {node.group for node in view.nodes} <= {None, *(group.id for group in view.groups)}
    assert not {node.group for node in view.nodes} & {*position}
    assert {*labels(view, "input")} == {"x", "extra"}
    ends = {end for edge in view.edges for end in (edge.source, edge.target)}
    assert ends == {*position}  # nothing hangs in the air


def test_an_opened_op_closes_by_its_name() -> None:
    x = minigrad.randn(3, 4)
    run = viz.trace(open=["layer_norm"])
    graph = watched(lambda: minigrad.ops.layer_norm(x.exp()).exp(), run)
    assert labels(graph.collapse(0), "module") == ["layer_norm"]
    assert not labels(graph.collapse(0, open=["layer_norm"]), "module")


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(4)))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


def test_repeats_within_a_repeated_block_are_folded_too() -> None:
    graph = viz.graph(nn.Sequential(*(Block() for _ in range(6))), minigrad.ones(2, 8))
    view = graph.collapse(open=["3"])
    assert {"1 … 2", "4 … 5"} < {*labels(view)}
    inside = [node.label for node in view.nodes if node.group and "…" in node.label]
    assert inside.count("1 … 3") == 2  # in the example, and in what was opened


@given(plans)
def test_any_module_can_be_opened(plan: Plan) -> None:
    graph = viz.graph(Random(plan), *(minigrad.ones(2, 3, requires_grad=True) for _ in range(2)))
    for path in {group.path for group in graph.groups if group.path}:
        view = graph.collapse(1, open=[path])
        assert path in {group.path for group in view.groups if group.id not in labels(view)}


def test_a_choice_that_nothing_fits_is_refused_with_what_is_like_it(tmp_path: Path) -> None:
    graph = viz.graph(layers(6), minigrad.ones(2, 5, 16))
    with pytest.raises(ValueError, match=r"open: .*'layer.2'; similar: .*layers.2"):
        graph.collapse(1, open=["layer.2"])
    with pytest.raises(ValueError, match="open: .*'GELU'"):
        graph.collapse(open=[nn.GELU])
    for ending in ("svg", "dot"):  # files show what was chosen
        path = tmp_path / f"chosen.{ending}"
        graph.save(path, depth=1, open=["layers.3"])
        assert "linear1" in path.read_text(encoding="utf-8")


SIZE = 4


def weights(*shape: int) -> Tensor:
    return tensor(np.full(shape, 0.1), requires_grad=True)


def chain(steps: int = 2_000) -> Tensor:
    y, w, b = (weights(3) for _ in range(3))
    for _ in range(steps):
        y = y * w + b
    return y


def ladder() -> Tensor:
    y = weights(3)
    for _ in range(200):
        y = y + y
    return y


def fan_out() -> Tensor:
    x = weights(3)
    total, *parts = [x * float(factor) for factor in range(100)]
    for part in parts:
        total = total + part
    return total


def lstm(steps: int = 50) -> Tensor:
    x, into, over, bias = weights(2, steps, 3), weights(3, 16), weights(SIZE, 16), weights(16)
    h = c = minigrad.zeros(2, SIZE)
    outputs = []
    for step in range(steps):
        z = x[:, step] @ into + h @ over + bias
        i, f, o = (minigrad.sigmoid(z[:, at : at + SIZE]) for at in (0, SIZE, 2 * SIZE))
        c = f * c + i * minigrad.tanh(z[:, 3 * SIZE :])
        h = o * minigrad.tanh(c)
        outputs.append(h)
    return minigrad.stack(outputs, axis=1).sum()


def training(steps: int = 10) -> Tensor:
    x, y, w = minigrad.ones(8, 4), minigrad.zeros(8, 3), weights(4, 3)
    loss = lambda: ((x @ w - y) ** 2).mean()
    for _ in range(steps):
        w = w - 0.1 * grad(loss(), [w], create_graph=True)[0]
    return loss()


def decode(steps: int = 40) -> Tensor:
    queries, keys, values, x = (weights(*shape) for shape in [(4, 4)] * 3 + [(1, 4)])
    k, v = x @ keys, x @ values
    for _ in range(steps):
        q = x @ queries
        k, v = minigrad.concatenate([k, x @ keys]), minigrad.concatenate([v, x @ values])
        x = minigrad.softmax(q @ k.T, axis=-1) @ v
    return x.sum()


def shrinking() -> Tensor:
    x = weights(60, 2)
    for _ in range(50):
        x = minigrad.tanh(x[1:])
    return x.sum()


def nested() -> Tensor:
    """Each of 30 steps has a loop of 25."""
    x, w = weights(3), weights(3)
    for _ in range(30):
        for _ in range(25):
            x = minigrad.tanh(x * w)
        x = minigrad.exp(x) / 2.0
    return x


def found(graph: Graph) -> list[str]:
    return [group.module for group in wrap_repeats(graph).groups if group.name == "loop"]


def contents(graph: Graph) -> tuple[object, ...]:
    """All but the places of the boxes."""
    return [replace(node, group=None) for node in graph.nodes], graph.edges


def test_the_tensors_of_all_steps_leave_at_one_port() -> None:
    wrapped = wrap_repeats(viz.graph(lstm()))
    outer, middle, *_ = wrapped.groups
    scopes = skeleton(wrapped).scopes
    assert scopes[outer.id].rows[-1] == 3  # the outputs of the first, the others, the last
    assert scopes[middle.id].rows[-1] == 2  # h and c
    lines = [line.edges for line in scopes[""].lines]
    assert max(map(len, lines)) == 50  # x to all steps
    (stack,) = (node.id for node in wrapped.nodes if node.label == "stack")
    into = [len(edges) for edges in lines if wrapped.edges[edges[0]].target == stack]
    assert sorted(into) == [1, 1, 48]


def test_a_bias_that_all_steps_share_is_no_residual() -> None:
    x, w, b = (weights(3) for _ in range(3))
    for _ in range(10):
        x = x + minigrad.tanh(x * w + b)
    graph = viz.graph(x, b=b)
    sources = {graph.edges[index].source for index in residuals(graph)}
    told = sorted(node.label for node in graph.nodes if node.id in sources)
    assert told == ["add"] * 9 + ["input 0"]


def test_what_changes_irregularly_or_reads_anything_is_no_loop() -> None:
    x, random, tensors = weights(100), np.random.default_rng(0), [weights(3), weights(3)]
    for size in (90, 70, 69, 40, 38, 37, 20, 19, 11, 8, 5):
        x = minigrad.tanh(x[:size])
    for _ in range(200):
        one, two = random.integers(len(tensors), size=2)
        tensors.append(tensors[one] + tensors[two])
    assert found(viz.graph(x)) == found(viz.graph(tensors[-2:])) == []
    small = viz.graph(chain(4))
    assert small.collapse() == small


def test_traces_and_graphs_after_backward_have_loops_too() -> None:
    assert found(watched(lambda: lstm(20).backward())) == ["18 ops ×20"]
    end = lstm(20)
    end.backward()  # which frees the zeros that the first step began with: it differs now
    assert found(viz.graph(end)) == ["18 ops ×19"]


@given(
    st.lists(st.tuples(st.sampled_from("amth"), st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(8, 30),
    st.integers(0, 3),
)
def test_any_program_that_repeats(body: list[tuple[str, int]], steps: int, before: int) -> None:
    """Ops on four registers, some of them before the loop."""
    registers = [weights(3) for _ in range(4)]
    with np.errstate(all="ignore"):
        for op, at in (*body[:before], *body * steps):
            value, other = registers[at], registers[at - 1]
            if op in "am":
                registers[at] = value + other if op == "a" else value * other
            else:
                registers[at] = minigrad.tanh(other) if op == "t" else value * 0.5
    # That each result is read makes a graph of all the ops.
    graph = viz.graph([one for one in registers if not one.is_leaf])
    wrapped = wrap_repeats(graph)
    assert contents(wrapped.collapse(100)) == contents(graph)
    assert viz.Graph.from_json(wrapped.to_json()) == wrapped
    if len(labels(graph, "op")) >= 2 * BLOCK:
        assert len(wrapped.collapse(0).nodes) < len(graph.nodes) / 2


@given(diagrams())
def test_any_graph_keeps_what_it_has(graph: Graph) -> None:
    wrapped = wrap_repeats(graph, (), 3)
    assert contents(wrapped) == contents(graph)
    held = [None, *(group.id for group in wrapped.groups)]
    for at, group in enumerate(wrapped.groups, 1):  # a parent comes before its children
        assert group.parent in held[:at]
    assert {node.group for node in wrapped.nodes} <= {*held}
    wrapped.collapse(0).to_svg()  # closed loops make no cycle
    wrapped.to_svg(depth=100)


def test_the_work_does_not_grow_with_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a chain is, only a few stretches of it are looked at."""
    regular = Mock(wraps=repeats._Sequence._regular)
    monkeypatch.setattr(repeats._Sequence, "_regular", lambda *given: regular(*given))
    wrap_repeats(viz.graph(chain(2_000)))
    assert regular.call_count <= 600
