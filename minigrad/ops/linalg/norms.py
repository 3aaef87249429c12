"""Norms as in numpy.linalg, condition numbers, ranks, and least squares."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops import elementwise, reductions
from minigrad.ops._numerics import Axis, array_of, kept_shape, shape_of, widened
from minigrad.ops.casting import floating
from minigrad.ops.elementwise import square, subtract
from minigrad.ops.indexing import getitem
from minigrad.ops.linalg._matrices import mT, no_matrix, no_square, not_finite, singular
from minigrad.ops.linalg.factors import svdvals
from minigrad.ops.linalg.results import LstsqResult
from minigrad.ops.linalg.solving import inv
from minigrad.ops.products import matmul
from minigrad.ops.selection import where
from minigrad.ops.shapes import moveaxis, ravel, reshape

__all__ = ["cond", "lstsq", "matrix_norm", "matrix_rank", "norm", "pinv", "vector_norm"]

Order = Literal["fro", "nuc"] | float


def norm(x: Any, ord: Order | None = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Compute the norm of a vector or a matrix, as in `numpy.linalg.norm`.

    `minigrad.linalg.norm` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if axis is None and ord is None:
        return reductions.norm(x, 2, None, keepdims)
    shape = shape_of(x)
    given = tuple(range(len(shape))) if axis is None else axis
    axes = normalize_axis_tuple(given, len(shape), "norm")
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(
            f"norm: one axis or two expected, got {len(axes)} of shape {shape}; vector_norm takes "
            f"any number of axes"
        )
    found = matrix_norm(moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return reshape(found, kept_shape(shape, axes)) if keepdims else found


def vector_norm(x: Any, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Compute the vector norm over axes: ``sum(abs(x) ** ord) ** (1 / ord)``.

    `minigrad.linalg.vector_norm` says more, and has PyTorch's arguments; these are NumPy's.
    """
    return reductions.norm(x, ord, axis, keepdims)


def matrix_norm(x: Any, *, keepdims: bool = False, ord: Order = "fro") -> Tensor:
    """Compute the norm of a matrix, or of each in a stack.

    `minigrad.linalg.matrix_norm` says more, and has PyTorch's arguments; these are NumPy's.
    """
    shape = shape_of(x)
    if reason := no_matrix(x):
        raise ValueError(f"matrix_norm: {reason}")
    if isinstance(ord, str):
        greatest, known = False, ord in ("fro", "nuc")
    else:
        greatest, known = ord > 0, abs(ord) in (1, 2, np.inf)
    if not known:
        raise ValueError(
            f'matrix_norm: ord must be "fro", "nuc", 1, -1, 2, -2, inf or -inf, got {ord!r}'
        )
    if ord == "fro":
        return reductions.norm(x, 2, (-2, -1), keepdims)
    if ord == "nuc" or abs(ord) == 2:
        parts = svdvals(x)
    else:
        parts = reductions.sum(elementwise.abs(floating(x)), axis=-2 if abs(ord) == 1 else -1)
    if ord == "nuc" or (greatest and 0 in shape[-2:]):
        found = reductions.sum(parts, axis=-1)  # the maximum of an empty axis is 0
    else:
        found = (reductions.max if greatest else reductions.min)(parts, axis=-1)
    return reshape(found, (*shape[:-2], 1, 1)) if keepdims else found


def cond(A: Any, p: Order | None = None) -> Tensor:
    """Compute the condition number: the factor by which a matrix can enlarge relative errors.

    Args:
        A: Shape (..., m, n); square unless `p` is None, 2 or -2.
        p: None or 2 for the largest singular value divided by the smallest, -2 for the inverse; any
            other order of `matrix_norm` for ``norm(A) * norm(inv(A))``.

    Returns:
        Shape (...); inf for singular matrices.

    Raises:
        ValueError: There is no such matrix norm, or `A` is not a matrix, or is empty.

    Example:
        >>> import minigrad
        >>> minigrad.linalg.cond(minigrad.tensor([[1.0, 0.0], [0.0, 4.0]]))
        tensor(4.)
    """
    shape = shape_of(A)
    reason = no_matrix(A) if p is None or p in (2, -2) else no_square(A)
    if reason or 0 in shape[-2:]:
        raise ValueError(f"cond: {reason or f'the matrix is empty: shape {shape}'}")
    if p is None or p in (2, -2):
        values = svdvals(A)
        top, bottom = values[..., 0], values[..., -1]
        if p == -2:
            top, bottom = bottom, top
        bad = array_of(bottom) == 0
        return where(bad, np.inf, top / where(bad, 1, bottom))
    bad = singular(np.asarray(array_of(A)))
    safe = where(bad[..., None, None], np.eye(shape[-1], dtype=bool), A)
    return where(bad, np.inf, matrix_norm(safe, ord=p) * matrix_norm(inv(safe), ord=p))


@primitive(numpy=np.linalg.matrix_rank, arrays=1, float_inputs=True, promote=("x",))
def matrix_rank(x: Any, tol: float | None = None, *, rtol: float | None = None) -> Any:
    """Count the singular values that are not zero. Not differentiable.

    `minigrad.linalg.matrix_rank` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if tol is None and rtol is None and x.ndim > 1:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    if x.ndim > 1 and (reason := not_finite(x)):
        raise np.linalg.LinAlgError(reason)
    return np.linalg.matrix_rank(widened(x), tol, rtol=rtol)


@primitive(numpy=np.linalg.pinv, arrays=1, float_inputs=True)
def pinv(x: Any, rtol: Any = None) -> Any:
    """Compute the pseudo-inverse of Moore and Penrose, of a matrix or of each in a stack.

    `minigrad.linalg.pinv` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if reason := no_matrix(x) or not_finite(x):
        raise np.linalg.LinAlgError(reason)
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    if (np.asarray(rtol) < 0).any():
        raise ArgumentError(f"rtol must be at least 0, got {rtol!r}")
    return np.linalg.pinv(widened(x), rcond=rtol).astype(x.dtype, copy=False)


def _pinv_x(g: Any, x: Any, out: Any) -> Any:
    p, q, h = out, mT(out), mT(g)
    left = h - x @ (p @ h)  # (1 - x p) gᵀ
    right = h - (h @ p) @ x  # gᵀ (1 - p x)
    return left @ (p @ q) + (q @ p) @ right - q @ g @ q


def lstsq(a: Any, b: Any, rcond: float | None = None) -> LstsqResult:
    """Compute the least-squares solution of ``a @ x = b``, of several the one with the least norm.

    `minigrad.linalg.lstsq` says more, and has PyTorch's arguments; these are NumPy's.
    """
    left, right = shape_of(a), shape_of(b)
    if len(left) != 2 or len(right) not in (1, 2) or left[0] != right[0]:
        raise ValueError(f"lstsq: a (m, n) and b (m,) or (m, k) expected, got {left} and {right}")
    solution = matmul(pinv(a, rcond), b)
    rank = matrix_rank(a, rtol=rcond)
    if left[1] == int(rank) < left[0]:
        squares = square(subtract(matmul(a, solution), b))
        residuals = ravel(reductions.sum(squares, axis=0))
    else:
        residuals = getitem(ravel(solution), slice(0))
    return LstsqResult(solution, residuals, rank, svdvals(a))


pinv.defvjp(x=_pinv_x)
