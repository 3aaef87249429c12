"""Reductions, softmax, and what runs along an axis: sums, products, differences."""

import math
from itertools import product
from typing import Any

import numpy as np

from op_samples.case import Case, Draw, case

_draw = Draw(1)
factors, normal, spaced = _draw.factors, _draw.normal, _draw.spaced

_AXES: list[Any] = [None, 0, -1, (0, 2), (-1, 0), (1, -3, 2), ()]
# Two zeros in the first row, one in the others; the columns have 0, 1 and 2.
_ZEROS = np.array([[1.2, 0.0, 0.0, -0.7], [0.8, 1.5, 0.0, 1.1], [0.6, -1.3, 0.9, 0.0]])

_OPTIONS: dict[str, list[dict[str, Any]]] = {
    **{op: [{}] for op in ("sum", "prod", "mean", "max", "min", "logsumexp")},
    "var": [{}, {"ddof": 1}],
    "std": [{}, {"ddof": 1}],
    "norm": [{}, *[{"ord": p} for p in (1, 3, 1.5, math.inf, 0.5, -2, -math.inf, 0)]],
}
_SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((), None), ((), ()), ((), 0), ((1,), None), ((4,), -1), ((0, 3), 1), ((3, 1), 1),
]  # fmt: skip


def _reduction(op: str) -> list[Case]:
    make = factors if op == "prod" else spaced
    over_axes = [
        case(op, make(2, 3, 4), axis=axis, keepdims=keepdims, **options)
        for options, axis, keepdims in product(_OPTIONS[op], _AXES, (False, True))
        if (axis, options) != ((), {"ddof": 1})
    ]
    refused = op in ("mean", "var", "std")  # by NumPy, over axis 0 of one number
    return over_axes + [
        case(op, spaced(*shape), axis=axis)
        for shape, axis in _SHAPES
        if not (refused and (shape, axis) == ((), 0))
    ]


def _scan(op: str) -> list[Case]:
    arrays = (factors(2, 3, 4), _ZEROS, normal(0, 3), normal(3, 0))
    return [
        *[case(op, x, axis=axis) for axis, x in product((None, 0, 1, -1), arrays)],
        *[case(op, factors(n), 0) for n in (1, 2, 5, 8, 9)],
        *[case(op, factors(), axis) for axis in (None, 0)],
    ]


def _softmax(op: str) -> list[Case]:
    return [
        *[case(op, normal(2, 3, 4), axis=axis) for axis in (-1, 0, 1, -2)],
        *[case(op, normal(*shape)) for shape in ((0, 3), (3, 0))],
    ]


_GONE = np.array([[True, False, False], [False, True, True]])[..., None]
_COUNTED = np.array([[1, 4, 2], [0, 4, 5]])


def _holed(op: str, axis: Any) -> Case:
    call = lambda m, x: getattr(m, op)(m.where(_GONE, np.nan, x), axis=axis)
    return Case(op, f"beside NaN over {axis}", call, (normal(2, 3, 2),))


def _histogram(**options: Any) -> Case:
    call = lambda m, w: m.histogram(_COUNTED, weights=w, **options)[0]
    return Case("histogram", f"weights, {options}", call, (normal(2, 3),))


def _extremes_so_far(op: str, x: np.ndarray, axis: int) -> Case:
    call = lambda m, x: getattr(m, op)(x, axis)[0]
    return Case(op, f"{tuple(x.shape)} along {axis}", call, (x,))


CASES: list[Case] = [
    *[found for op in _OPTIONS for found in _reduction(op)],
    *[case(op, normal(0, 3), axis=axis) for op in ("sum", "prod") for axis in (None, 0, -1)],
    case("sum", normal(2, 3), axis=np.int64(1)),
    case("norm", spaced(2, 3), 4, axis=1),
    *[case("prod", x, axis=axis, name=f"beside zeros over {axis}")
      for axis, x in product((None, 0, 1, (0, 1)), (_ZEROS, _ZEROS[:2, :2]))],
    *[case("median", spaced(2, 3, 4), axis=axis, keepdims=keepdims)
      for axis, keepdims in product([None, 0, -1, 1, *_AXES[3:6]], (False, True))],
    case("median", spaced()),
    *[case("median", spaced(*shape), -1) for shape in ((1,), (4,), (5,), (3, 1), (0, 3))],
    *[found for op in ("softmax", "log_softmax") for found in _softmax(op)],
    *[found for op in ("cumsum", "cumprod") for found in _scan(op)],
    *[case("diff", normal(2, 3, 2), n, axis) for n, axis in product((0, 1, 2, 5), (0, 1, -1))],
    case("diff", normal(5)),
    case("diff", normal(0, 2), axis=0),
    Case("diff", "between tensors",
         lambda m, x, before, after: m.diff(x, prepend=before, append=after),
         (normal(2, 3), normal(2, 2), normal(2, 1))),
    case("diff", normal(2, 3), axis=0, prepend=0.5, append=-1),
    *[
        found
        for op, axis in product(("nansum", "nanmean"), (None, 1, (0, -1)))
        for found in (case(op, normal(2, 3, 2), axis=axis, keepdims=axis == 1), _holed(op, axis))
    ],
    *[case("nansum", normal(*shape)) for shape in ((), (0, 3))],
    *[case("nanmean", normal(*shape), -1) for shape in ((0, 3), (3, 1))],
    *[case("quantile", spaced(2, 3, 4), q, axis=axis)
      for q, axis in product((0.3, 1, [0.5, 0.25, 0.9]), (None, 1, (0, -1)))],
    *[
        case("quantile", spaced(5, 2), 0.34, axis=0, keepdims=True, method=method)
        for method in ("lower", "higher", "midpoint", "nearest", "hazen", "inverted_cdf", "weibull")
    ],
    *[case("quantile", spaced(*shape), [0.2, 0.5], -1) for shape in ((0, 3), (1,))],
    case("quantile", spaced(), 0.5),
    *[case("bincount", np.array([0, 3, 3, 1]), normal(4), minlength=n) for n in (0, 7)],
    case("bincount", np.zeros(0, int), normal(0), 2),
    *[_histogram(bins=bins) for bins in (3, [0, 2, 5])],
    _histogram(bins=2, range=(1.0, 4.0), density=True),
    *[
        Case("cdist", f"{a}{b} {p}", lambda m, a, b, p=p: m.cdist(a, b, p),
             (normal(*a), normal(*b)))
        for a, b, p in [
            ((2, 3), (4, 3), 2.0), ((2, 3), (4, 3), 1), ((2, 3), (4, 3), 3),
            ((1, 2), (3, 2), math.inf),
            ((2, 2, 3), (4, 3), 2.0), ((2, 1, 2, 1), (3, 2, 1), 2.0), ((0, 3), (2, 3), 2.0),
        ]
    ],
    *[case("logcumsumexp", x, axis)
      for axis, x in product((0, -1), (normal(2, 5), normal(9), normal(0, 3), normal(3, 0)))],
    *[_extremes_so_far(op, x, axis) for op, axis, x in
      product(("cummax", "cummin"), (0, -1), (spaced(3, 4), spaced(5), normal(0, 3)))],
]  # fmt: skip
