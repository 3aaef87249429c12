"""An op is known by its object: what has its name is another op, wherever it is shown."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from reading import by_id, data_of, watched

import minigrad
from minigrad import Tensor, viz
from minigrad.autograd import graph_memory, primitive
from minigrad.autograd.primitive import registry
from minigrad.viz.explanation.explanations import explain_saved
from minigrad.viz.explanation.missing_gradients import missing_gradients


def scaled(factor: float) -> Any:
    """Ops that have everything in common but what they do."""
    if factor == 2:

        @primitive
        def my_scaled(x: Any) -> Any:
            return 2 * x

        my_scaled.defvjp(x=lambda g: g * 2)
        return my_scaled

    @primitive
    def my_scaled(x: Any) -> Any:
        return x**3

    my_scaled.defvjp(x=lambda g, x: 3 * g * x**2)
    return my_scaled


def own_tanh() -> Any:
    @primitive
    def tanh(x: Any) -> Any:
        return x / (1 + abs(x))

    tanh.defvjp(x=lambda g, x: g / (1 + abs(x)) ** 2)
    return tanh


def variable() -> Tensor:
    return minigrad.tensor([0.5, -1.0], requires_grad=True)


def formulas_told(text: str) -> list[str]:
    lines = [line.strip() for line in str(text).splitlines()]
    return [line.removeprefix("x: ") for line in lines if line.startswith("x: ")]


PAIRS = {
    "an op of the library": lambda: (own_tanh(), minigrad.tanh),
    "an op of the library, before": lambda: (minigrad.tanh, own_tanh()),
    "an op of one's own": lambda: (scaled(2), scaled(3)),
    "an op of one's own, before": lambda: (scaled(3), scaled(2)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_each_op_is_shown_with_its_own_rule(pair: Any) -> None:
    first, second = pair()
    own = [viz.formulas(op)["x"] for op in (first, second)]
    assert own[0].text != own[1].text
    x = variable()
    with viz.trace() as traced:
        y = second(first(x))
        plan = viz.explain(y)
        y.backward(np.ones(2))
    graph = traced.graph(x=x)
    for told in (plan, viz.explain(graph)):
        assert formulas_told(told) == [own[1].text, own[0].text]
    shown = data_of(graph.to_html())
    parts = [part for step in shown["steps"] for part in step["parts"]]
    assert [part["formula"]["mathml"] for part in parts] == [
        own[1].mathml, own[0].mathml,
    ]  # fmt: skip
    ops = [node for node in graph.nodes if node.kind == "op"]
    for node, op in zip(ops, (first, second), strict=True):
        needs = op.op.rules["x"].needs
        reasons = dict(explain_saved(node, None))
        assert all(name in reasons for name in needs), reasons


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_what_has_a_derivative_is_told_by_the_op(pair: Any) -> None:
    """Not by one of its name that has none, or has one."""
    first, _ = pair()

    def forward(x: Any) -> Any:
        return x * 1.0

    forward.__name__ = first.__name__
    forgotten = primitive(forward)
    x = variable()
    graph = watched(lambda: (forgotten(x) * first(x)).sum().backward(), x=x)
    labels = by_id(graph)
    missing = {labels[box]: why for box, why in missing_gradients(graph).items()}
    assert missing == {forgotten.op.name: missing[forgotten.op.name]}
    assert "has no derivative" in missing[forgotten.op.name]


def test_an_op_named_as_what_a_drawing_calls_detach() -> None:
    @primitive
    def detach(x: Any) -> Any:
        return x + 1.0

    x = variable()
    assert all(
        "derivative" in why
        for why in missing_gradients(
            watched(lambda: (detach(x) * x).sum().backward(), x=x)
        ).values()
    )


def test_what_leaves_the_process_takes_no_ops_along() -> None:
    """Read again, an op of the library is known; one of a program is only called by its name."""
    x = variable()
    graph = watched(lambda: minigrad.exp(own_tanh()(scaled(2)(x))).backward(np.ones(2)), x=x)
    assert copy.deepcopy(graph) == graph
    known = [node.primitive for node in graph.nodes if node.kind == "op"]
    assert all(op is not None for op in known)
    copied = [node.primitive for node in copy.deepcopy(graph).nodes if node.kind == "op"]
    assert all(one is other for one, other in zip(known, copied, strict=True))
    assert "primitive" not in graph.to_json()
    for again in (viz.Graph.from_json(graph.to_json()), pickle.loads(pickle.dumps(graph))):
        assert again == graph
        found = [node.primitive for node in again.nodes if node.kind == "op"]
        assert found == [None, None, minigrad.exp.op]
        assert formulas_told(viz.explain(again)) == [
            viz.formulas("exp")["x"].text, "its own rule", "its own rule",
        ]  # fmt: skip
    assert json.loads(graph.to_json())["nodes"]


def test_ops_of_one_name_are_counted_apart() -> None:
    x = variable()
    rows = graph_memory(scaled(3)(scaled(2)(x))).ops
    assert [(row.name, row.nodes) for row in rows] == [("my_scaled", 1)] * 2


def test_a_softmax_of_ones_own_is_not_taken_for_attention() -> None:
    @primitive
    def softmax(x: Any, axis: int = -1) -> Any:
        return x / x.sum(axis, keepdims=True)

    softmax.defvjp(x=lambda g: g)
    assert not watched(
        lambda: softmax(Tensor(np.ones((3, 3)), requires_grad=True)) @ np.ones((3, 2))
    ).heatmaps
    assert softmax.op.name != registry["softmax"].name
