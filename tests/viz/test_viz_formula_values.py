"""Every formula, set from a rule or written by hand, gives the numbers that the rule gives."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from formula_values import Compared

import minigrad
from minigrad import Tensor
from minigrad.autograd import grad
from minigrad.autograd.primitive import registry
from minigrad.checking.samples import CASES, OURS, Case
from minigrad.checking.self_check import checked_ops
from minigrad.ops import elementwise
from minigrad.viz.formula import readings, written
from minigrad.viz.formula.terms import Call
from minigrad.viz.formula.written import Written


def run(case: Case) -> Compared:
    """Compare the formulas of all rules that the gradient of a case takes."""
    compared = Compared()
    inputs = [Tensor(array, requires_grad=True) for array in case.inputs]
    with compared:
        result = case.on(OURS)(*inputs)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        weights = [np.cos(np.arange(y.size) + i).reshape(y.shape) for i, y in enumerate(outputs)]
        grad(outputs, inputs, weights, allow_unused=True)
    return compared


@functools.cache
def everything() -> Compared:
    """All cases of all ops together."""
    total = Compared()
    for case in CASES:
        found = run(case)
        for place, count in found.counts.items():
            total.counts[place] += count
        for place, errors in found.errors.items():
            total.errors[place] += [f"{case}: {error}" for error in errors]
    return total


@pytest.mark.parametrize("name", checked_ops())
def test_a_formula_gives_the_numbers_of_its_rule(name: str) -> None:
    compared = everything()
    for argument, _, _ in readings(registry[name]):
        assert compared.counts[name, argument], f"no case differentiates {argument}"
        assert not compared.errors[name, argument]


@pytest.mark.parametrize("name", checked_ops())
def test_every_rule_is_read(name: str) -> None:
    """None is shown as a bare call of itself."""
    op = registry[name]
    slots = op.joint_slots if op.joint else tuple(map(op.params.index, op.rules))
    found = list(readings(op))
    assert {argument for argument, _, _ in found} == {op.params[slot] for slot in slots}
    for _, rule, reading in found:
        assert not (isinstance(reading.value, Call) and reading.value.function is rule.function)


def test_a_wrong_formula_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("power", "wrong", lambda m, a, b: m.power(a, b), (np.ones(3) + 1, np.ones(3) + 2))
    assert not any(run(case).errors.values())
    wrong = dict(written.WRITTEN) | {elementwise._power_a: Written(lambda g, a, b: g * a**b)}
    monkeypatch.setattr("minigrad.viz.formula.WRITTEN", wrong)
    assert [place for place, errors in run(case).errors.items() if errors] == [("power", "a")]


def test_what_a_formula_leaves_out_is_needed() -> None:
    """The exceptions that this comparison makes are real: each formula fails without its note."""
    x = Tensor(np.array([[1.0, 2.0], [2.0, 4.0]]), requires_grad=True)
    compared = Compared()
    with compared, pytest.MonkeyPatch.context() as patch:
        patch.setattr("formula_values.EXCEPTIONS", {})
        minigrad.cumprod(x * 0, 0).sum().backward()
        minigrad.linalg.det(x).backward()
        minigrad.std(x[:, :1], axis=1).sum().backward()
        minigrad.linalg.qr(x[:1]).R.sum().backward()
    assert {op for (op, _), errors in compared.errors.items() if errors} == {
        "cumprod", "det", "qr", "std"
    }  # fmt: skip
