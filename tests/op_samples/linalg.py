"""Linear algebra. The call itself makes random matrices regular, whatever their numbers."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from op_samples.case import Case, Draw, case

_draw = Draw(5)
spaced = _draw.spaced


def _matrix(*shape: int) -> np.ndarray:
    """Normal numbers that depend on the shape alone."""
    return np.asarray(np.random.default_rng([19, *shape]).standard_normal(shape))


def _apart(*shape: int) -> np.ndarray:
    """The matrix that makes a random one regular if added, with singular values far apart."""
    out = np.zeros(shape, int)
    for i in range(min(shape)):
        out[i, i] = 5 * (i + 1) * (-1) ** i
    return out


def _regular(m: Any, x: Any) -> Any:
    return m.add(x, _apart(*x.shape[-2:]))


def _symmetric(m: Any, x: Any) -> Any:
    return _regular(m, m.add(x, m.swapaxes(x, -1, -2)))


def _definite(m: Any, x: Any) -> Any:
    return m.add(_symmetric(m, x), 40 * np.eye(x.shape[-1], dtype=int))


def _with_sign(m: Any, vectors: Any, signed: Any) -> Any:
    """Vectors whose sign, which an algorithm may choose, is that of `signed`."""
    return m.multiply(vectors, m.sign(signed))


def _eigh(m: Any, x: Any, triangle: str = "L") -> Any:
    values, vectors = m.linalg.eigh(_symmetric(m, x), triangle)
    return [values, _with_sign(m, vectors, vectors[..., :1, :])]


def _svd(m: Any, x: Any) -> Any:
    u, s, vh = m.linalg.svd(_regular(m, x), full_matrices=False)
    return [_with_sign(m, u, u[..., :1, :]), s, _with_sign(m, vh, vh[..., :, :1])]


def _qr(m: Any, x: Any) -> Any:
    q, r = m.linalg.qr(_regular(m, x))
    diagonal = m.diagonal(r, 0, -2, -1)
    return [_with_sign(m, q, diagonal[..., None, :]), _with_sign(m, r, diagonal[..., :, None])]


def _of(op: str, name: Any, call: Callable[..., Any], *shapes: tuple[int, ...]) -> Case:
    return Case(f"linalg.{op}", f"{name}", call, tuple(_matrix(*shape) for shape in shapes))


_SQUARES: list[tuple[int, ...]] = [(3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2)]
_RECTANGLES: list[tuple[int, ...]] = [
    (3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 3), (3, 1), (0, 2, 3),
]  # fmt: skip
_OF_SQUARES: dict[str, Callable[..., Any]] = {
    "inv": lambda m, x: m.linalg.inv(_regular(m, x)),
    "det": lambda m, x: m.linalg.det(_regular(m, x)),
    "slogdet": lambda m, x: m.linalg.slogdet(_regular(m, x))[1],
    "cholesky": lambda m, x: m.linalg.cholesky(_definite(m, x)),
    "eigh": _eigh,
    "eigvalsh": lambda m, x: m.linalg.eigvalsh(_symmetric(m, x)),
    "matrix_exp": lambda m, x: m.linalg.matrix_exp(x),
    "matrix_power": lambda m, x: m.linalg.matrix_power(x, 3),
}
_OF_RECTANGLES: dict[str, Callable[..., Any]] = {
    "lu": lambda m, x: m.linalg.lu(_regular(m, x))[1:],
    "lu_factor": lambda m, x: m.linalg.lu_factor(_regular(m, x))[0],
    "lu_factor_ex": lambda m, x: m.linalg.lu_factor_ex(_regular(m, x))[0],
    "qr": _qr,
    "svd": _svd,
    "svdvals": lambda m, x: m.linalg.svdvals(_regular(m, x)),
    "pinv": lambda m, x: m.linalg.pinv(_regular(m, x)),
}
_STACK = (2, 3, 3)
_SINGULAR = {
    "rank 2 of 3": np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 2.0], [1.5, 1.0, 1.0]]),
    "rank 1 of 3": np.outer([1.0, -2.0, 0.5], [0.4, 1.0, -1.0]),
    "rank 0 of 2": np.zeros((2, 2)),
    "ranks 0, 1 and 2": np.array([np.zeros((2, 2)), [[1.0, 2.0], [2.0, 4.0]], [[1, 2], [3, 5]]]),
}
_SYSTEMS: list[Any] = [
    ((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1)),
    ((2, 1, 2, 2), (3, 2, 2)), ((1, 1), (1,)), ((0, 0), (0,)), ((2, 2), (2, 0)),
    ((0, 2, 2), (2, 1)),
]  # fmt: skip
_LEAST_SQUARES: list[Any] = [
    ((4, 2), (4,), 0), ((4, 2), (4, 3), 0), ((2, 4), (2,), 0), ((3, 3), (3, 1), 0),
    ((4, 2), (4,), 1), ((4, 2), (4, 3), 1),
]  # fmt: skip
_CHAINS: list[Any] = [
    ((2, 3), (3, 4)), ((2, 3), (3, 1), (1, 4)), ((3,), (3, 2), (2,)),
    ((3,), (3, 4), (4, 2), (2, 3)), ((2, 4), (4, 1), (1, 3), (3, 2), (2,)), ((0, 2), (2, 3)),
]  # fmt: skip
_ORDERS: list[Any] = ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf]
_NORMS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 3), {}), ((2, 2, 3), {"keepdims": True}), ((), {}), ((3, 2), {"ord": 1}),
    ((3,), {"ord": -1}), ((2, 3, 2), {"axis": 1}),
    ((2, 3, 2), {"axis": 1, "ord": 3, "keepdims": True}), ((2, 3, 2), {"axis": (0, 1)}),
    ((2, 3, 2), {"axis": (0, 2), "ord": "nuc"}),
    ((2, 3, 2), {"axis": (2, 0), "ord": 1, "keepdims": True}),
    ((2, 3, 2), {"axis": (-1, 1), "ord": -math.inf}),
]  # fmt: skip


def _power(n: int) -> Case:
    call = lambda m, x: m.linalg.matrix_power(_regular(m, x) if n < 0 else x, n)
    return _of("matrix_power", n, call, _STACK)


def _least_squares(a: tuple[int, ...], b: tuple[int, ...], part: int) -> Case:
    call = lambda m, a, b: m.linalg.lstsq(_regular(m, a), b)[part]
    return _of("lstsq", f"{a}{b}, part {part}", call, a, b)


def _matrix_norm(shape: tuple[int, ...], ord: Any, **options: Any) -> Case:
    call = lambda m, x: m.linalg.matrix_norm(_regular(m, x), ord=ord, **options)
    return _of("matrix_norm", f"{ord} of {shape} {options}", call, shape)


def _triangular(a: Any, b: Any, upper: bool, left: bool, unitriangular: bool) -> Case:
    options = {"upper": upper, "left": left, "unitriangular": unitriangular}
    call = lambda m, a, b: m.linalg.solve_triangular(_regular(m, a), b, **options)
    return _of("solve_triangular", f"{a}{b}, {options}", call, a, b)


def _cond(p: Any) -> Case:
    return _of("cond", p, lambda m, x: m.linalg.cond(_regular(m, x), p), _STACK)


CASES: list[Case] = [
    *[_of(op, shape, call, shape) for shape in _SQUARES for op, call in _OF_SQUARES.items()],
    _of("cholesky", "upper", lambda m, x: m.linalg.cholesky(_definite(m, x), upper=True), _STACK),
    _of("eigh", "U", lambda m, x: _eigh(m, x, "U"), _STACK),
    _of("eigvalsh", "U", lambda m, x: m.linalg.eigvalsh(_symmetric(m, x), "U"), _STACK),
    *[_power(n) for n in (-2, -1, 0, 1, 2, 5)],
    *[case("linalg.det", x, name=name) for name, x in _SINGULAR.items()],
    *[_of("solve", f"{a}{b}", lambda m, a, b: m.linalg.solve(_regular(m, a), b), a, b)
      for a, b in _SYSTEMS],
    *[_of("lu_solve", f"{a}{b}",
          lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(_regular(m, a)), b), a, b)
      for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)))],
    *[_of(op, shape, call, shape) for shape in _RECTANGLES for op, call in _OF_RECTANGLES.items()],
    _of("pinv", "rank 2 throughout",
        lambda m, a, b: m.linalg.pinv(m.matmul(_regular(m, a), _regular(m, b))), (4, 2), (2, 3)),
    *[_least_squares(*system) for system in _LEAST_SQUARES],
    *[case("linalg.multi_dot", [_matrix(*shape) for shape in chain]) for chain in _CHAINS],
    *[_matrix_norm(*call) for call in product([(3, 3), (2, 2, 3), (3, 2)], _ORDERS)],
    *[_matrix_norm((2, 3, 2), ord, keepdims=True) for ord in _ORDERS],
    *[case("linalg.vector_norm", spaced(3, 2), ord=ord, axis=axis)
      for ord, axis in product((0.5, 1, 2, 3, -1, -2.5, math.inf, -math.inf), (None, 0))],
    case("linalg.vector_norm", spaced(2, 2, 3), ord=0.5, axis=(0, 2), keepdims=True),
    *[case("linalg.norm", _matrix(*shape), **options) for shape, options in _NORMS],
    *[_cond(p) for p in (None, 2, -2, "fro", 1, -1, math.inf)],
    _of("cond", "wide", lambda m, x: m.linalg.cond(_regular(m, x)), (2, 3)),
    _triangular((3, 3), (3, 2), True, True, False),
    _triangular((3, 3), (3, 2), False, True, True),
    _triangular((3, 3), (2, 3), False, False, False),
    _triangular((2, 3, 3), (3, 1), False, True, False),
    _triangular((3, 3), (2, 1, 3), True, False, True),
    _triangular((0, 0), (0, 2), True, True, False),
    _triangular((0, 2, 2), (2, 1), True, True, False),
]  # fmt: skip
