"""Inverses, systems of linear equations, and least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.call import leaf_of
from minigrad.autograd.typing import Tensor
from minigrad.linalg.matrices import mirrored, where_possible
from minigrad.ops._numerics import shape_of, values_of
from minigrad.ops.linalg import inv, lu_factor_ex, matrix_rank, norms, svdvals
from minigrad.ops.linalg import solve as _solve
from minigrad.ops.linalg._matrices import singular
from minigrad.ops.linalg.results import InvExResult, LstsqResult, SolveExResult
from minigrad.support.checks import check_choice

__all__ = ["inv_ex", "lstsq", "pinv", "solve", "solve_ex", "tensorinv", "tensorsolve"]


def inv_ex(A: Any, *, check_errors: bool = False) -> InvExResult:
    """Compute the inverse, and say which matrices have none.

    Args:
        A: Shape (..., n, n).
        check_errors: Whether a singular matrix is an error.

    Returns:
        `inverse`, which is NaN for a singular matrix, and `info` of shape (...): 0, or the number
        of the first column that depends on those before it.

    Source: PyTorch 2.13, "torch.linalg.inv_ex".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.inv_ex(minigrad.ones(2, 2)).info.item()
        2
    """
    return InvExResult(*where_possible(A, _dependent(A, check_errors), inv))


def solve(A: Any, B: Any, *, left: bool = True) -> Tensor:
    """Solve ``A @ X = B`` for `X`, or ``X @ A = B``.

    Args:
        A: Shape (..., n, n).
        B: Shape (n,), or that of `A` without its last axis: a vector for each matrix; or (..., n,
            k), and (..., k, n) if not `left`. The leading axes broadcast.
        left: Whether `A` is on the left. Vectors are not solved from the right.

    Returns:
        The shape of `B`, with the broadcast leading axes.

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular, or not square.
        ValueError: The shapes do not fit.

    Source: PyTorch 2.13, "torch.linalg.solve".

    Example:
        >>> import minigrad
        >>> A = minigrad.tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> minigrad.linalg.solve(A, minigrad.tensor([1.0, 1.0])).tolist()
        [0.5, 0.25]
    """
    if _is_vectors(A, B):
        if not left:
            given = f"A {shape_of(A)} and B {shape_of(B)}"
            raise ValueError(f"solve: left=False expects matrices, got {given}: B[..., None, :]")
        return _solve(A, B) if len(shape_of(B)) == 1 else _solve(A, B[..., None])[..., 0]
    return _solve(A, B) if left else _turned(_solve(_turned(A), _turned(B)))


def solve_ex(
    A: Any, B: Any, *, left: bool = True, check_errors: bool = False
) -> SolveExResult:  # fmt: skip
    """Solve a system of linear equations as `solve` does, and say which matrices are singular.

    With `check_errors` a singular matrix is an error.

    Returns:
        `result`, which is NaN for a singular matrix, and `info`, as in `inv_ex`.

    Source: PyTorch 2.13, "torch.linalg.solve_ex".

    Example:
        >>> import minigrad
        >>> found = minigrad.linalg.solve_ex(minigrad.eye(2), minigrad.ones(2))
        >>> found.result.tolist(), found.info.item()
        ([1.0, 1.0], 0)
    """
    solved, axes = partial(solve, B=B, left=left), 1 if _is_vectors(A, B) else 2
    return SolveExResult(*where_possible(A, _dependent(A, check_errors), solved, axes))


def pinv(
    A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Compute the pseudo-inverse of Moore and Penrose, of a matrix or of each in a stack.

    The derivative is for changes that keep the rank (Golub and Pereyra). If the rank is not full,
    `pinv` is discontinuous in other directions, which the derivative does not show.

    Args:
        A: Shape (..., m, n).
        rcond: The same as `rtol`.
        hermitian: As in `matrix_rank`.
        atol: As in `matrix_rank`.
        rtol: As in `matrix_rank`.

    Returns:
        Shape (..., n, m).

    Raises:
        numpy.linalg.LinAlgError: `A` is not a matrix, or holds NaN or infinity. ValueError: `rtol`
        is negative.

    Source: PyTorch 2.13, "torch.linalg.pinv".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.pinv(minigrad.tensor([[2.0], [0.0]])).tolist()
        [[0.5, 0.0]]
    """
    matrices = mirrored(A) if hermitian else A
    relative = rcond if rtol is None else rtol
    if atol is not None:
        values = np.asarray(values_of(svdvals(matrices)))
        largest = np.max(values, axis=-1, initial=0.0)
        absolute = np.asarray(values_of(atol)) / np.where(largest == 0, 1, largest)
        relative = np.maximum(0.0 if relative is None else values_of(relative), absolute)
    if relative is not None:
        relative = np.asarray(values_of(relative))
        shape = shape_of(matrices)
        batch = np.broadcast_shapes(relative.shape, shape[:-2])
        if batch != shape[:-2]:
            matrices = ops.broadcast_to(matrices, (*batch, *shape[-2:]))
    return norms.pinv(matrices, relative)


def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> LstsqResult:
    """Compute the least-squares solution of ``A @ X = B``, of several the one with the least norm.

    Args:
        A: Shape (..., m, n).
        B: Shape (..., m, k); or that of `A` without its last axis: a vector for each matrix. The
            leading axes broadcast.
        rcond: Singular values up to `rcond` times the largest count as zero; by default ``max(m,
            n)`` times the precision of the dtype.
        driver: The name of a function of LAPACK, on which it depends which other results are not
            empty: for None and "gelsy" the rank, for "gels" the residuals, for "gelsd" and "gelss"
            all of them.

    Returns:
        `solution` of shape (..., n, k) or (..., n), whose derivative is that of `pinv`;
        `residuals`, the squared lengths of the columns of ``B - A @ X``, empty unless ``m > n`` and
        each matrix has full rank; `rank`; and `singular_values`.

    Raises:
        ValueError: The shapes do not fit, or the driver is unknown.

    Source: PyTorch 2.13, "torch.linalg.lstsq".

    Example:
        >>> import minigrad
        >>> A = minigrad.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> line = minigrad.linalg.lstsq(A, minigrad.tensor([1.0, 3.0, 5.0])).solution
        >>> [round(value, 4) for value in line.tolist()]
        [1.0, 2.0]
    """
    check_choice("lstsq", "driver", driver, (None, "gelsy", "gels", "gelsd", "gelss"))
    left, right = shape_of(A), shape_of(B)
    vectors = len(left) == len(right) + 1
    if len(left) < 2 or len(left) - len(right) not in (0, 1) or left[-2] != right[vectors - 2]:
        wanted = "A of shape (..., m, n) and B of shape (..., m, k) or (..., m)"
        raise ValueError(f"lstsq: {wanted} expected, got {left} and {right}")
    columns = ops.expand_dims(B, -1) if vectors else B
    solution = ops.matmul(norms.pinv(A, rcond), columns)
    rank = matrix_rank(A, rtol=rcond)
    values = svdvals(A)
    residuals = none = leaf_of(np.zeros(0, solution.dtype), False)
    full = left[-2] > left[-1] and bool((values_of(rank) == left[-1]).all())
    if full and driver not in (None, "gelsy"):
        residuals = ops.sum(ops.square(ops.matmul(A, solution) - columns), axis=-2)
    rank = leaf_of(np.zeros(0, np.int64), False) if driver == "gels" else rank
    values = values if driver in ("gelsd", "gelss") else none
    return LstsqResult(solution[..., 0] if vectors else solution, residuals, rank, values)


def tensorinv(A: Any, ind: int = 2) -> Tensor:
    """Invert a tensor as a map between the axes before `ind` and those from it on.

    Args:
        A: Tensor or array, with as many elements before axis `ind` as from it on.
        ind: The number of the first axes.

    Source: PyTorch 2.13, "torch.linalg.tensorinv".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.tensorinv(minigrad.eye(6).reshape(2, 3, 6)).shape == (6, 2, 3)
        True
    """
    shape = shape_of(A)
    matrix = ops.reshape(A, (math.prod(shape[:ind]), math.prod(shape[ind:])))
    return ops.reshape(inv(matrix), (*shape[ind:], *shape[:ind]))


def tensorsolve(A: Any, B: Any, dims: Sequence[int] | None = None) -> Tensor:
    """Solve ``tensordot(A, X, X.ndim) = B`` for `X`.

    Args:
        A: Tensor or array, whose first axes are those of `B`.
        B: The values.
        dims: Axes of `A` that become its last ones first.

    Source: PyTorch 2.13, "torch.linalg.tensorsolve".

    Example:
        >>> import minigrad
        >>> A, B = minigrad.eye(6).reshape(2, 3, 6), minigrad.ones(2, 3)
        >>> minigrad.linalg.tensorsolve(A, B).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    last = A if dims is None else ops.moveaxis(A, tuple(dims), tuple(range(-len(dims), 0)))
    shape = shape_of(B)
    rest = shape_of(last)[len(shape) :]
    matrix = ops.reshape(last, (math.prod(shape), math.prod(rest)))
    return ops.reshape(_solve(matrix, ops.ravel(B)), rest)


def _is_vectors(A: Any, B: Any) -> bool:
    """Whether B is a vector, or one for each matrix, and no matrix."""
    return len(shape_of(B)) == 1 or shape_of(B) == shape_of(A)[:-1]


def _turned(x: Any) -> Any:
    return ops.swapaxes(x, -1, -2)


def _dependent(A: Any, check_errors: bool) -> np.ndarray:
    """For each matrix 0, or the number of the first column that depends on those before it."""
    array = np.asarray(values_of(A))
    if check_errors:
        return np.zeros(array.shape[:-2], np.int32)
    bad, order = singular(array), array.shape[-1]
    info = np.where(bad, order, 0).astype(np.int32)
    if bad.any():  # a decomposition in Python is slow
        first = values_of(lu_factor_ex(array[bad]).info)
        info[bad] = np.where(first == 0, order, first)
    return info
