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


def test_a_plan_line_by_line() -> None:
    x = minigrad.ones(2, 3, requires_grad=True)
    b = minigrad.ones(3, requires_grad=True)
    h = x * b
    text = viz.explain((h + h).sum(), x=x, b=b)
    assert text.splitlines()[0] == "backward pass from sum: 3 steps, 2 leaves"
    assert steps(text)[1:] == [
        ["step 2: add", "ḡ: 2×3",
         "a is the output of step 3 (multiply), b is the output of step 3 (multiply)",
         "a: ḡ", "2×3 to step 3 (multiply), 1 of 2", "rule: g, minigrad/ops/elementwise.py",
         "b: ḡ", "2×3 to step 3 (multiply), 2 of 2", "rule: g, minigrad/ops/elementwise.py"],
        ["step 3: multiply", "ḡ: 2×3", "a is `x`, b is `b`", "saved: b 3, 12 B; a 2×3, 24 B",
         "a: ḡ ⊙ b", "2×3 to the gradient of x", "rule: g * b, minigrad/ops/elementwise.py",
         "b: ḡ ⊙ a", "2×3, summed over axis 0 to 3, to the gradient of b",
         "rule: g * a, minigrad/ops/elementwise.py"],
    ]  # fmt: skip


def test_modules_and_fused_rules() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    text = viz.explain(layer(minigrad.ones(2, 3, 8)).sum())
    assert "linear in self_attn.q_proj" in text
    (attention,) = [step for step in steps(text) if step[0].endswith("attention in self_attn")]
    assert attention.count("rule: minigrad/ops/attention.py") == 3
    assert sum(line.startswith("2×2×3×4 to step") for line in attention) == 3
    (query,) = [line for line in attention if line.startswith("query: ")]
    assert query.startswith("query: scale · D key, where D = P ⊙ (A")
    assert max(map(len, text.splitlines())) <= 100
    assert "D = P ⊙ (A − Σ_(last axis)(A ⊙ P))" in " ".join(text.split())


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


def test_a_trace_adds_numbers_and_checks() -> None:
    x = minigrad.tensor([3.0, 4.0], requires_grad=True)
    with viz.trace() as traced:
        (x * x).sum().backward()
    for text in (viz.explain(traced, x=x), viz.explain(traced.graph(x=x))):
        product = steps(text)[1]
        assert product[0].startswith("step 2: multiply  (")
        assert "test_viz_explain" in product[0]
        assert product[1] == "ḡ: 2 = [1, 1]"
        assert "2 = [3, 4] to the gradient of x, 2 of 2, together = [6, 8]" in product
        assert sum(line.endswith("from a finite difference") for line in product) == 2


def test_large_arrays_have_norms_and_what_is_not_finite_is_counted() -> None:
    x = minigrad.tensor(np.r_[0.0, np.ones(9)], requires_grad=True)
    with viz.trace() as traced, np.errstate(all="ignore"):
        minigrad.log(x).sum().backward()
    assert "10 (norm 3, 1 inf) to the gradient of input" in viz.explain(traced)


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
