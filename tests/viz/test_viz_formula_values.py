"""Every formula, its text and its term give the numbers that the rule gives."""

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from check_ops import checked_ops
from op_samples import CASES, Case
from reading import differentiated

import minigrad
from minigrad import ops, tensor
from minigrad.autograd import Node, Observer, Update
from minigrad.autograd.engine import unbroadcast
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive, registry
from minigrad.ops import power
from minigrad.viz.formula import readings
from minigrad.viz.formula.definitions import Reading, Values
from minigrad.viz.formula.terms import Call

# What some formulas do not cover, and the note by which they say so.
EXCEPTIONS: dict[str, tuple[Callable[[Mapping[str, Any]], bool], str]] = {
    "cumprod": (
        lambda v: bool((v["x"] == 0).any()), "computed without a division, so x may be 0"),
    "det": (lambda v: bool((np.abs(v["out"]) < 1e-12).any()), "finite also where x has no inverse"),
    "prod": (lambda v: bool((v["x"] == 0).any()), "computed without a division, so x may be 0"),
    "std": (lambda v: bool((v["out"] == 0).any()), "0 where y is 0"),
}  # fmt: skip


class Compared(Observer):
    """Computes the formula of every rule that runs, at the values that the rule gets.

    Attributes:
        counts: How often each argument of each op was compared.
        errors: What was found for it.
    """

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], int] = defaultdict(int)
        self.errors: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._calls: dict[Node, tuple[Primitive, Sequence[Any], Any]] = {}

    def ran(self, call: Any) -> None:
        if call.node is not None:
            self._calls[call.node] = (call.op, call.arguments, raw(call.result))

    def pulled(self, pull: Any) -> None:
        node, cotangent, parts = pull.node, pull.cotangent, pull.parts
        if node not in self._calls:
            return
        op, arguments, out = self._calls[node]
        names = values_of(op, arguments, out, node) | {"g": raw(cotangent)}
        names |= {
            f"g_{name}": dense(part, edge.shape)  # what a formula of a recurrence may name
            for edge, name, part in zip(node.edges, node.plan.slot_names, parts, strict=True)
            if part is not None
        }
        found = {name: reading for name, _, reading in readings(op) if not by_source(op, reading)}
        for edge, slot, slot_name, part in zip(
            node.edges, node.plan.slots, node.plan.slot_names, parts, strict=True
        ):
            if part is None:
                continue
            argument = slot_name.partition("[")[0]
            self.counts[op.name, argument] += 1
            if argument not in found:
                continue
            right = dense(part, edge.shape)
            try:
                said = value_of(found[argument], names | {"i": slot})
                different = differs(dense(said, edge.shape), right, edge.shape)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError,
                    RuntimeWarning) as error:  # fmt: skip
                different = repr(error)
            if different and not excepted(op.name, names, found[argument].notes):
                shapes = [v.shape for v in names.values() if isinstance(v, np.ndarray)]
                self.errors[op.name, argument].append(f"{different}, shapes {shapes}")


def by_source(op: Primitive, reading: Reading) -> bool:
    """Whether a rule is a kernel without a formula: what is shown is its name and its source."""
    rules = [rule.function for rule in (*op.rules.values(), op.joint) if rule is not None]
    return isinstance(reading.value, Call) and reading.value.function in rules


def excepted(op: str, names: Mapping[str, Any], notes: tuple[str, ...]) -> bool:
    """Whether a formula says that it does not hold for these values."""
    if op not in EXCEPTIONS:
        return False
    holds, note = EXCEPTIONS[op]
    return holds(names) and note in notes


def raw(value: Any) -> Any:
    """Arrays in the place of tensors."""
    if isinstance(value, (tuple, list)):
        return tuple(map(raw, value))
    return value._data if isinstance(value, Variable) else value


def values_of(op: Primitive, arguments: Sequence[Any], out: Any, node: Node) -> dict[str, Any]:
    """Everything that a rule may name."""
    saved = zip(node.plan.saved_names, node.saved, strict=True)
    names = {name: raw(value) for name, value in saved}
    for i, (name, argument) in enumerate(zip(op.params, arguments, strict=True)):
        tensors = op.variadic and i == 0
        value = [np.asarray(raw(one)) for one in argument] if tensors else argument
        if isinstance(argument, (Variable, np.ndarray)):
            value = raw(argument)
            names[f"{name}_shape"] = value.shape
        elif tensors:
            names[f"{name}_shape"] = tuple(one.shape for one in value)
        names[name] = value
    return names | {"out": out}


def value_of(reading: Reading, names: Mapping[str, Any]) -> Any:
    """What a formula says."""
    with np.errstate(all="ignore"):
        return reading.value.evaluate(Values(names, reading.definitions))


def dense(part: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A cotangent as an array."""
    if isinstance(part, Update):
        buffer = np.zeros(shape)
        part.add_to(buffer)
        return buffer
    return np.asarray(raw(part))


def differs(said: np.ndarray, right: np.ndarray, shape: tuple[int, ...]) -> str:
    """How far a formula is from the rule; empty if they agree."""
    largest = max(float(np.abs(right).max(initial=0)), 1e-3)
    said, right = summed(said, shape), summed(right, shape)
    if np.allclose(said, right, rtol=1e-9, atol=1e-9 * largest):
        return ""
    return f"it says {said.tolist()}, the rule {right.tolist()}"


def summed(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The cotangent as the engine has it; one row or one column may be in place of a vector."""
    if x.size == np.prod(shape):
        return x.reshape(shape)
    if not x.ndim:
        return np.broadcast_to(x, shape)
    if len(shape) == 1 and x.ndim > 1 and 1 in x.shape[-2:]:
        matrix = (1, *shape) if x.shape[-2] == 1 and x.shape[-1] in (1, *shape) else (*shape, 1)
        return unbroadcast(x, matrix).reshape(shape)
    return unbroadcast(x, shape)


def run(case: Case) -> Compared:
    """Compare the formulas of all rules that the gradient of a case takes."""
    with Compared() as compared:
        differentiated(case)
    return compared


@pytest.mark.slow
def test_every_formula_gives_the_numbers_of_its_rule() -> None:
    """In all cases of all ops together."""
    errors, counted = defaultdict[tuple[str, str], list[str]](list), set[tuple[str, str]]()
    for case in CASES:
        found = run(case)
        counted |= {*found.counts}
        for place, told in found.errors.items():
            errors[place] += [f"{case}: {error}" for error in told]
    assert not {place: told for place, told in errors.items() if told}
    places = {
        (name, argument) for name in checked_ops() for argument, *_ in readings(registry[name])
    }
    assert not places - counted, "no case differentiates these: add one"


SHOWN_BY_SOURCE = {
    "einsum", "lu", "pad", "qr", "quantile", "repeat", "scatter_extreme", "solve_triangular", "svd",
    "tile",
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
    x = tensor(np.array([[1.0, 2.0], [2.0, 4.0]]), requires_grad=True)
    compared = Compared()
    with compared, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], "EXCEPTIONS", {})
        minigrad.cumprod(x * 0, 0).sum().backward()
        minigrad.linalg.det(x).backward()
        ops.std(x[:, :1], axis=1).sum().backward()
        minigrad.prod(x * 0).backward()
    assert {op for (op, _), errors in compared.errors.items() if errors} == {
        "cumprod", "det", "prod", "std"
    }  # fmt: skip
