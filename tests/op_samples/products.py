"""Matrix products, contractions, and diagonals."""

from itertools import product
from typing import Any

from op_samples.case import Case, Draw, case

_draw = Draw(4)
normal = _draw.normal

Pairs = list[tuple[tuple[int, ...], tuple[int, ...]]]

_MATMULS: Pairs = [
    *product([(3,), (2, 3), (4, 2, 3), (2, 4, 2, 3)], [(3,), (3, 5), (4, 3, 5), (2, 4, 3, 5)]),
    ((1, 2, 3), (4, 3, 5)), ((4, 2, 3), (1, 3, 5)), ((2, 1, 2, 3), (4, 3, 5)),
    ((2, 4, 2, 3), (1, 1, 3, 5)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3, 0), (0, 4)),
    ((0, 2, 3), (3, 4)), ((0,), (0,)), ((1, 1), (1, 1)), ((4, 2, 3), (3, 0)), ((0,), (0, 2)),
    ((2, 3, 0), (2, 0, 4)),
]  # fmt: skip
_PAIRS: dict[str, Pairs] = {
    "matmul": _MATMULS,
    "dot": [*product([(), (3,), (2, 3), (4, 2, 3)], [(), (3,), (3, 5), (2, 3, 5)])],
    "inner": [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 0), (3, 0)), ((), (2, 3))],
    "outer": [((3,), (2,)), ((2, 3), (2,)), ((), (3,)), ((0,), (2,))],
    "vdot": [((3,), (3,)), ((2, 3), (6,)), ((), ()), ((0, 3), (0,))],
    "kron": [((2,), (3,)), ((2, 3), (3, 2)), ((2,), (3, 2)), ((), (2, 2)), ((0, 2), (2, 1))],
}
_ALONG_AN_AXIS: dict[str, list[Any]] = {
    "vecdot": [
        ((3,), (3,), -1), ((2, 3), (3,), -1), ((3,), (4, 1, 3), -1), ((3, 2), (3, 2), 0),
        ((2, 3, 4), (1, 3, 4), 1), ((2, 0), (2, 0), -1),
    ],
    "cross": [
        ((3,), (3,), -1), ((2, 3), (3,), -1), ((3, 2), (3, 2), 0), ((2, 3, 1), (1, 3, 4), 1),
        ((0, 3), (3,), -1),
    ],
}  # fmt: skip
_TENSORDOTS: list[Any] = [
    ((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2,), (3, 1), 0),
    ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])), ((2, 3, 4), (5, 4, 2), ([-1, 0], [1, 2])),
    ((2, 3), (4, 3), (1, -1)), ((2, 0), (0, 3), 1),
]  # fmt: skip
_EINSUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "i,i->": ((3,), (3,)), "i,j->ij": ((2,), (3,)), "ij,jk->ik": ((2, 3), (3, 4)),
    "ij,jk": ((2, 3), (3, 4)), "ij->ji": ((2, 3),), "ji": ((2, 3),), "ij->": ((2, 3),),
    "ij->j": ((2, 3),), "ii": ((3, 3),), "ii->i": ((3, 3),), "ii->": ((3, 3),),
    "iij->ij": ((3, 3, 2),), "iii->i": ((2, 2, 2),), "ii,i->i": ((3, 3), (3,)),
    "ij,ij->": ((2, 3), (2, 3)), "ij,j->i": ((2, 3), (3,)), "bij,bjk->bik": ((2, 3, 4), (2, 4, 2)),
    "...ij,...jk->...ik": ((2, 2, 3), (2, 3, 4)), "...i->...": ((2, 3, 4),),
    "...i,...i->...": ((2, 3), (3,)), "i...->...": ((2, 3),), "...,...": ((2, 3), (3,)),
    "ij,jk,kl->il": ((2, 3), (3, 2), (2, 4)), "i,i,i->": ((3,), (3,), (3,)),
    "ij,ik,il->jkl": ((3, 2), (3, 2), (3, 2)), "ij,kl->": ((2, 3), (2, 2)), ",i->i": ((), (3,)),
    ",->": ((), ()), "bhld,bhsd->bhls": ((2, 2, 3, 4), (2, 2, 2, 4)), "ij,jk->": ((0, 3), (3, 2)),
    " i j , j k -> i k ": ((2, 3), (3, 4)), "aB,Bc": ((2, 3), (3, 2)), "ij,ij->j": ((2, 3), (1, 3)),
    "ij,ij->ij": ((1, 3), (2, 1)),
}  # fmt: skip
_DIAGONALS: list[tuple[tuple[int, ...], tuple[int, int, int]]] = [
    ((3, 3), (0, 0, 1)), ((3, 4), (1, 0, 1)), ((3, 4), (-2, 0, 1)), ((2, 3, 4), (1, 2, 0)),
    ((2, 3, 3), (0, -2, -1)), ((2, 3), (5, 0, 1)), ((0, 3), (0, 0, 1)),
]  # fmt: skip
_CONSTANT = normal(3, 4)


def _diagonals(shape: tuple[int, ...], place: tuple[int, int, int]) -> list[Case]:
    x = normal(*shape)
    offset, axis1, axis2 = place
    placed = (shape, offset, axis1 % len(shape), axis2 % len(shape))
    return [
        case("diagonal", x, *place),
        case("trace", x, *place),
        case("scatter_diagonal", normal(*x.diagonal(*place).shape), *placed),
    ]


CASES: list[Case] = [
    *[case(op, normal(*a), normal(*b)) for op, pairs in _PAIRS.items() for a, b in pairs],
    Case("matmul", "x @ x", lambda m, x: m.matmul(x, x), (normal(3, 3),)),
    Case("matmul", "x @ x.T", lambda m, x: m.matmul(x, m.transpose(x)), (normal(2, 3),)),
    *[case("linear", normal(*shape), normal(4, 3), *bias)
      for shape in ((3,), (2, 3), (2, 4, 3), (2, 2, 2, 3), (0, 3), (2, 0, 3))
      for bias in ((normal(4),), ())],
    case("linear", normal(2, 3), normal(0, 3), normal(0)),
    case("linear", normal(2, 2, 0), normal(3, 0), normal(3)),
    *[case("einsum", text, *[normal(*s) for s in shapes]) for text, shapes in _EINSUMS.items()],
    Case("einsum", "x twice", lambda m, x: m.einsum("ij,kj->ik", x, x), (normal(2, 3),)),
    Case("einsum", "with a constant", lambda m, x: m.einsum("ij,jk->ik", x, _CONSTANT),
         (normal(2, 3),)),
    *[case(op, normal(*a), normal(*b), axis=axis)
      for op, calls in _ALONG_AN_AXIS.items() for a, b, axis in calls],
    *[case("tensordot", normal(*a), normal(*b), axes) for a, b, axes in _TENSORDOTS],
    Case("tensordot", "x twice", lambda m, x: m.tensordot(x, x, 1), (normal(2, 2),)),
    *[found for shape, place in _DIAGONALS for found in _diagonals(shape, place)],
]  # fmt: skip
