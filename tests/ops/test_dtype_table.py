"""All binary ops with all pairs of dtypes, of arrays and 0-d arrays, beside NumPy.

A cell agrees with NumPy in dtype and values, or in refusing. Where minigrad differs on purpose, a
rule says so: it tells for which operands, and what NumPy computes it from instead.
"""

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops

Array = np.ndarray
Operands = tuple[Array, Array]

KINDS = ["b", "iu", "f"]  # each wider than those before
DTYPES = [np.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
)]  # fmt: skip


def kind(x: Array) -> int:
    return next(i for i, kinds in enumerate(KINDS) if x.dtype.kind in kinds)


def inplace(name: str) -> Callable[[Any, Any, Any], Any]:
    def call(module: Any, x: Any, y: Any) -> Any:
        return getattr(operator, name)(np.array(x) if module is np else minigrad.tensor(x), y)

    return call


def function(name: str) -> Callable[[Any, Any, Any], Any]:
    return lambda module, x, y: getattr(module, name)(x, y)


class Op(NamedTuple):
    call: Callable[[Any, Any, Any], Any]  # of NumPy or minigrad, and two operands
    floats: bool = False  # integers become floats
    inplace: bool = False
    compares: bool = False


FLOATS = ["divide", "copysign", "nextafter", "arctan2", "hypot", "logaddexp"]
COMPARISONS = [
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
    "logical_or", "logical_xor", "isclose",
]  # fmt: skip
OPS = {
    name: Op(function(name))
    for name in (
        "add", "subtract", "multiply", "floor_divide", "remainder", "fmod", "power", "maximum",
        "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
        "right_shift",
    )
}  # fmt: skip
OPS |= {name: Op(function(name), floats=True) for name in FLOATS}
OPS |= {name: Op(function(name), compares=True) for name in COMPARISONS}
OPS |= {
    name: Op(inplace(name), inplace=True)
    for name in (
        "iadd", "isub", "imul", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift",
        "irshift",
    )
}  # fmt: skip
OPS |= {
    "itruediv": Op(inplace("itruediv"), floats=True, inplace=True),
    "where": Op(lambda module, x, y: module.where(np.array([True, False, True, False]), x, y)),
    "clip from below": Op(lambda module, x, y: module.clip(x, y, None)),
    "clip from above": Op(lambda module, x, y: module.clip(x, None, y)),
    "stack": Op(lambda module, x, y: module.stack([x, y])),
    "concatenate": Op(lambda module, x, y: module.concatenate([x, y])),
}


def is_weak(x: Array, other: Array) -> bool:
    return x.ndim == 0 < other.ndim


class Rule(NamedTuple):
    applies: Callable[[Op, Array, Array], bool]
    dtype: Callable[[Array, Array], Any]  # both operands are cast to it first


WIDE = "integers are written into integers of another sign, as in PyTorch"
RULES = {
    "a 0-d array does not widen an array of its kind": Rule(
        lambda op, x, y: (
            kind(x) == kind(y)
            and (is_weak(x, y) or is_weak(y, x))
            and not (op.floats and kind(x) < 2)
            and not (op.compares and kind(x) < 2)
        ),
        lambda x, y: (y if is_weak(x, y) else x).dtype,
    ),
    "integers and bools do not widen a float": Rule(
        lambda op, x, y: (
            kind(x) != kind(y) and 2 in (kind(x), kind(y))
        ),
        lambda x, y: (x if kind(x) == 2 else y).dtype,
    ),
    "a function of floats makes integers and bools the default float": Rule(
        lambda op, x, y: op.floats and kind(x) < 2 and kind(y) < 2, lambda x, y: np.float32
    ),
    WIDE: Rule(
        lambda op, x, y: (
            op.inplace
            and not op.floats
            and kind(x) == kind(y) == 1
            and x.ndim == y.ndim
            and np.result_type(x, y).kind in "iu"
            and not np.can_cast(np.result_type(x, y), x.dtype, "same_kind")
        ),
        np.result_type,
    ),
}  # fmt: skip


def values(dtype: np.dtype[Any], zero_d: bool, second: bool) -> Array:
    """Numbers that each dtype of the kind holds, so that the casts of the rules are exact."""
    numbers = [3, 0, 2, 1] if second else [7, 2, 0, 100]
    if dtype.kind in "if":
        numbers[0] *= -1 if second or dtype.kind == "i" else 1
    array = np.array(numbers[1 if dtype.kind == "b" else 3] if zero_d else numbers)
    return array.astype(dtype) + dtype.type(0.5) if dtype.kind == "f" else array.astype(dtype)


def outcome(op: Op, module: Any, x: Any, y: Any) -> Array | None:
    """The result as an array; None if the operands are refused."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = op.call(module, x, y)
    except (TypeError, ValueError):
        return None
    if isinstance(result, Tensor):
        return result.numpy()
    return np.asarray(result)


def wanted(op: Op, x: Array, y: Array, rule: Rule | None) -> Array | None:
    if rule is not None:
        dtype = rule.dtype(x, y)
        if rule is RULES[WIDE]:
            result = outcome(op, np, x.astype(dtype), y.astype(dtype))
            return None if result is None else result.astype(x.dtype)
        x, y = x if op.inplace else x.astype(dtype), y.astype(dtype)
    return outcome(op, np, x, y)


def agree(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def operands() -> list[Operands]:
    return [
        (values(a, flat, False), values(b, other_flat, True))
        for a, b in itertools.product(DTYPES, DTYPES)
        for flat, other_flat in itertools.product((False, True), repeat=2)
    ]


def shown(x: Array) -> str:
    return f"{x.dtype}{'' if x.ndim else '()'}"


@pytest.mark.parametrize("name", OPS)
def test_every_cell_is_numpys_or_follows_a_rule(name: str) -> None:
    op, wrong = OPS[name], []
    for x, y in operands():
        rules = [rule for rule in RULES.values() if rule.applies(op, x, y)]
        assert len(rules) <= 1
        result = outcome(op, ops, minigrad.tensor(x), minigrad.tensor(y))
        expected = wanted(op, x, y, rules[0] if rules else None)
        if not agree(result, expected):
            wrong.append(f"{name}({shown(x)}, {shown(y)}) is {result!r}, not {expected!r}")
    assert not wrong, f"{len(wrong)} cells\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_needed(name: str) -> None:
    rule = RULES[name]
    assert any(
        not agree(wanted(op, x, y, rule), wanted(op, x, y, None))
        for op in (OPS["add"], OPS["divide"], OPS["iadd"])
        for x, y in operands()
        if rule.applies(op, x, y)
    )


EXTREMES = [-(2**63), -129, -1, 0, 1, 127, 128, 300, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
INTEGERS = [
    np.array(n, dtype)
    for n in EXTREMES
    for dtype in DTYPES
    if dtype.kind in "iu" and np.iinfo(dtype).min <= n <= np.iinfo(dtype).max
]


@pytest.mark.parametrize("name", COMPARISONS[:6])
def test_integers_are_compared_by_value(name: str) -> None:
    """No dtype holds all of int64 and uint64, and 300 beside int8 is not 44."""
    compare = getattr(np, name)
    for x, y in itertools.product(INTEGERS, INTEGERS):
        right = compare(int(x), int(y))
        for a, b in itertools.product((x, x[None]), (y, y[None])):
            result = getattr(ops, name)(minigrad.tensor(a), minigrad.tensor(b))
            assert result.tolist() in (right, [right]), (name, shown(a), x, shown(b), y)
        assert getattr(ops, name)(minigrad.tensor(x[None]), int(y)).tolist() == [right]


COMPUTING = [name for name, op in OPS.items() if not (op.floats or op.compares)]
ARITHMETIC = [name for name in COMPUTING if name not in ("stack", "concatenate")]


@pytest.mark.parametrize("name", ARITHMETIC)
def test_a_0d_integer_that_its_array_cannot_hold_is_refused(name: str) -> None:
    """As a Python integer is: cast to int8, 300 would be 44."""
    op = OPS[name]
    for dtype, number in ((np.int8, 300), (np.uint8, -1), (np.uint64, -1), (np.int64, 2**63)):
        x = minigrad.tensor(np.ones(4, dtype))
        for y in (minigrad.tensor(number), number):
            if name.startswith("clip") and isinstance(y, int):
                continue  # NumPy compares it by value
            with pytest.raises((OverflowError, ValueError), match=rf"{number}|too large"):
                op.call(ops, x, y)
