"""Norms, condition numbers and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad import ops
from minigrad.autograd.typing import Tensor
from minigrad.ops.linalg import cond, norms, svdvals
from minigrad.ops.linalg.norms import Order
from minigrad.tensors.functions.arguments import axes, spelled

__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]


@spelled
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


@spelled
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


@spelled
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
