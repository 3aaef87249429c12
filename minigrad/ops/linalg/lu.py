"""LU decompositions with exchanged rows, and the systems of equations that they solve."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.autograd.engine import detach
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import shape_of, widened, within_rule
from minigrad.ops.casting import as_tensor, astype
from minigrad.ops.diagonals import tril, triu
from minigrad.ops.linalg._matrices import mT, no_matrix, which
from minigrad.ops.linalg.results import LUFactorExResult, LUFactorResult, LUResult, UnpackedLU
from minigrad.ops.linalg.solving import _solve_triangular, solve_triangular
from minigrad.ops.products import matmul

__all__ = ["lu", "lu_factor", "lu_factor_ex", "lu_solve"]


@primitive(
    multiple_outputs=True, arrays=1, float_inputs=True, promote=("x",), explain_error=no_matrix
)
def _lu(x: Any, check_errors: bool) -> Any:
    """Eliminate column by column, in all matrices of a stack at once."""
    *batch, m, n = x.shape
    rows, k = np.array(widened(x)).reshape(math.prod(batch), m, n), min(m, n)
    pivots, every = np.empty((len(rows), k), np.int32), np.arange(len(rows))
    for i in range(k):
        chosen = i + np.abs(rows[:, i:, i]).argmax(1)
        pivots[:, i] = chosen + 1
        rows[every, chosen], rows[:, i] = rows[:, i].copy(), rows[every, chosen]
        pivot = rows[:, i, i, None]
        rows[:, i + 1 :, i] /= np.where(pivot == 0, 1, pivot)
        rows[:, i + 1 :, i + 1 :] -= rows[:, i + 1 :, i, None] * rows[:, None, i, i + 1 :]
    factors = rows.reshape(x.shape).astype(x.dtype, copy=False)
    before_zero = np.cumprod(np.diagonal(factors, 0, -2, -1) != 0, -1).sum(-1)
    info = np.where(before_zero == k, 0, before_zero + 1).astype(np.int32)
    if check_errors and info.any():
        raise np.linalg.LinAlgError(f"{which(info)} is singular; lu and lu_factor_ex accept it")
    return factors, pivots.reshape(*batch, k), info


@primitive(arrays=1)
def _permutation(pivots: Any, size: int) -> Any:
    """The matrix P of ones and zeros that undoes the exchanges; `pivots` counts rows from 1."""
    if pivots.dtype.kind not in "iu" or ((pivots < 1) | (pivots > size)).any():
        raise ValueError(f"pivots must be integers from 1 to {size}, got {pivots}")
    order = np.tile(np.arange(size), (*pivots.shape[:-1], 1))
    for *batch, i in np.ndindex(pivots.shape):
        row, other = order[tuple(batch)], pivots[(*batch, i)] - 1
        row[[i, other]] = row[[other, i]]
    return order[..., None, :] == np.arange(size)[:, None]


def _lu_x(g: Any, out: Any) -> Any:
    """``P L⁻ᵀ (tril(Lᵀ g_L, -1) + triu(g_U Uᵀ)) U⁻ᵀ``, for the square parts of L and U.

    In a longer matrix the rows below are ``A U⁻¹``, in a wider one the columns beside ``L⁻¹ A``.
    """
    g, (factors, pivots, _) = g[0], out
    m, n = factors.shape[-2:]
    k = min(m, n)
    turned = mT(factors[..., :k, :k])
    solve = functools.partial(within_rule, _solve_triangular, turned)
    by_l = True, True, True  # Lᵀ is an upper one, on the left, with ones on its diagonal
    by_u = False, False, False
    beside, below = solve(g[..., :k, k:], *by_l), solve(g[..., k:, :k], *by_u)
    grad_l = g[..., :k, :k] - beside @ mT(factors[..., :k, k:])  # counts below its diagonal
    grad_u = g[..., :k, :k] - mT(factors[..., k:, :k]) @ below  # counts on and above its diagonal
    inner = np.tril(grad_l + np.triu(turned, 1) @ grad_l, -1) + np.triu(grad_u @ np.tril(turned))
    corner = solve(solve(inner, *by_u), *by_l)
    found = np.concatenate([corner, below] if m > n else [corner, beside], -2 if m > n else -1)
    return within_rule(_permutation, pivots, m).astype(g.dtype) @ found


_lu.defvjp(x=_lu_x)


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> LUFactorExResult:
    """Compute the LU decomposition in its packed form, and say where U has a zero.

    Args:
        A: Shape (..., m, n).
        pivot: True: rows are always exchanged.
        check_errors: Whether a zero on the diagonal of U is an error.

    Returns:
        `LU` of shape (..., m, n), U with the part of L below its diagonal; `pivots` of shape (...,
        min(m, n)), int32: the row, counted from 1, with which each row was exchanged; and `info` of
        shape (...): 0, or the number of the first zero on the diagonal of U.

    Raises:
        ValueError: `pivot` is false, or `A` is not a matrix.

    Source: PyTorch 2.13, "torch.linalg.lu_factor_ex".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.lu_factor_ex(minigrad.ones(2, 2)).info.item()
        2
    """
    if not pivot:
        raise ValueError("pivot=False is not there: rows are exchanged, pass pivot=True")
    factors, *places = _lu(A, check_errors)
    return LUFactorExResult(factors, *map(detach, places))


def lu_factor(A: Any, *, pivot: bool = True) -> LUFactorResult:
    """Compute the LU decomposition in its packed form, which `lu_solve` and `lu_unpack` read.

    Returns:
        `LU` and `pivots`, as in `lu_factor_ex`.

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular. ValueError: As in `lu_factor_ex`.

    Source: PyTorch 2.13, "torch.linalg.lu_factor".

    Example:
        >>> import minigrad
        >>> factors, pivots = minigrad.linalg.lu_factor(minigrad.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> factors.tolist(), pivots.tolist()
        ([[4.0, 4.0], [0.25, 1.0]], [2, 2])
    """
    return LUFactorResult(*lu_factor_ex(A, pivot=pivot, check_errors=True)[:2])


def lu(A: Any, *, pivot: bool = True) -> LUResult:
    """Decompose ``A = P @ L @ U`` into a permutation, a lower and an upper triangular matrix.

    Args:
        A: Shape (..., m, n).
        pivot: True: rows are always exchanged.

    Returns:
        With ``k = min(m, n)``: `P` of shape (..., m, m), `L` of shape (..., m, k) with ones on its
        diagonal, and `U` of shape (..., k, n).

    Source: PyTorch 2.13, "torch.linalg.lu".

    Example:
        >>> import minigrad
        >>> P, L, U = minigrad.linalg.lu(minigrad.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> L.tolist(), (P @ L @ U).tolist()
        ([[1.0, 0.0], [0.25, 1.0]], [[1.0, 2.0], [4.0, 4.0]])
    """
    return LUResult(*lu_unpack(*lu_factor_ex(A, pivot=pivot)[:2]))


def lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> UnpackedLU:
    """Make the three factors of what `linalg.lu_factor` gives.

    Args:
        LU_data: The packed factors, of shape (..., m, n).
        LU_pivots: The exchanges of rows, of shape (..., min(m, n)).
        unpack_data: Whether to make L and U; otherwise they are empty.
        unpack_pivots: Whether to make P; otherwise it is empty.

    Returns:
        `P`, `L` and `U`, as `linalg.lu` gives them.

    Source: PyTorch 2.13, "torch.lu_unpack".

    Example:
        >>> import minigrad
        >>> A = minigrad.tensor([[1.0, 2.0], [4.0, 4.0]])
        >>> minigrad.lu_unpack(*minigrad.linalg.lu_factor(A)).P.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    m, n = shape_of(LU_data)[-2:]
    k, data = min(m, n), as_tensor(LU_data)
    P = L = U = leaf_of(np.zeros(0, data.dtype), False)
    if unpack_data:
        L, U = tril(data[..., :k], -1) + np.eye(m, k, dtype=data.dtype), triu(data[..., :k, :])
    if unpack_pivots:
        P = astype(_permutation(LU_pivots, m), data.dtype)
    return UnpackedLU(P, L, U)


def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """Solve ``A @ X = B`` for `X`, given what `lu_factor` makes of `A`.

    Args:
        LU: Shape (..., n, n).
        pivots: Shape (..., n).
        B: Shape (..., n, k), or (..., k, n) if not `left`. The leading axes broadcast.
        left: Whether `A` is on the left; otherwise ``X @ A = B`` is solved.
        adjoint: Take the transpose of `A`.

    Returns:
        The shape of `B`, with the broadcast leading axes.

    Raises:
        numpy.linalg.LinAlgError: `A` is singular, or not square.
        ValueError: The shapes do not fit.

    Source: PyTorch 2.13, "torch.linalg.lu_solve".

    Example:
        >>> import minigrad
        >>> A = minigrad.tensor([[0.0, 2.0], [4.0, 0.0]])
        >>> minigrad.linalg.lu_solve(*minigrad.linalg.lu_factor(A), minigrad.ones(2, 1)).tolist()
        [[0.25], [0.5]]
    """
    if not left:
        return mT(lu_solve(LU, pivots, mT(as_tensor(B)), adjoint=not adjoint))
    data = as_tensor(LU)
    P = astype(_permutation(pivots, data.shape[-1]), data.dtype)
    if adjoint:
        right = solve_triangular(mT(data), B, upper=False)
        return matmul(P, solve_triangular(mT(data), right, upper=True, unitriangular=True))
    right = solve_triangular(data, matmul(mT(P), B), upper=False, unitriangular=True)
    return solve_triangular(data, right, upper=True)
