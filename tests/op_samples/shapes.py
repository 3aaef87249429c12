"""Ops that move elements: shapes, joins and splits, broadcasting, padding, triangles."""

from itertools import product
from typing import Any

import numpy as np

from op_samples.case import Case, Draw, case
from op_samples.elementwise import BROADCASTS

_draw = Draw(2)
normal = _draw.normal

_SHAPES: list[tuple[int, ...]] = [(2, 3), (), (0, 2), (3,), (2, 1, 3, 2)]
_RESHAPES: list[Any] = [
    ((2, 6), (3, 4)), ((2, 6), (-1,)), ((2, 6), -1), ((2, 6), (2, -1, 3)), ((), (1, 1)),
    ((1, 1), ()), ((0, 4), (2, 0)), ((6,), (2, 3)),
]  # fmt: skip
_BROADCASTS_TO: list[Any] = [
    ((3,), (2, 3)), ((2, 1), (4, 2, 3)), ((), (2, 2)), ((2, 3), (2, 3)), ((1, 3), (0, 3)), ((), ()),
]  # fmt: skip
_EXPANSIONS: list[Any] = [
    ((3, 1), (-1, 4)), ((3, 1), (2, -1, -1)), ((1, 3), (2, 3)), ((), (2, 2)), ((1,), (0,)),
    ((2, 3), (2, 3)),
]  # fmt: skip
_MOVES: list[Any] = [(0, -1), (-1, 0), (1, 1), ((0, 1), (-1, -2)), ((2, 0), (0, 1))]
_STACKS: dict[str, list[Any]] = {
    "hstack": [((2, 3), (2, 1)), ((2,), (3,)), ((), (2,)), ((0,), (2,)), ((2, 0, 1), (2, 3, 1))],
    "vstack": [((2, 3), (1, 3)), ((3,), (2, 3)), ((), ()), ((0, 2), (1, 2)),
               ((1, 2, 1), (2, 2, 1))],
    "dstack": [((2, 3), (2, 3)), ((3,), (3,)), ((), ()), ((2, 3, 0), (2, 3)),
               ((1, 2), (1, 2, 2))],
}  # fmt: skip
_SPLITS: list[Any] = [
    (3, 0), ([1, 4], 0), (2, 1), ([1], -1), ([], 0), ([-2], 0), ([4, 2], 0), (np.int64(2), 0),
]  # fmt: skip
_SPLITS_OF: dict[str, Any] = {
    "hsplit": ((4,), (2, 4)), "vsplit": ((4, 1), (4, 0, 2)), "dsplit": ((2, 1, 4),),
}  # fmt: skip
_ROLLS: list[Any] = [
    (1, None), (-2, 0), (7, -1), ((1, 2), (0, 1)), ((1, -1), (0, 0)), (1, (0, 2)), (0, 1),
    (np.array([1, 1]), [1, -1]),
]  # fmt: skip
_REPEATS: list[Any] = [
    (2, None), (2, 0), (3, -1), (0, 1), (1, 1), ([2], 1), ([1, 3], 0), ([0, 2, 1], 1),
    ([2, 0, 1, 3], -1), (np.arange(24) % 3, None),
]  # fmt: skip
_TILES: list[Any] = [
    ((2, 3), 2), ((2, 3), (2, 2)), ((2, 3), (2, 1, 3)), ((2, 3), ()), ((2, 3), (0, 2)),
    ((3,), (2, 2)), ((), (2, 2)), ((), ()), ((0, 3), (2, 2)), ((2, 0), (0, 2)),
    ((2, 1, 3), [3, 2]),
]  # fmt: skip
_WIDTHS: list[Any] = [1, (1, 2), ((0, 1), (2, 0)), ((2,), (1,)), ((5, 4), (3, 9)), 0]
_CONSTANT = normal(1, 3)


def _twice(op: str, axis: int, other: tuple[int, ...]) -> Case:
    """Three arrays joined, of which two are one and the same."""
    call = lambda m, a, b: getattr(m, op)([a, b, a], axis=axis)
    return Case(op, f"{axis}, {other}", call, (normal(2, 3), normal(*other)))


def _stack(op: str, left: tuple[int, ...], right: tuple[int, ...]) -> Case:
    call = lambda m, a, b: getattr(m, op)([a, b, a])
    return Case(op, f"{left}{right}", call, (normal(*left), normal(*right)))


def _at_least(op: str, shape: tuple[int, ...]) -> list[Case]:
    several = lambda m, x, y: m.concatenate(getattr(m, op)(x, y), axis=None)
    return [case(op, normal(*shape)), Case(op, f"{shape}, ()", several, (normal(*shape), normal()))]


def _meshgrid(shapes: tuple[tuple[int, ...], ...], indexing: str) -> Case:
    call = lambda m, *axes: m.stack(m.meshgrid(*axes, indexing=indexing))
    return Case("meshgrid", f"{shapes} {indexing}", call, tuple(normal(*s) for s in shapes))


CASES: list[Case] = [
    *[case("reshape", normal(*shape), to) for shape, to in _RESHAPES],
    *[case("transpose", normal(2, 3, 4), axes)
      for axes in (None, (0, 1, 2), (2, 0, 1), (1, 2, 0), (-1, 0, -2), [0, 2, 1])],
    case("transpose", normal()),
    *[case("swapaxes", normal(2, 3, 4), *axes) for axes in ((0, 1), (-1, -3), (1, 1), (0, -1))],
    *[case("squeeze", normal(1, 1) if axis == 0 else normal(1, 3, 1, 4), axis)
      for axis in (None, 0, -2, (0, 2), (-2, 0))],
    *[case("expand_dims", normal(2, 3), axis) for axis in (0, -1, 1, (0, 2), (-1, 1))],
    *[case("broadcast_to", normal(*shape), to) for shape, to in _BROADCASTS_TO],
    *[
        found
        for axis in (0, 1, -1, -2)
        for found in (
            _twice("concatenate", axis, (2, 5) if axis % 2 else (4, 3)),
            _twice("stack", axis, (2, 3)),
        )
    ],
    case("concatenate", [normal(0, 3), normal(2, 3)]),
    case("concatenate", [normal(1, 3), normal(2, 2)], axis=None),
    case("concatenate", [normal(2, 3)]),
    Case("concatenate", "with a constant", lambda m, a, b: m.concatenate([a, _CONSTANT, b]),
         (normal(2, 3), normal(2, 3))),
    case("stack", [normal(), normal()]),
    Case("stack", "with a constant", lambda m, a: m.stack([_CONSTANT, a], axis=-1),
         (normal(1, 3),)),
    *[_stack(op, *shapes) for op, found in _STACKS.items() for shapes in found],
    *[case("split", normal(6, 2), *cut) for cut in _SPLITS],
    *[case("array_split", normal(6, 2), *cut)
      for cut in ((4, 0), (3, 1), ([1, 4], 0), ([], -1), (5, -1))],
    *[case("unbind", normal(2, 3, 4), axis) for axis in (0, 1, -1)],
    *[case("ravel", normal(*shape)) for shape in _SHAPES],
    *[
        found
        for op in ("atleast_1d", "atleast_2d", "atleast_3d")
        for shape in _SHAPES
        for found in _at_least(op, shape)
    ],
    *[case("flatten", normal(2, 3, 4), *axes) for axes in ((), (1,), (0, 1), (-3, -2), (2, 2))],
    *[case("flatten", normal(*shape)) for shape in ((), (3,), (0, 3), (2, 0, 3))],
    *[case("moveaxis", normal(2, 3, 4), *move) for move in _MOVES],
    *[case("expand", normal(*shape), *sizes) for shape, sizes in _EXPANSIONS],
    *[Case("broadcast_arrays", f"{left}{right}",
           lambda m, a, b: m.stack(m.broadcast_arrays(a, b)), (normal(*left), normal(*right)))
      for left, right in BROADCASTS],
    *[
        _meshgrid(shapes, indexing)
        for shapes in (((2,), (3,)), ((2,),), ((2,), (3,), (4,)), ((), (3,)), ((0,), (3,)))
        for indexing in ("xy", "ij")
    ],
    *[case("flip", normal(2, 3, 4), axis) for axis in (None, 0, -1, (0, 2), (-1, 1), ())],
    case("flip", normal()),
    case("fliplr", normal(2, 3)),
    case("flipud", normal(2, 3)),
    *[case("rot90", normal(2, 3, 2), k, axes)
      for k, axes in product((0, 1, 2, 3, -1, 6), ((0, 1), (1, 0), (-1, 0)))],
    *[case("roll", normal(2, 3, 4), *roll) for roll in _ROLLS],
    case("roll", normal(), 3),
    case("roll", normal(0, 3), 1, 0),
    *[case("repeat", normal(2, 3, 4), *repeat) for repeat in _REPEATS],
    case("repeat", normal(), 3),
    case("repeat", normal(2), [0, 1]),
    case("repeat", normal(0, 3), 2, 0),
    *[case("tile", normal(*shape), reps) for shape, reps in _TILES],
    *[case("pad", normal(2, 3), width, mode)
      for width, mode in product(_WIDTHS, ("edge", "reflect", "symmetric", "wrap"))],
    *[case("pad", normal(2, 3), width) for width in _WIDTHS],
    case("pad", normal(2, 3), 2, constant_values=((1.0, 2.0), (-1.5, 3.0))),
    case("pad", normal(), 2),
    case("pad", normal(), 2, "edge"),
    case("pad", normal(0, 3), 1, constant_values=2.5),
    case("pad", normal(1), 2, "reflect"),
    *[
        case(op, normal(*shape), k)
        for shape in ((3, 3), (2, 4), (2, 4, 3), (0, 2))
        for k in (0, 1, -1, 5, -5)
        for op in ("tril", "triu")
    ],
    *[case("diag", normal(*shape), k)
      for shape, k in product(((3,), (3, 3), (2, 4), (0,), (0, 2)), (0, 1, -1, 3))],
    *[
        case("diag_embed", normal(*shape), *options)
        for shape, options in [
            ((3,), ()), ((2, 3), (1,)), ((2, 3), (-2, 0, 2)), ((2, 3), (1, -1, 0)), ((0,), (1,)),
            ((2, 0), ()),
        ]
    ],
    *[
        case(op, normal(*shape), cuts)
        for op, shapes in _SPLITS_OF.items()
        for shape, cuts in product(shapes, (2, [1, 3]))
    ],
    *[
        case("column_stack", [normal(*a), normal(*b)])
        for a, b in [
            ((2,), (2,)), ((2, 3), (2,)), ((), (1, 2)), ((0,), (0, 2)), ((2, 1, 2), (2, 3, 2)),
        ]
    ],
    *[case("unfold", normal(2, 5, 2), 1, size, step) for size, step in ((3, 1), (2, 3), (5, 2))],
    case("unfold", normal(4), -1, 2, 1),
    case("unfold", normal(0, 3), 1, 2, 1),
]  # fmt: skip
