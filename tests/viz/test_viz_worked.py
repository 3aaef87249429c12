"""Worked entries: for every op, the numbers that are shown give the entry of the real gradient."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from reading import differentiated, variable, watched

import minigrad
from minigrad import nn, viz
from minigrad.autograd import primitive
from minigrad.autograd.primitive import registry
from minigrad.checking.samples import CASES, Case
from minigrad.checking.self_check import checked_ops
from minigrad.nn import functional as F
from minigrad.viz.explanation.worked import Worked, work_out
from minigrad.viz.record.steps import Part, Step

ALWAYS_ZERO = {
    "ceil", "floor", "floor_divide", "identity", "round", "sign", "trunc",
}  # fmt: skip
"""Ops whose gradients are 0 everywhere, so that there is nothing to work out."""

COLLECTIVE = {name for name, op in registry.items() if "call" in op.params}
"""Ops of several processes: one process alone cannot run them again."""


def steps_of(traced: viz.Trace) -> Iterator[tuple[str, Step, Part]]:
    """The name of the op, the step and each part of the backward pass of a trace."""
    for step in traced.graph().steps:
        for part in step.parts:
            yield step.op, step, part


def entry_of(part: Part, index: tuple[int, ...]) -> float | None:
    """The entry of the gradient as the engine sent it, if the graph has it."""
    if part.sent.values is None:
        return None
    return float(np.reshape(part.sent.values, part.sent.shape)[index])


def numbers(text: str) -> float:
    """The last number of an equation."""
    found = re.findall(r"−?[\d.]+(?:e−?\d+)?", text)
    return float(found[-1].replace("−", "-"))


def some_cases(most: int = 5) -> list[Case]:
    """At most so many of each op, evenly spread: cases that are alike stand side by side."""
    of_op: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        of_op[case.op].append(case)
    return [case for cases in of_op.values() for case in cases[:: -(-len(cases) // most)]]


SOME = pytest.param(some_cases(), marks=pytest.mark.slow, id="some")
ALL = pytest.param(CASES, marks=pytest.mark.long, id="all")


@pytest.mark.parametrize("cases", [SOME, ALL])
def test_every_op_has_an_entry_that_equals_its_gradient(cases: list[Case]) -> None:
    worked, unknown = set[str](), list[str]()
    rng = np.random.default_rng(0)
    for case in cases:
        with viz.trace() as trace:
            differentiated(case)
        if not trace._entries:
            continue
        for op, step, part in steps_of(trace):
            primitive_of = registry[op]
            chosen = work_out(primitive_of, part.name, step.given)
            shape = part.sent.shape
            picked = tuple(map(int, rng.integers(np.maximum(shape, 1)))) if shape else ()
            size = part.sent.norm
            if chosen is None and size > 1e-9 and op not in COLLECTIVE:
                unknown.append(f"{case}: {op}, {part.name}")
            for found in (chosen, work_out(primitive_of, part.name, step.given, picked)):
                if found is None:
                    continue
                worked.add(op)
                right = entry_of(part, found.index)
                if right is not None:
                    assert found.value == pytest.approx(right, rel=1e-7, abs=1e-7 * size), case
                    said = numbers(found.equations[0][1])
                    assert said == pytest.approx(right, rel=6e-3, abs=1e-7 * size), (case, found)
    assert not unknown
    assert {
        name for name in checked_ops() if registry[name].ruled
    } - worked <= ALWAYS_ZERO | COLLECTIVE


def worked_out(traced: viz.Trace, op: str, argument: str, *index: int) -> Worked:
    """An entry of the gradient that the first step of an op sends to an argument."""
    steps = (step for step in traced.graph().steps if step.op == op)
    found = work_out(registry[op], argument, next(steps).given, index or None)
    return found


def test_of_a_long_sum_the_largest_terms_are_written() -> None:
    x = minigrad.tensor(np.eye(40)[:, :1], requires_grad=True)
    with viz.trace() as trace:
        (x + np.ones((40, 50))).backward(np.arange(2000.0).reshape(40, 50))
    ((names, numbers),) = worked_out(trace, "add", "a", 0, 0).equations
    assert names == "ḡ[0, 46] + ḡ[0, 47] + ḡ[0, 48] + ḡ[0, 49] + … (46 more)"
    assert numbers.endswith("49 + … (46 more) ≈ 1.22e3")


def test_what_is_exact_is_equal() -> None:
    for value, sign in ((0.25, "="), (1 / 3, "≈")):
        x = minigrad.tensor([value], requires_grad=True)
        with viz.trace() as trace:
            (x * x).sum().backward()
        assert worked_out(trace, "multiply", "a").equations[0][1].startswith(sign)


def test_a_rule_that_is_not_read_is_worked_out_by_the_chain_rule() -> None:
    x = variable(1.0, 2.0, 4.0)
    with viz.trace() as trace:
        minigrad.quantile(x, 0.75).backward()
    ((names, numbers),) = worked_out(trace, "quantile", "x", 2).equations
    assert (names, numbers) == ("ḡ · ∂y/∂x[2]", "= 1 · 0.5 = 0.5")


def test_an_op_of_ones_own() -> None:
    @primitive
    def scaled(x: np.ndarray, by: float = 2.0) -> np.ndarray:
        return x * by

    scaled.defvjp(x=lambda g, by: g * by)  # type: ignore[attr-defined]
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    with viz.trace() as trace:
        scaled(x, by=3.0).sum().backward()
    assert "entry [0] = 3 · ḡ[0]" in viz.explain(trace)


def test_numbers_are_those_of_the_step_whatever_changes_later() -> None:
    x = minigrad.tensor([2.0, 5.0], requires_grad=True)
    with viz.trace() as trace:
        (x * x).sum().backward()
        x.data[...] = 100.0
    assert worked_out(trace, "multiply", "a", 1).equations[0][1] == "= 1 · 5 = 5"


def test_large_arrays_are_not_kept() -> None:
    x = minigrad.ones(40_000, requires_grad=True)
    with viz.trace() as trace:
        (x * x).sum().backward()
    assert [step.given is None for step in trace.graph().steps] == [False, True]
    assert "entry" not in viz.explain(trace).partition("step 2: ")[2]


def test_entries_that_are_not_there() -> None:
    layer, x = nn.Linear(2, 2), minigrad.ones(3, 2, requires_grad=True)
    graph = watched(lambda: layer(x).backward(np.arange(6.0).reshape(3, 2)), images=x)
    with pytest.raises(ValueError, match=r"no gradient of this pass has an entry \[3, 7\]"):
        viz.explain(graph, entry=(3, 7))
    with pytest.raises(ValueError, match="a plan has no numbers"):
        viz.explain(x * x, entry=1)


class TestCases:
    """A formula for a call leaves out what the call does not use."""

    def test_of_static_arguments(self) -> None:
        assert "if approximate" in viz.formulas("gelu")["x"].text
        assert " if " not in viz.formulas("gelu", approximate="none")["x"].text
        assert "tanh" in viz.formulas("gelu", approximate="tanh")["x"].text
        assert viz.formulas("norm", ord=1, axis=0)["x"].text == "spread₀(ḡ) ⊙ sign(x)"
        with pytest.raises(TypeError, match="gelu has no argument axis"):
            viz.formulas("gelu", axis=0)

    def test_of_what_is_not_given(self) -> None:
        x, attention = minigrad.ones(1, 2, 4, requires_grad=True), F.scaled_dot_product_attention
        graph = watched(lambda: attention(x, x, x).sum().backward())
        for text in (viz.explain(graph), viz.explain(attention(x, x, x))):
            found = " ".join(text.split())
            assert "A = ḡ valueᵀ, P = exp(scale · query keyᵀ − lse)" in found
            for word in ("allowed", "dropout", "bias"):
                assert word not in found
