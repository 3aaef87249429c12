"""Ops that read, write, gather and sort elements."""

import math
from itertools import product
from typing import Any

import numpy as np

from op_samples.case import Case, Draw, case

_draw = Draw(3)
normal, spaced = _draw.normal, _draw.spaced

_MASK = np.array([[True, False, True, False], [False, True, True, False], [True] * 4])

# Indices of an array of shape (3, 4, 5).
INDICES: dict[str, Any] = {
    "int": 1, "negative int": -1, "numpy int": np.int64(1), "slice": slice(1, None),
    "step": slice(None, None, 2), "negative step": slice(None, None, -1),
    "negative step from the end": (slice(None), slice(-1, 0, -2)), "empty slice": slice(2, 2),
    "ellipsis": ..., "ellipsis int": (..., 1), "None": None,
    "None mixed": (None, 1, None, ..., None), "ints": (1, 2, 3), "empty tuple": (),
    "int array": np.array([0, 2]), "repeated": np.array([0, 0, 1]), "list": [2, 0, 0],
    "negative ints": np.array([-1, 2, -3]), "empty list": [],
    "2-d int array": np.array([[0, 2], [2, 0]]), "array of int8": np.array([0, 2, 2], np.int8),
    "array after a slice": (slice(None), np.array([0, 0, 3])),
    "array after an ellipsis": (..., np.array([1, 1])),
    "pair": (np.array([0, 0, 2]), np.array([1, 1, 3])),
    "broadcast pair": (np.array([[0], [2]]), np.array([1, 1, 3])),
    "pair apart": (np.array([0, 0]), slice(None), np.array([1, 1])),
    "pair apart with None": (np.array([0, 0]), None, slice(None), np.array([4, 4])),
    "array and int": (np.array([0, 0, 2]), 1), "int and array": (1, slice(None), np.array([0, 0])),
    "slice, None, array, ellipsis": (slice(1, None), None, np.array([0, 0, 3]), ...), "mask": _MASK,
    "mask of one axis": np.array([True, False, True]),
    "mask in the middle": (slice(None), np.array([True, False, False, True])),
    "mask and ints": (np.array([True, False, True]), np.array([3, 3])),
    "empty mask": np.zeros(3, bool), "list of bools": [True, False, True], "True": True,
    "tuple of tuples": ((0, 0, 2), (1, 1, 3)), "nested list": ([[0, 0], [1, 1]],),
    "range": range(2), "tuple in a tuple": ((0, 0, 1),), "0-d array": np.array(1),
}  # fmt: skip
_OF_ONE_NUMBER: dict[str, Any] = {"()": (), "...": ..., "None": None, "True": True}
_BROADCAST_VALUES: list[tuple[Any, tuple[int, ...]]] = [
    (slice(1, None), ()), ((slice(None), [0, 0]), (5,)), (0, (1, 1, 4, 5)), ((0, 0), (1, 1)),
    (_MASK, (1,)),
]  # fmt: skip
_SCATTERED = ("int", "repeated", "pair", "negative step", "2-d int array", "mask")
_TAKEN: list[tuple[Any, int | None]] = [
    ([0, 0, 2], 0), ([-1, 1, -4], 1), ([1, 1], -1), ([], 0), ([[0, 3], [3, 3]], 1), (2, 2), (1, 0),
    ([[0, 59], [0, -1]], None), (7, None),
]  # fmt: skip
_IDS = np.array([[0, 3, 3], [1, 0, 3]])
_CONDITION = np.array([[True, False, True], [False, False, True]])
_X = normal(3, 4, 5)


def _squares(shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Indices along an axis of `_X`, in no order."""
    return np.arange(math.prod(shape)).reshape(shape) ** 2 % _X.shape[axis]


def _some_negative(shape: tuple[int, ...], axis: int) -> np.ndarray:
    indices = _squares(shape, axis)
    return indices - _X.shape[axis] * (indices % 3 == 0)


def _gathers(shape: tuple[int, ...], axis: int) -> list[Case]:
    index = _squares(shape, axis)
    longer = tuple(n + 1 for n in shape)
    return [
        case("gather", _X, axis, index),
        *[case("scatter_add", _X, axis, index, normal(*src)) for src in (shape, longer)],
    ]


def _embedding(padding: int | None) -> Case:
    """A table with a padding row, less the part that its gradient leaves out."""

    def call(m: Any, weight: Any) -> Any:
        found = m.embedding(_IDS, weight, padding)
        if padding is None:
            return found
        return m.multiply(found, np.not_equal(_IDS, padding % 4)[..., None].astype(float))

    return Case("embedding", f"many, padding {padding}", call, (normal(4, 2),))


def _topk(k: int, axis: int, largest: bool, ordered: bool) -> Case:
    call = lambda m, x: m.topk(x, k, axis=axis, largest=largest, sorted=ordered)[0]
    return Case("topk", f"{k} along {axis}, {largest}, {ordered}", call, (spaced(2, 3, 4),))


_ZEROS = np.zeros((3, 4, 5))

CASES: list[Case] = [
    *[
        found
        for name, index in INDICES.items()
        for found in (
            Case("getitem", name, lambda m, x, i=index: m.getitem(x, i), (_X,)),
            Case("setitem", name, lambda m, x, v, i=index: m.setitem(x, i, v),
                 (_X, normal(*np.shape(_X[index])))),
        )
    ],
    *[case("getitem", normal(), i, name=f"{name} of 0-d") for name, i in _OF_ONE_NUMBER.items()],
    *[case("setitem", normal(), i, normal(), name=f"{name} of 0-d")
      for name, i in _OF_ONE_NUMBER.items()],
    *[case("setitem", _X, index, normal(*shape)) for index, shape in _BROADCAST_VALUES],
    case("setitem", _X, (0, [1, 1]), 2.5),
    Case("setitem", "only the value", lambda m, v: m.setitem(_ZEROS, 1, v), (normal(4, 5),)),
    Case("getitem", "nonzero", lambda m, x: m.getitem(x, m.nonzero(_CONDITION)), (normal(2, 3),)),
    Case("getitem", "where", lambda m, x: m.getitem(x, m.where(_CONDITION)), (normal(2, 3),)),
    *[case("scatter_index", normal(*_X[INDICES[name]].shape), INDICES[name], (3, 4, 5), name=name)
      for name in _SCATTERED],
    case("embedding", _IDS, normal(4, 2)),
    *[_embedding(padding) for padding in (None, 0, 3, -1)],
    case("embedding", np.array(2), normal(4, 2)),
    case("embedding", np.array([1, 255, 1], np.uint8), normal(300, 1)),
    case("embedding", np.zeros((2, 0), int), normal(4, 2)),
    *[case("take", _X, np.array(indices, int), axis) for indices, axis in _TAKEN],
    case("take", normal(), np.array([0, 0])),
    case("take", normal(0, 2), np.zeros((2, 0), int), 0),
    *[
        case("take_along_axis", _X, _some_negative(shape, axis), axis)
        for shape, axis in (
            ((3, 4, 9), -1), ((3, 2, 5), 1), ((1, 6, 1), 1), ((2, 1, 5), 0), ((3, 0, 5), 1),
        )
    ],
    case("take_along_axis", _X, np.array([5, 5, 0, -1]), None),
    case("take_along_axis", normal(1, 3), np.array([[0], [1]]), 1),
    *[
        found
        for shape, axis in (((3, 4, 9), -1), ((2, 3, 2), 1), ((7, 4, 5), 0), ((3, 0, 5), 1))
        for found in _gathers(shape, axis)
    ],
    case("gather", normal(4), 0, np.array([0, 2, 2])),
    *[case("scatter_add", normal(4), 0, np.array([0, 2, 2]), normal(n)) for n in (3, 4)],
    Case("scatter_add", "only the value",
         lambda m, src: m.scatter_add(np.zeros(4), 0, np.array([0, 2, 2]), src), (normal(3),)),
    case("unique", spaced(3, 4)),
    *[case("unique", spaced(3, 4), axis=axis) for axis in (0, -1)],
    case("unique", normal()),
    case("unique", normal(0, 2)),
    *[case("sort", spaced(2, 3, 4), axis, descending=descending)
      for axis, descending in product((-1, 0, 1, None), (False, True))],
    *[case("sort", normal(*shape)) for shape in ((1,), (0,), (2, 0), (0, 2))],
    case("sort", normal(), None),
    *[_topk(*options) for options in product((0, 1, 2), (-1, 1, 0), (True, False), (True, False))],
    *[
        case("scatter", _X, axis, _squares(index, axis), normal(*src))
        for axis, index, src in [
            (-1, (3, 4, 3), (3, 4, 3)), (1, (2, 3, 2), (3, 4, 5)), (0, (7, 1, 1), ()),
            (1, (3, 0, 5), ()),
        ]
    ],
    case("scatter", normal(4), 0, np.array([0, 3, 1]), normal(3)),
    case("scatter", normal(4), 0, np.array([0, 2, 2]), 1.5),
    *[
        case("index_add", _X, axis, np.array(index, int), normal(*shape), alpha=alpha)
        for axis, index, shape, alpha in [
            (0, [2, 0, 2], (3, 4, 5), 1), (1, [0, 0], (3, 2, 5), -0.5), (-1, [], (3, 4, 0), 2),
        ]
    ],
    case("index_add", normal(3), 0, np.array([1, 1]), normal(2)),
    case("index_fill", _X, 1, np.array([0, 2, -1]), 2.5),
    case("index_fill", _X, -1, np.array([3, 3]), normal()),
    *[
        case("scatter_reduce", spaced(3, 4, 2), axis, _squares(shape, axis) % 3,
             spaced(*(n + longer for n in shape)), how, include_self=include_self)
        for how, include_self in product(("sum", "prod", "mean", "amax", "amin"), (True, False))
        for axis, shape, longer in ((1, (3, 5, 2), 0), (0, (6, 2, 1), 1))
    ],
    *[
        case("scatter_reduce", np.array([2.0, 0.0, 3.0]), 0, np.array([0, 2, 0, 2]),
             np.array([0.0, 5.0, 0.0, 2.0]), how, include_self=include_self, name=f"of zeros {how}")
        for how, include_self in product(("prod", "mean"), (True, False))
    ],
    *[case("scatter_reduce", normal(2), 0, np.zeros(0, int), normal(0), how)
      for how in ("prod", "amax", "mean")],
]  # fmt: skip
