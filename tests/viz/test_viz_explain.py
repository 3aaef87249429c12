"""`viz.explain`: the plan of a backward pass, and the report of one, in words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import checkpoint, primitive
from minigrad.autograd.primitive import registry
from minigrad.viz.explanation.report import planned


def steps(text: str) -> list[list[str]]:
    """The lines of each step, stripped."""
    return [
        [re.sub(r"\.py:\d+$", ".py", line.strip()) for line in block.splitlines()]
        for block in text.split("\n\n")
        if block.startswith("step ")
    ]


def test_the_plan_is_what_then_happens() -> None:
    """Order, targets, contributions, shapes: the plan against the trace of the same pass."""
    minigrad.random.seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=True)
    x, c = minigrad.randn(2, 3, 8, requires_grad=True), minigrad.randn(3, 1, requires_grad=True)
    with viz.trace() as traced:
        h = layer(x)
        one, other = minigrad.split(h * c, 2, axis=-1)
        square = one @ other[0].swapaxes(-1, -2) + other[1] @ one.swapaxes(-1, -2)
        row = other[0, 0] @ one.swapaxes(-1, -2) + one @ other[1, 1]
        loss = (square - minigrad.exp(c) + one[:, [0, 0, 1], :3]).mean() + row.sum()
        plan, _ = planned(loss._node, {})  # type: ignore[arg-type]
        loss.backward()
    happened = traced.graph().steps
    assert len(plan.steps) == len(happened) > 30
    for told, real in zip(plan.steps, happened, strict=True):
        assert (told.op, told.cotangent.shape) == (real.op, real.cotangent.shape)
        assert len(told.parts) == len(real.parts)
        for expected, part in zip(told.parts, real.parts, strict=True):
            assert (expected.name, expected.sent.shape) == (part.name, part.sent.shape)
            assert (expected.arrival, expected.arrivals) == (part.arrival, part.arrivals)
            if registry[told.op].joint is None:
                assert expected.raw_shape == part.raw_shape, (told.op, part.name)


def test_a_plan_runs_and_changes_nothing() -> None:
    calls: list[str] = []

    @primitive
    def watched(x: Any) -> Any:
        return x * 2

    def rule(g: Any) -> Any:
        calls.append("rule")
        return g * 2

    watched.defvjp(x=rule)
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: calls.append("hook"))
    loss = checkpoint(lambda x: calls.append("forward") or watched(x), x).sum()
    del calls[:]
    state = minigrad.random.get_state()
    assert viz.explain(loss) == viz.explain(loss)
    assert not calls
    assert x.grad is None
    assert state == minigrad.random.get_state()
    loss.backward()
    assert calls == ["forward", "rule", "hook"]
    np.testing.assert_array_equal(x.grad, [2.0, 2.0])


def test_a_freed_graph_says_so() -> None:
    x = minigrad.ones(3, requires_grad=True)
    loss = minigrad.exp(x).sum()
    assert "freed" not in viz.explain(loss)
    loss.backward()
    assert "an earlier pass freed what was saved" in viz.explain(loss)


def test_a_rule_without_a_source_is_named() -> None:
    @primitive
    def double(x: Any) -> Any:
        return x * 2

    names: dict[str, Any] = {}
    exec("def made(g, x):\n    return g * 2", names)
    double.defvjp(x=names["made"])
    text = viz.explain(double(minigrad.ones(3, requires_grad=True)))
    assert "x: made(ḡ, x)" in text


class TestErrors:
    def test_nothing_to_explain(self) -> None:
        with pytest.raises(RuntimeError, match="has no graph"):
            viz.explain(minigrad.ones(3))
        with pytest.raises(RuntimeError, match="it is a leaf"):
            viz.explain(minigrad.ones(3, requires_grad=True))
        with pytest.raises(TypeError, match="Tensor, Graph or Trace.*int"):
            viz.explain(3)

    def test_no_backward_pass_was_traced(self) -> None:
        graph = viz.graph(nn.Linear(2, 2), minigrad.ones(1, 2))
        with pytest.raises(RuntimeError, match="no backward pass was traced"):
            viz.explain(graph)

    def test_names(self) -> None:
        x: Tensor = minigrad.ones(3, requires_grad=True)
        with pytest.raises(ValueError, match="y is not a leaf"):
            viz.explain(x * x, y=minigrad.ones(3, requires_grad=True))
        with viz.trace() as traced:
            (x * x).sum().backward()
        with pytest.raises(TypeError, match="has its names already"):
            viz.explain(traced.graph(), x=x)
