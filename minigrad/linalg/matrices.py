"""Factors, norms, ranks and products of matrices, where PyTorch's arguments are not NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.call import leaf_of
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import shape_of, values_of
from minigrad.ops.argument_errors import checked
from minigrad.ops.linalg import cholesky, factors, norms, svdvals
from minigrad.ops.linalg._matrices import no_square
from minigrad.ops.linalg.norms import Order
from minigrad.ops.linalg.results import CholeskyExResult, QRResult, SVDResult
from minigrad.tensors.functions.arguments import axes

__all__ = [
    "cholesky_ex", "cross", "diagonal", "matrix_norm", "matrix_rank", "norm", "qr", "svd", "vander",
    "vecdot", "vector_norm",
]  # fmt: skip


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> CholeskyExResult:
    """Compute the Cholesky factor, and say which matrices have none.

    Args:
        A: Shape (..., n, n); see `cholesky`.
        upper: Whether to return the upper factor.
        check_errors: Whether a matrix without a factor is an error.

    Returns:
        `L`, which is NaN for a matrix without a factor, and `info` of shape (...): 0, or the order
        of the first leading block that is not positive definite.

    Source: PyTorch 2.13, "torch.linalg.cholesky_ex".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.cholesky_ex(minigrad.tensor([[1.0, 2.0], [2.0, 1.0]])).info.item()
        2
    """
    array = np.asarray(values_of(A))
    info = np.zeros(array.shape[:-2], np.int32)
    try:
        return CholeskyExResult(cholesky(A, upper=upper), leaf_of(info, False))
    except np.linalg.LinAlgError:
        if check_errors or no_square(array):
            raise
    for place in np.ndindex(info.shape):
        info[place] = factors.indefinite_order(array[place], upper)
    return CholeskyExResult(*where_possible(A, info, partial(cholesky, upper=upper)))


def where_possible(
    A: Any, info: np.ndarray, compute: Callable[[Any], Any], axes: int = 2
) -> tuple[Any, Any]:
    """What is computed of matrices, with NaN for those whose `info` is not 0; and `info`."""
    if not info.any():
        return compute(A), leaf_of(info, False)
    bad = info[..., None, None] != 0
    found = compute(ops.where(bad, np.eye(shape_of(A)[-1], dtype=bool), A))
    return ops.where(bad.reshape(info.shape + (1,) * axes), np.nan, found), leaf_of(info, False)


def qr(A: Any, mode: str = "reduced") -> QRResult:
    """Compute the QR decomposition of a matrix, or of each in a stack.

    For a derivative, the first ``k = min(m, n)`` columns of `A` must be linearly independent. If
    they are not, the columns of Q are not unique, and a gradient that reaches them is an error.

    Args:
        A: Shape (..., m, n).
        mode: "reduced"; "r" for R alone, with an empty Q; "complete" for a square Q, which has no
            derivative if it has more columns than `A`.

    Returns:
        `Q` of shape (..., m, k) and `R` of shape (..., k, n), with ``A = Q R``.

    Raises:
        numpy.linalg.LinAlgError: `A` is not a matrix. TypeError: The mode is "complete", ``m > n``,
        and `A` requires a gradient. ValueError: The mode is unknown.

    Source: PyTorch 2.13, "torch.linalg.qr".

    Example:
        >>> import minigrad
        >>> Q, R = minigrad.linalg.qr(minigrad.tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> minigrad.abs(R).numpy().round(4).tolist()
        [[5.0, 2.2], [0.0, 0.4]]
    """
    found: Any = factors.qr(A, mode)
    return QRResult(leaf_of(np.zeros(0, found.dtype), False), found) if mode == "r" else found


def svd(A: Any, full_matrices: bool = True) -> SVDResult:
    """Compute the singular values and vectors of a matrix, or of each in a stack: U diag(S) Vh.

    The singular vectors of equal singular values are not unique, and neither are those of the
    singular value 0 if the matrix is not square. A nonzero gradient that reaches them is an error;
    if it is exactly 0, they count as not used.

    Args:
        A: Shape (..., m, n).
        full_matrices: Whether U and Vh are square. For a matrix that is not square, only
            ``full_matrices=False`` has a derivative.

    Returns:
        With ``k = min(m, n)``: `U` of shape (..., m, k), `S` of shape (..., k) in descending order,
        `Vh` of shape (..., k, n). With `full_matrices`, (..., m, m) and (..., n, n). A loss should
        not depend on the signs of the columns of U and the rows of Vh.

    Raises:
        numpy.linalg.LinAlgError: `A` is not a matrix, or the algorithm did not converge. TypeError:
        `full_matrices`, ``m != n``, and `A` requires a gradient.

    Source: PyTorch 2.13, "torch.linalg.svd".

    Example:
        >>> import minigrad
        >>> U, S, Vh = minigrad.linalg.svd(minigrad.tensor([[3.0, 0.0], [0.0, -4.0]]))
        >>> S.numpy().round(4).tolist()
        [4.0, 3.0]
    """
    found: SVDResult = factors.svd(A, full_matrices)
    return found


@checked
def norm(
    A: Any, ord: Order | None = None, dim: int | Sequence[int] | None = None,
    keepdim: bool = False, *, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the norm of vectors along one axis, or of matrices along two.

    Unlike `minigrad.norm`, which is a vector norm over any axes, two axes here mean a matrix, and
    `ord` then means a matrix norm.

    Args:
        A: Tensor or array.
        ord: None for the root of the sum of squares; otherwise as in `vector_norm` for one axis and
            in `matrix_norm` for two.
        dim: One axis for vectors, two for matrices; None for all axes of `A` (with `ord`, at most
            two).
        keepdim: Keep the reduced axes with length 1.
        dtype: The dtype to compute in; by default that of `A`.

    Raises:
        ValueError: There is no such norm for this number of axes, or an axis does not exist.

    Source: PyTorch 2.13, "torch.linalg.norm".

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[3.0, 0.0], [0.0, 4.0]])
        >>> minigrad.linalg.norm(x).item(), minigrad.linalg.norm(x, 1).item()
        (5.0, 4.0)
    """
    return norms.norm(_in(A, dtype), ord, axes(dim), keepdim)


@checked
def vector_norm(
    x: Any, ord: float = 2, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
    dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the vector norm over axes: ``sum(abs(x) ** ord) ** (1 / ord)``.

    Args:
        x: Tensor or array.
        ord: Any number, as in `minigrad.norm`.
        dim: The axis or axes that make up the vectors; all of them if None.
        keepdim: Keep the reduced axes with length 1.
        dtype: The dtype to compute in; by default that of `x`.

    Raises:
        ValueError: `ord` is not a number, or an axis does not exist.

    Source: PyTorch 2.13, "torch.linalg.vector_norm".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.vector_norm(minigrad.tensor([3.0, 4.0])).item()
        5.0
    """
    return norms.vector_norm(_in(x, dtype), axis=axes(dim), keepdims=keepdim, ord=ord)


@checked
def matrix_norm(
    A: Any, ord: Order = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the norm of a matrix, or of each in a stack.

    Args:
        A: Tensor or array, with two axes or more.
        ord: "fro" for the root of the sum of squares; "nuc" for the sum of the singular values; 2
            and -2 for the largest and the smallest singular value; 1 and -1 for the largest and the
            smallest sum of absolute values of a column, inf and -inf of a row.
        dim: The axis of rows and that of columns.
        keepdim: Keep the reduced axes with length 1.
        dtype: The dtype to compute in; by default that of `A`.

    Returns:
        The other axes. Equal maxima or minima share the gradient.

    Raises:
        ValueError: There is no such matrix norm, `A` is not a matrix, or an axis is empty.

    Source: PyTorch 2.13, "torch.linalg.matrix_norm".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.matrix_norm(minigrad.tensor([[1.0, -2.0], [3.0, 4.0]]), 1).item()
        6.0
    """
    given = _in(A, dtype)
    if tuple(dim) == (-2, -1):
        return norms.matrix_norm(given, keepdims=keepdim, ord=ord)
    return norms.norm(given, ord, tuple(dim), keepdim)


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Count the singular values that are not zero. Not differentiable.

    Args:
        A: Shape (..., m, n).
        tol: The same as `atol`.
        hermitian: Whether each matrix is symmetric; its lower triangle is read then.
        atol: Singular values up to it count as zero: a number, or one for each matrix.
        rtol: A bound relative to the largest one, which counts too; if neither is given, ``max(m,
            n)`` times the precision of the dtype.

    Returns:
        Integers of shape (...).

    Source: PyTorch 2.13, "torch.linalg.matrix_rank".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.matrix_rank(minigrad.ones(3, 3)).item()
        1
    """
    matrices = mirrored(A) if hermitian else A
    bound = atol if tol is None else tol
    if bound is None:
        return norms.matrix_rank(matrices, rtol=rtol)
    if rtol is None:
        return norms.matrix_rank(matrices, bound)
    values = svdvals(matrices)
    relative = ops.expand_dims(rtol * values[..., 0], -1) if values.shape[-1] else 0.0
    return ops.sum(values > ops.maximum(relative, ops.expand_dims(bound, -1)), axis=-1)


def mirrored(A: Any) -> Tensor:
    """A symmetric matrix, of its lower triangle."""
    return ops.tril(A) + ops.swapaxes(ops.tril(A, -1), -1, -2)


def _in(x: Any, dtype: Any) -> Any:
    return x if dtype is None else ops.astype(x, dtype)


@checked
def cross(input: Any, other: Any, *, dim: int = -1) -> Tensor:
    """Compute the cross product of vectors along an axis, whose length is 3; they broadcast.

    Raises:
        ValueError: The axis has another length.

    Source: PyTorch 2.13, "torch.linalg.cross".

    Example:
        >>> import minigrad
        >>> x, y = minigrad.tensor([1.0, 0.0, 0.0]), minigrad.tensor([0.0, 1.0, 0.0])
        >>> minigrad.linalg.cross(x, y).tolist()
        [0.0, 0.0, 1.0]
    """
    lengths = [shape_of(x)[dim] for x in (input, other)]
    if lengths != [3, 3]:
        raise ValueError(f"cross: vectors of length 3 along dim {dim} expected, got {lengths}")
    return ops.cross(input, other, axis=dim)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Read the diagonal of each matrix of a stack: `minigrad.diagonal` of the last two axes.

    Source: PyTorch 2.13, "torch.linalg.diagonal".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.diagonal(minigrad.arange(8).reshape(2, 2, 2)).tolist()
        [[0, 3], [4, 7]]
    """
    return ops.diagonal(A, offset, dim1, dim2)


@checked
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Tensor:
    """Compute the inner products of vectors along an axis; they broadcast.

    Source: PyTorch 2.13, "torch.linalg.vecdot".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.vecdot(minigrad.ones(2, 3), minigrad.arange(3.0)).tolist()
        [3.0, 3.0]
    """
    return ops.vecdot(x, y, dim)


def vander(x: Any, *, N: int | None = None) -> Tensor:
    """Make Vandermonde matrices: the powers 0, 1, ..., N - 1 of each number in a row.

    Args:
        x: Shape (..., n).
        N: The number of columns; n if None.

    Returns:
        Shape (..., n, N).

    Raises:
        ValueError: `x` has no axis.

    Source: PyTorch 2.13, "torch.linalg.vander".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.vander(minigrad.tensor([1, 2, 3])).tolist()
        [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    shape = shape_of(x)
    if not shape:
        raise ValueError("vander: an axis of numbers expected, got shape ()")
    exponents = np.arange(shape[-1] if N is None else N)
    column = ops.expand_dims(x, -1)
    if column.dtype.kind in "iu":
        column = ops.astype(column, np.int64)
    return ops.power(column, exponents.astype(column.dtype))
