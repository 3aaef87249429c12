"""Ops on one element at a time, and on pairs of broadcast elements."""

from itertools import product
from typing import Any

import numpy as np

from op_samples.case import Case, Draw, case

_draw = Draw(0)
between, inside, normal = _draw.between, _draw.inside, _draw.normal
positive, spaced = _draw.positive, _draw.spaced

BROADCASTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((1, 3), (2, 1, 1)),
    ((), (2, 3)), ((2, 3), ()), ((), ()), ((1,), ()), ((0, 3), (3,)), ((2, 0), (2, 1)),
]  # fmt: skip
_SHAPES: list[tuple[int, ...]] = [(2, 3), (), (0, 2)]
_SCALARS = (2.0, 3, -0.7)
_WIDE = np.linspace(-6.3, 6.3, 14)
_CONDITION = np.array([[True, False, True], [False, False, True]])


def _above_one(*shape: int) -> np.ndarray:
    return positive(*shape) + 1


def _small(*shape: int) -> np.ndarray:
    return 1e-3 * normal(*shape)


# Functions of one number, by what their numbers are drawn from.
_UNARY: dict[Any, str] = {
    normal: """negative abs square exp tanh erf relu sigmoid silu gelu alias clone
        sin cos arctan sinh cosh arcsinh deg2rad rad2deg exp2 expm1 reciprocal cbrt softplus
        sinc""",
    positive: "sqrt log log2 log10 log1p entr clamped_log",
    inside: "tan arcsin arccos arctanh log1p",
    between: "floor ceil trunc round sign",
    _above_one: "arccosh",
    _small: "expm1",
}
_SMOOTH = "tanh erf sigmoid silu gelu sin cos arctan sinh cosh arcsinh expm1 exp2 softplus sinc"

# Functions of two numbers, and what each is drawn from.
_BINARY: dict[str, tuple[Any, Any]] = {
    "add": (normal, normal), "subtract": (normal, normal), "multiply": (normal, normal),
    "divide": (normal, positive), "power": (positive, normal), "maximum": (spaced, spaced),
    "minimum": (spaced, spaced), "arctan2": (normal, normal), "hypot": (normal, normal),
    "logaddexp": (normal, normal), "copysign": (normal, normal), "nextafter": (normal, spaced),
    "xlogy": (normal, positive), "xlog1py": (normal, positive),
}  # fmt: skip


_LOGS = ("xlogy", "xlog1py")


def _binary(op: str, first: Any, second: Any) -> list[Case]:
    return [
        *[case(op, first(*left), second(*right)) for left, right in BROADCASTS],
        *[case(op, first(2, 3), c) for c in (_SCALARS if op not in _LOGS else (2.0, 3))],
        *[case(op, c, second(2, 3)) for c in (_SCALARS if op != "power" else (2.0, 3))],
        Case(op, "with itself", lambda m, x: getattr(m, op)(x, x), (positive(2, 3),)),
    ]


def _unit(*shape: int) -> np.ndarray:
    """Numbers between 0.05 and 0.95."""
    return 0.5 + 0.5 * inside(*shape)


def _holed(op: str, *arguments: Any, **options: Any) -> Case:
    """The call with NaN in places of the first argument."""
    call = lambda m, x, *rest: getattr(m, op)(m.where(_CONDITION, np.nan, x), *rest, **options)
    return Case(op, f"beside NaN {len(arguments)} {options}", call, (normal(2, 3), *arguments))


def _divisor(*shape: int) -> np.ndarray:
    return np.copysign(1.3, normal(*shape))


def _dividing(op: str) -> list[Case]:
    x = np.array([[-2.6, -0.9, 0.5], [1.1, 2.9, 5.3]])
    return [
        *[case(op, 1.3 * between(*left), _divisor(*right)) for left, right in BROADCASTS],
        case(op, np.array([0.5, 2.9, -0.9]), np.array([1.3, -1.3, 1.3])),
        *[case(op, x, c) for c in _SCALARS],
        *[case(op, c, np.array([[1.3, -1.3]])) for c in _SCALARS],
    ]


_LATER: dict[str, Any] = {"rsqrt": positive, "erfc": normal, "erfinv": inside, "logit": _unit}
_NEGATIVE = np.array([-0.3, -0.6, -1.4, -2.5, -7.3])
_WHOLE = np.array([0.0, 1.0, 2.0, 3.0, -1.0, -2.0])
_HUGE = np.array([1e99, 1.0, 1e-99])
_ROWS = np.array([[-2.0, -0.5, 0.3, 0.9, 2.0]] * 2)

CASES: list[Case] = [
    *[case(op, make(*s)) for make, ops in _UNARY.items() for op in ops.split() for s in _SHAPES],
    *[case(op, _WIDE, name="wide") for op in _SMOOTH.split()],
    case("power", np.array([[1.2, 0.8, 1.7]]), np.array([[1.3], [2.4]])),
    *[found for op, makers in _BINARY.items() for found in _binary(op, *makers)],
    *[found for op in ("floor_divide", "remainder") for found in _dividing(op)],
    *[case("power", normal(5), c) for c in (0, 1, 2, 3, -1, -2, 0.0, 1.0, 2.0, 5)],
    Case("power", "of any sign to an array", lambda m, x: m.power(x, _WHOLE), (normal(2, 6),)),
    case("power", positive(2, 6), np.array([0.0, 1.0, 2.0, 3.0, -1.0, 0.5])),
    Case("frexp", "with a constant", lambda m, x: m.frexp(x * _HUGE)[0], (normal(2, 3),)),
    Case("frexp", "of a number", lambda m, x: m.frexp(x)[0], (normal(),)),
    case("gelu", _WIDE, approximate="tanh"),
    case("gelu", normal(), approximate="tanh"),
    *[case("softplus", _WIDE, beta) for beta in (0.5, 3, -2.0)],
    *[case("hardtanh", between(2, 3), *bounds) for bounds in ((), (0.0, 0.9), (-0.4, 5.0))],
    *[case("round", between(5), decimals) for decimals in (1, 0, -1)],
    *[case("clip", spaced(2, 5), *c) for c in ((-0.5, 0.7), (-0.5, None), (None, 0.5))],
    case("clip", _ROWS, np.array([[-1.0], [-0.7]]), np.array([1.0, 1.1, 1.2, 0.6, 1.4])),
    case("clip", np.array([0.0, 1.5, 3.0]), np.array(2.0), np.array(1.0), name="crossed bounds"),
    *[case("where", _CONDITION, normal(*left), normal(*right))
      for left, right in [*BROADCASTS[:9], ((2, 1, 3), (3,))]],
    case("where", _CONDITION, 2.0, normal(2, 3)),
    case("where", True, normal(2, 3), normal(3)),
    case("masked_fill", normal(2, 3), _CONDITION, -1.7),
    *[case("masked_fill", normal(2, 3), _CONDITION, normal(*s)) for s in ((), (1, 1), (1, 1, 1))],
    case("masked_fill", normal(4, 2, 3), _CONDITION, 2.0),
    case("masked_fill", normal(3), _CONDITION, normal()),
    *[case("dropout", normal(4, 5), p, 5) for p in (0.0, 0.4, 1.0)],
    case("dropout", normal(), 0.5, 5),
    case("astype", normal(2, 3), np.float64, name="to float64"),
    *[case(op, make(*s)) for op, make in _LATER.items() for s in _SHAPES],
    case("erfc", _WIDE, name="wide"),
    *[case("logit", x, 0.2) for x in (_unit(2, 5), np.array([0.1, 0.3, 0.9]))],
    *[found for op in ("fmax", "fmin") for found in _binary(op, spaced, spaced)],
    *[_holed(op, spaced(2, 3)) for op in ("fmax", "fmin")],
    *_dividing("fmod"),
    case("nan_to_num", normal(2, 3)),
    *[_holed("nan_to_num", **options) for options in ({}, {"nan": -1.5})],
    *[
        case("masked_select", normal(*x), mask)
        for x, mask in [((2, 3), _CONDITION), ((3,), _CONDITION), ((4, 2, 3), _CONDITION),
                        ((2, 1), _CONDITION), ((), np.array(True)), ((0, 3), np.ones(3, bool))]
    ],
    *[case(op, positive(*s)) for op in ("lgamma", "digamma") for s in _SHAPES],
    *[case(op, x) for op in ("lgamma", "digamma") for x in (_NEGATIVE, 0.9 + 5 * positive(5))],
    *[case("polygamma", n, x) for n, x in product((0, 1, 2), (positive(2, 3), _NEGATIVE))],
]  # fmt: skip
