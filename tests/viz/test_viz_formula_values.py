"""Every formula, set from a rule or written by hand, gives the numbers that the rule gives."""

from __future__ import annotations

import numpy as np
import pytest
from formula_values import Compared, by_source

import minigrad
from minigrad import Tensor
from minigrad.autograd import grad
from minigrad.autograd.primitive import registry
from minigrad.checking.samples import CASES, OURS, Case
from minigrad.checking.self_check import checked_ops
from minigrad.ops import power
from minigrad.viz.formula import readings


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


@pytest.mark.slow
def test_every_formula_gives_the_numbers_of_its_rule() -> None:
    """In all cases of all ops together."""
    total = Compared()
    for case in CASES:
        found = run(case)
        for place, count in found.counts.items():
            total.counts[place] += count
        for place, errors in found.errors.items():
            total.errors[place] += [f"{case}: {error}" for error in errors]
    assert not {place: errors for place, errors in total.errors.items() if errors}
    places = {
        (name, argument) for name in checked_ops() for argument, *_ in readings(registry[name])
    }
    assert not places - {*total.counts}, "no case differentiates these: add one"


SHOWN_BY_SOURCE = {
    "einsum", "pad", "qr", "quantile", "repeat", "scatter_extreme", "svd", "tensordot", "tile",
}  # fmt: skip
"""Rules that are kernels and have no formula: their source is shown."""


def test_every_rule_but_a_few_is_read() -> None:
    unread = set()
    for name in checked_ops():
        op = registry[name]
        slots = op.joint_slots if op.joint else tuple(map(op.params.index, op.rules))
        found = list(readings(op))
        assert {argument for argument, _, _ in found} == {op.params[slot] for slot in slots}
        for _, _, reading in found:
            if by_source(op, reading):
                unread.add(name)
    assert unread == SHOWN_BY_SOURCE


def test_a_wrong_formula_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("power", "wrong", lambda m, a, b: m.power(a, b), (np.ones(3) + 1, np.ones(3) + 2))
    assert not any(run(case).errors.values())
    monkeypatch.setitem(power.op.formulas, "a", (power.op.rules["a"], "", "g * a**b"))
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
        minigrad.prod(x * 0).backward()
    assert {op for (op, _), errors in compared.errors.items() if errors} == {
        "cumprod", "det", "prod", "std"
    }  # fmt: skip
