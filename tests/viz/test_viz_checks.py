"""The finite difference of each step: kinks, ties and custom Functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reading import labels, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import Function, primitive
from minigrad.nn import functional as F

KINKS: dict[str, Callable[[Tensor], Any]] = {
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "clip": lambda x: minigrad.clip(x, 0.0, 1.0),
    "abs": abs,
    "max": lambda x: x.max(axis=0),
    "maximum": lambda x: minigrad.maximum(x, 0.0 * x),
    "max_pool2d": lambda x: F.max_pool2d(x.reshape(1, 1, 4, 3), 2),
    "sort": lambda x: minigrad.sort(x, axis=0),
    "median": lambda x: minigrad.median(x, axis=0),
}


def parts_of(function: Callable[[Tensor], Any], x: Tensor) -> dict[str, viz.Part]:
    with viz.trace() as traced:
        out = function(x)
        weights = np.linspace(0.5, 2.0, out.size, dtype=out.dtype.name).reshape(out.shape)
        out.backward(weights)
    return {step.op: part for step in traced.graph().steps for part in step.parts}


@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_right_rule_never_differs(name: str, dtype: str) -> None:
    """All elements lie at a kink, or are equal to their neighbours."""
    values = np.zeros((4, 3), dtype)
    values[0] = 1.0
    for part in parts_of(KINKS[name], Tensor(values, requires_grad=True)).values():
        assert part.check < 1e-3, (part, part.kink)


def test_both_slopes_are_told() -> None:
    x = Tensor(np.zeros(1), requires_grad=True)
    part = parts_of(lambda x: minigrad.maximum(x, 0.25 * x), x)["maximum"]
    assert part.kink is None  # each of its arguments by itself
    part = parts_of(F.relu, x)["relu"]
    assert sorted(map(abs, part.kink)) == [0.0, pytest.approx(0.5, rel=1e-6)]


def test_a_small_net_at_its_kinks() -> None:
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3)
    )
    parts = [
        part
        for step in watched(
            lambda: F.cross_entropy(net(minigrad.zeros(2, 1, 4, 4)), np.array([0, 1])).backward()
        ).steps
        for part in step.parts
    ]
    assert all(part.check is not None and part.check < 1e-3 for part in parts)


def test_a_wrong_rule_is_seen_at_a_kink_too() -> None:
    @primitive
    def planted(x: Any) -> Any:
        return np.maximum(x, 0)

    planted.defvjp(x=lambda g, x: 2 * g * (x > 0))
    part = parts_of(planted, Tensor([0.0, 0.0, 1.0], requires_grad=True))[planted.op.name]
    assert part.check > 0.1


def test_a_kink_is_said_on_the_page_and_in_the_report() -> None:
    x = Tensor(np.zeros(3), requires_grad=True)
    with viz.trace() as traced:
        F.relu(x).sum().backward()
    text = viz.explain(traced)
    assert "a kink: the slope is" in text
    assert "beside it, " in text
    graph = traced.graph()
    assert viz.Graph.from_json(graph.to_json()) == graph


class Cube(Function):
    factor = 3.0

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.square = x.numpy() ** 2
        return x * x * x

    @classmethod
    def backward(cls, ctx: Any, g: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        assert np.array_equal(ctx.square, x.numpy() ** 2)
        return Tensor(ctx.square) * g * cls.factor


class Wrong(Cube):
    factor = 2.0


@pytest.mark.parametrize(("function", "right"), [(Cube, True), (Wrong, False)])
def test_a_custom_function_is_checked(function: Any, right: bool) -> None:
    [part] = [
        part
        for name, part in parts_of(function.apply, Tensor([1.0, 2.0], requires_grad=True)).items()
        if function.__name__ in name
    ]
    assert (part.check < 1e-3) == right


def test_tracing_leaves_the_context_of_a_custom_function_as_it_is() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with viz.trace(timed=True) as traced:
        y = Cube.apply(x)
        for _ in range(2):
            y.sum().backward(retain_graph=True)
            viz.explain(traced)
            traced.graph().to_html()
    assert x.grad.tolist() == [6.0, 24.0]


def test_a_custom_function_stands_for_what_runs_in_it() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    graph = watched(lambda: Cube.apply(x * 2.0).sum(), x=x)
    [group] = [group for group in graph.groups if group.op is not None]
    inside = [node for node in graph.nodes if node.group == group.id]
    assert [node.label for node in inside] == ["multiply", "multiply"]
    assert labels(graph, "output") == ["output"]
    [doubled] = [n.id for n in graph.nodes if n.label == "multiply" and n.group is None]
    into = [edge.source for edge in graph.edges if edge.target == inside[0].id]
    assert into == [doubled, doubled]


def test_ops_that_exchange_messages_are_not_run_again() -> None:
    from minigrad.distributed import all_reduce

    x = Tensor([1.0, 2.0], requires_grad=True)
    part = parts_of(lambda x: all_reduce(x * 1.0), x)["all_reduce"]
    assert (part.check, part.unchecked) == (None, "an op with side effects is not run again")


def test_values_that_a_custom_function_read_can_be_read_again() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with viz.trace() as traced:
        loss = Cube.apply(x).sum() + (Cube.apply(x) * x.detach()).sum()
        loss.backward()
        _ = x.detach() + Tensor(x.numpy())
    assert {node.label for node in traced.graph(x=x).nodes} >= {"Cube", "detach", "x"} - {"Cube"}
