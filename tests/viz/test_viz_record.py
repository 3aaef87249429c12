"""From the engine's record to the graph: nothing lost, nothing twice; differences; own ops."""

import copy
import gc
import operator
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_programs import scaled_op
from reading import links, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import graph_memory, primitive
from minigrad.autograd.primitives import registry
from minigrad.viz import Graph


def leaf(*shape: int) -> Tensor:
    return minigrad.ones(shape, requires_grad=True)


def test_a_tensor_concatenated_twice_has_an_edge_for_each_place() -> None:
    x, y = leaf(2), leaf(3)
    graph = viz.graph(minigrad.concatenate([x, x, y]), x=x, y=y)
    assert links(graph)[:3] == [(name, "concatenate", slot) for slot, name in enumerate("xxy")]


def test_a_graph_can_be_drawn_after_backward() -> None:
    x = leaf(3)
    loss = (x.exp() * x).sum()
    before = viz.graph(loss)
    assert [len(node.saved) for node in before.nodes if node.kind == "op"] == [1, 2, 0]
    loss.backward()
    freed = tuple(replace(node, saved=(), freed=bool(node.saved)) for node in before.nodes)
    assert viz.graph(loss) == replace(before, nodes=freed)
    assert before.to_dot() == viz.graph(loss).to_dot()
    np.testing.assert_allclose(x.grad, 2 * np.exp(1), rtol=1e-6)  # drawing left the graph usable


@pytest.mark.slow
def test_a_long_chain() -> None:
    """In every form, and without recursion; a depth that is given leaves loops open."""
    count = 3_000  # three times what recursion may reach
    y = leaf(2)
    for _ in range(count):
        y = y + 1
    graph = viz.graph(y)
    svg = graph.to_svg(depth=1)
    assert (len(graph.nodes), len(graph.edges)) == (count + 2, count + 1)
    assert graph.to_dot(depth=1).count(" -> ") == svg.count("data-edge=") == count + 1
    assert len(graph.to_text(depth=1).splitlines()) == count + 2
    assert svg.count('class="box op"') == count + 1  # and in the legend
    assert viz.explain(y).startswith("backward pass from add: 3,000 steps, 1 leaf\n")


def test_every_residual_of_a_long_chain_is_found() -> None:
    y = leaf(2)
    for _ in range(1_500):
        y = y + y.tanh()
    dot = viz.graph(y).to_dot(depth=1)
    assert dot.count("penwidth=2.2") == 1_500


def test_a_graph_outlives_its_module() -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    output = module(minigrad.ones(2, 4))
    del module
    gc.collect()
    graph = viz.graph(output)
    assert [(group.module, group.size) for group in graph.groups] == [
        ("Sequential", None), ("Linear", None), ("ReLU", None),
    ]  # fmt: skip
    assert "Linear" in graph.to_dot()


SCRIPT = """
import minigrad
from minigrad import nn, viz
minigrad.random.seed(0)
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1), 2)
x = minigrad.randn(2, 5, 16)
graph = viz.graph(model, x)
print(graph.to_json())
for depth in (None, 0, 1, 2, 3):
    print(graph.to_dot(depth))
    print(graph.to_svg(depth))
with viz.trace() as traced:
    model(x).sum().backward()
print(traced.graph().to_json())
print(viz.explore(model, x).path.read_text(encoding="utf-8"))
"""


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT]
    once, again = (
        subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
        for _ in range(2)
    )
    assert once == again
    assert len(once) > 100_000
    assert not re.search(rb"0x[0-9a-f]{8}", once)  # no address; base64 may hold a 0x


def test_a_traced_graph_survives_json() -> None:
    layer, run = nn.TransformerEncoderLayer(8, 2, 16), viz.trace(open=["attention"])
    graph = watched(lambda: layer(minigrad.randn(2, 3, 8)).sum().backward(), run)
    assert graph.steps
    assert graph.heatmaps
    assert Graph.from_json(graph.to_json()) == graph


def test_graphviz_is_imported_only_to_draw(tmp_path: Path) -> None:
    script = "import sys, minigrad.viz; print('graphviz' in sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


def test_a_single_number_that_was_saved_is_told_too() -> None:
    """NumPy returns scalars, not arrays, of ops on arrays without axes."""
    saved = [one for node in viz.graph(minigrad.exp(leaf())).nodes for one in node.saved]
    assert [(one.name, one.shape, one.nbytes) for one in saved] == [("out", (), 4)]


PAIRS: dict[str, tuple[Any, Any]] = {
    "subtract": (lambda a, c: 1.0 - a, lambda a, c: a - 1.0),
    "divide": (lambda a, c: 2.0 / a, lambda a, c: a / 2.0),
    "power": (lambda a, c: 2.0**a, lambda a, c: a**2.0),
    "a number": (lambda a, c: a * 2.0, lambda a, c: a * 3.0),
    "an array": (lambda a, c: a * c, lambda a, c: a * (c + 1.0)),
    "a side": (lambda a, c: minigrad.where(c, a, 0.0), lambda a, c: minigrad.where(c, 0.0, a)),
    "an axis": (lambda a, c: a.sum(axis=0), lambda a, c: a.sum(axis=1)),
    "a place": (
        lambda a, c: minigrad.concatenate([a, c]), lambda a, c: minigrad.concatenate([c, a])
    ),
    "an index": (lambda a, c: a[0], lambda a, c: a[1]),
    "a bound": (lambda a, c: minigrad.clip(a, 0.0, 5.0), lambda a, c: minigrad.clip(a, 0.0, 6.0)),
    "a detached tensor": (lambda a, c: a @ c, lambda a, c: c @ a),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_programs_that_differ_in_what_has_no_gradient_are_told_apart(name: str) -> None:
    a, c = minigrad.ones(2, 2, requires_grad=True), minigrad.ones(2, 2)
    one, other = (viz.graph(program(a, c), a=a) for program in PAIRS[name])
    if name != "an array":  # a picture has no values
        assert one.to_text() != other.to_text()
        assert one.to_svg() != other.to_svg()
        assert one.to_dot() != other.to_dot()
    assert viz.Graph.from_json(one.to_json()) == one


def test_of_what_nothing_saved_it_is_said_that_it_needs_no_gradient() -> None:
    """That is all that is known of it; a trace knows it."""
    a, c = minigrad.ones(2, requires_grad=True), minigrad.ones(2)
    for program in (lambda k: a + k, lambda k: k - a, lambda k: minigrad.concatenate([k, a])):
        one, other = (viz.graph(program(k)) for k in (c, c * 3.0))
        [note] = [node.notes[-1] for node in one.nodes if node.kind == "op"]
        assert note.endswith(": needs no gradient")
        assert note in one.to_text()
        assert one.to_text() == other.to_text()
        assert "needs no gradient" not in watched(lambda run=program: run(c)).to_text()


def test_a_finished_encoder_says_what_its_residual_adds() -> None:
    """The input needs no gradient, and an addition keeps nothing; a run of the module knows it."""
    layer, x = nn.TransformerEncoderLayer(16, 4, 32), minigrad.ones(2, 5, 16)
    first, second = (op for op in viz.graph(layer(x)).nodes if op.label == "add")
    assert first.notes == ("a: needs no gradient",)
    assert not second.notes
    run = viz.graph(layer, x)
    first, _ = (op for op in run.nodes if op.label == "add")
    assert not first.notes
    assert ("input", "add", 0) in links(run) or ("src", "add", 0) in links(run)


def variable() -> Tensor:
    return minigrad.tensor([0.5, -1.0], requires_grad=True)


def formulas_told(text: str) -> list[str]:
    lines = [line.strip() for line in str(text).splitlines()]
    return [line.removeprefix("x: ") for line in lines if line.startswith("x: ")]


def test_what_leaves_the_process_takes_no_ops_along() -> None:
    """Read again, an op of the library is known; one of a program is only called by its name."""
    x = variable()
    graph = watched(lambda: minigrad.exp(scaled_op(3)(scaled_op(2)(x))).backward(np.ones(2)), x=x)

    def ops(of: Graph) -> list[Any]:
        return [node.primitive for node in of.nodes if node.kind == "op"]

    copied = copy.deepcopy(graph)
    assert copied == graph
    assert None not in ops(graph)
    assert all(map(operator.is_, ops(graph), ops(copied)))
    assert "primitive" not in graph.to_json()
    for again in (viz.Graph.from_json(graph.to_json()), pickle.loads(pickle.dumps(graph))):
        assert again == graph
        assert ops(again) == [None, None, minigrad.exp.op]
        told = [viz.formulas("exp")["x"].text, "its own rule", "its own rule"]
        assert formulas_told(viz.explain(again)) == told


def test_ops_of_one_name_are_counted_apart() -> None:
    rows = graph_memory(scaled_op(3)(scaled_op(2)(variable()))).ops
    assert [(name, nodes) for name, nodes, _ in rows] == [("my_scaled", 1)] * 2


def test_a_softmax_of_ones_own_is_not_taken_for_attention() -> None:
    @primitive
    def softmax(x: Any, axis: int = -1) -> Any:
        return x / x.sum(axis, keepdims=True)

    softmax.defvjp(x=lambda g: g)
    x = minigrad.ones(3, 3, requires_grad=True)
    assert not watched(lambda: softmax(x) @ np.ones((3, 2))).heatmaps
    assert softmax.op.name != registry["softmax"].name
