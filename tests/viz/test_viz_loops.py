"""Ops that repeat without a module are a loop: one group, with its first and its last step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from random_graphs import diagrams

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import grad
from minigrad.viz import Graph
from minigrad.viz.layout import build, skeleton
from minigrad.viz.record import repeats
from minigrad.viz.record.fold import BLOCK, BUDGET
from minigrad.viz.record.repeats import wrap_repeats
from minigrad.viz.record.roles import residuals

SIZE = 4


def weights(*shape: int) -> Tensor:
    return Tensor(np.full(shape, 0.1), requires_grad=True)


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
    parts = [x * float(factor) for factor in range(100)]
    total = parts[0]
    for part in parts[1:]:
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
    for _ in range(steps):
        (gradient,) = grad(((x @ w - y) ** 2).mean(), [w], create_graph=True)
        w = w - 0.1 * gradient
    return ((x @ w - y) ** 2).mean()


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


LOOPS: list[tuple[Callable[[], Tensor], list[str], int]] = [
    (chain, ["multiply, add ×2,000"], 9),
    (ladder, ["add ×200"], 5),
    (fan_out, ["multiply ×100", "add ×99"], 8),
    (lstm, ["18 ops ×50"], 29),
    (training, ["7 ops ×10"], 28),
    (decode, ["9 ops ×40 · 2…41×4 · 4×2…41"], 27),
    (shrinking, ["getitem, tanh ×50 · 59…10×2"], 8),
]


def found(graph: Graph) -> list[str]:
    return [group.module for group in wrap_repeats(graph).groups if group.name == "loop"]


def contents(graph: Graph) -> tuple[object, ...]:
    """All but the places of the boxes."""
    return [replace(node, group=None) for node in graph.nodes], graph.edges


@pytest.mark.parametrize(("program", "names", "boxes"), LOOPS)
def test_a_loop_is_one_group_that_can_be_read(
    program: Callable[[], Tensor], names: list[str], boxes: int
) -> None:
    graph = viz.graph(program())
    assert found(graph) == names
    assert len(graph.collapse().nodes) == boxes


@pytest.mark.parametrize("program", [program for program, _, _ in LOOPS])
def test_opening_a_loop_shows_every_op_again(program: Callable[[], Tensor]) -> None:
    graph = viz.graph(program())
    wrapped = wrap_repeats(graph)
    assert contents(wrapped) == contents(graph)
    assert contents(wrapped.collapse(100)) == contents(graph)
    assert graph.collapse(100) == graph  # a depth that is asked for means modules


def test_the_first_and_the_last_step_are_at_hand() -> None:
    wrapped = wrap_repeats(viz.graph(lstm()))
    assert [(group.name, group.module) for group in wrapped.groups][:3] == [
        ("loop", "18 ops ×50"),
        ("steps 2 … 49", "18 ops ×48"),
        ("step 1", "18 ops"),
    ]
    inside = Counter(group.parent for group in wrapped.groups)
    outer, middle, *_ = wrapped.groups
    assert inside == {None: 1, outer.id: 3, middle.id: 48}
    labels = [node.label for node in wrapped.collapse(1).nodes]
    assert labels[-6:-3] == ["step 1", "steps 2 … 49", "step 50"]


def test_the_tensors_of_all_steps_are_one_line() -> None:
    view = viz.graph(lstm()).collapse()
    (stack,) = (node.id for node in view.nodes if node.label == "stack")
    names = [edge.name.partition("[")[2] for edge in view.edges if edge.target == stack]
    assert names == ["0]", "1…48]", "49]"]


def test_the_tensors_of_all_steps_leave_at_one_port() -> None:
    wrapped = wrap_repeats(viz.graph(lstm()))
    outer, middle, *_ = wrapped.groups
    layout = skeleton(wrapped)
    assert layout.scopes[outer.id].rows[-1] == 3  # the outputs of the first, the others, the last
    assert layout.scopes[middle.id].rows[-1] == 2  # h and c
    found = [line.edges for line in layout.scopes[""].lines if len(line.edges) > 1]
    assert len(max(found, key=len)) == 50  # x to all steps
    (stack,) = (node.id for node in wrapped.nodes if node.label == "stack")
    into = [
        scope for scope in layout.scopes[""].lines if wrapped.edges[scope.edges[0]].target == stack
    ]
    assert sorted(len(line.edges) for line in into) == [1, 1, 48]


def test_a_bias_that_all_steps_share_is_no_residual() -> None:
    x, w, b = (weights(3) for _ in range(3))
    for _ in range(10):
        x = x + minigrad.tanh(x * w + b)
    graph = viz.graph(x, b=b)
    sources = {graph.edges[index].source for index in residuals(graph)}
    labels = [node.label for node in graph.nodes if node.id in sources]
    assert sorted(labels) == ["add"] * 9 + ["input 0"]


def test_what_one_step_is_given_stands_in_that_step() -> None:
    x = weights(3)
    for step in range(30):
        x = minigrad.tanh(x) * Tensor(np.full(3, float(step)), requires_grad=True)
    graph = viz.graph(x)
    homes = {node.label: node.group for node in wrap_repeats(graph).nodes}
    assert {homes["input 0"], homes["input 1"]} == {None}  # what the loop begins with
    assert None not in [homes[f"input {step}"] for step in range(2, 31)]
    assert [node.label for node in graph.collapse().nodes][:3] == ["input 0", "tanh", "input 1"]


def test_a_loop_within_a_module_and_modules_within_a_loop() -> None:
    class Unrolled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(12)])

        def forward(self, x: Tensor) -> Tensor:
            for layer in self.layers:
                x = x + minigrad.tanh(layer(x))
            return x

    graph = viz.graph(Unrolled(), minigrad.ones(2, 4))
    assert found(graph) == ["layers.0, tanh, add ×12"]
    assert len(graph.collapse().nodes) <= BUDGET
    sizes = [node.notes for node in graph.collapse().nodes if node.label == "steps 2 … 11"]
    assert sizes == [("10 × 20 parameters",)]


def test_loops_in_loops() -> None:
    graph = viz.graph(nested())
    wrapped = wrap_repeats(graph)
    kinds = Counter(group.module for group in wrapped.groups if group.name == "loop")
    assert kinds == {"52 ops ×30": 1, "multiply, tanh ×25": 30}
    assert len(graph.collapse().nodes) <= BUDGET
    assert contents(wrapped.collapse(100)) == contents(graph)


def test_what_changes_irregularly_is_no_loop() -> None:
    x = weights(100)
    for size in (90, 70, 69, 40, 38, 37, 20, 19, 11, 8, 5):
        x = minigrad.tanh(x[:size])
    assert found(viz.graph(x)) == []


def test_ops_in_a_row_that_read_anything_are_no_loop() -> None:
    random = np.random.default_rng(0)
    tensors = [weights(3), weights(3)]
    for _ in range(200):
        one, two = random.integers(len(tensors), size=2)
        tensors.append(tensors[one] + tensors[two])
    graph = viz.graph(tensors[-2:])
    assert found(graph) == []


def test_a_small_graph_is_drawn_as_it_is() -> None:
    graph = viz.graph(chain(4))
    assert graph.collapse() == graph


def test_traces_and_graphs_after_backward_have_loops_too() -> None:
    with viz.trace() as traced:
        lstm(20).backward()
    assert found(traced.graph()) == ["18 ops ×20"]
    end = lstm(20)
    end.backward()  # which frees the zeros that the first step began with: it differs now
    assert found(viz.graph(end)) == ["18 ops ×19"]


def test_a_large_drawing_says_at_once_how_to_make_it_smaller(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "MANY", 100)
    graph = viz.graph(ladder())
    graph.save(tmp_path / "folded.svg")  # six boxes: nothing to say
    with pytest.warns(UserWarning, match=r"202 boxes takes seconds; a smaller depth=.* hide="):
        graph.save(tmp_path / "all.svg", depth=1)


def test_the_page_has_the_loop() -> None:
    with viz.trace() as traced:
        lstm(20).backward()
    page = viz.explore(traced).path.read_text()
    assert "18 ops ×20" in page
    assert "steps 2 … 19" in page


@given(
    st.lists(st.tuples(st.sampled_from("amth"), st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(8, 30),
    st.integers(0, 3),
)
def test_any_program_that_repeats(body: list[tuple[str, int]], steps: int, before: int) -> None:
    """Ops on four registers, some of them before the loop."""
    registers = [weights(3) for _ in range(4)]

    def run(op: str, at: int) -> None:
        value, other = registers[at], registers[at - 1]
        registers[at] = {
            "a": lambda: value + other,
            "m": lambda: value * other,
            "t": lambda: minigrad.tanh(other),
            "h": lambda: value * 0.5,
        }[op]()

    with np.errstate(all="ignore"):
        for op, at in (*body[:before], *body * steps):
            run(op, at)
    # That each result is read makes a graph of all the ops.
    graph = viz.graph([one for one in registers if not one.is_leaf])
    wrapped = wrap_repeats(graph)
    assert contents(wrapped.collapse(100)) == contents(graph)
    assert viz.Graph.from_json(wrapped.to_json()) == wrapped
    closed = wrapped.collapse(0)
    ops = sum(node.kind == "op" for node in graph.nodes)
    if ops >= 2 * BLOCK:
        assert len(closed.nodes) < len(graph.nodes) / 2


@given(diagrams())
def test_any_graph_keeps_what_it_has(graph: Graph) -> None:
    wrapped = wrap_repeats(graph, (), 3)
    assert contents(wrapped) == contents(graph)
    held = {None}
    for group in wrapped.groups:  # a parent comes before its children
        assert group.parent in held
        held.add(group.id)
    assert {node.group for node in wrapped.nodes} <= held
    wrapped.collapse(0).to_svg()  # closed loops make no cycle
    wrapped.to_svg(depth=100)


@pytest.mark.parametrize("steps", [1_000, 2_000, 4_000])
def test_the_work_grows_with_the_graph(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a chain is, only a few stretches of it are looked at."""
    calls = Counter[str]()
    regular = repeats._Sequence._regular

    def counted(*arguments: object) -> list[list[str]]:
        calls["regular"] += 1
        return regular(*arguments)

    monkeypatch.setattr(repeats._Sequence, "_regular", counted)
    wrap_repeats(viz.graph(chain(steps)))
    assert calls["regular"] <= 600
