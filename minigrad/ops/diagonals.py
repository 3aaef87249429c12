"""Diagonals and triangles of matrices: reading and writing them, and the trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import within_rule
from minigrad.ops.casting import as_tensor

__all__ = ["diag", "diag_embed", "diagonal", "trace", "tril", "triu"]


def _view(x: np.ndarray, offset: int, axis1: int, axis2: int) -> np.ndarray:
    """The diagonal as a writable view, if `x` is writable; NumPy's own is read-only."""
    view = x.diagonal(offset, axis1, axis2)
    view.flags.writeable = x.flags.writeable
    return view


@primitive(numpy=np.diagonal, arrays=1)
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonal of a matrix, or of each in a stack, as in NumPy: a view.

    Args:
        x: Tensor or array with at least two axes; in the view the others come first.
        offset: Which diagonal: above the main one if positive, below it if negative.
        axis1: The axis of the rows.
        axis2: The axis of the columns.

    Raises:
        ValueError: The axes do not exist or are the same.
    """
    return _view(x, offset, axis1, axis2)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, *, dtype: Any = None) -> Tensor:
    """Sum a diagonal, as in NumPy; arguments and errors as for `diagonal`.

    A `dtype` is that in which to add, and of the result.
    """
    return diagonal(x, offset, axis1, axis2).sum(-1, dtype=dtype)


@primitive(arrays=1)
def scatter_diagonal(
    value: Any, shape: tuple[int, ...], offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """Zeros of `shape` with `value` broadcast to a diagonal: the transpose of `diagonal`."""
    out = np.zeros(shape, value.dtype)
    _view(out, offset, axis1, axis2)[...] = value
    return out


def diag(x: Any, k: int = 0) -> Tensor:
    """Return the diagonal of a matrix, or the matrix that has a vector on its diagonal.

    Args:
        x: A matrix, of any shape (n, m), or a vector.
        k: Which diagonal: 0 is the main one, 1 the next above, -1 the next below.

    Returns:
        For a matrix, a view of its diagonal; for a vector, a square matrix with zeros elsewhere.

    Raises:
        ValueError: `x` has neither one axis nor two.
    """
    x = as_tensor(x)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise value_error(f"diag: one or two axes expected, got shape {x.shape}")
    n = x.shape[0] + abs(k)
    return scatter_diagonal(x, (n, n), k)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Make matrices that have the last axis on a diagonal, zeros beside it.

    Args:
        input: Shape (..., n).
        offset: Which diagonal: above the main one if positive, below it if negative.
        dim1: The axis of the rows, in the result.
        dim2: The axis of the columns.

    Returns:
        The axes of `input` but the last, and two of length ``n + abs(offset)``.

    Raises:
        ValueError: `input` has no axis, or the axes do not exist or are the same.

    Example:
        >>> import minigrad
        >>> minigrad.diag_embed(minigrad.tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    x = as_tensor(input)
    axes, ndim = (dim1, dim2), x.ndim + 1
    if not x.ndim or not all(-ndim <= axis < ndim for axis in axes) or (dim1 - dim2) % ndim == 0:
        raise value_error(
            f"diag_embed: at least one axis, and two different axes of a result with {ndim} "
            f"expected, got axes {dim1} and {dim2} of shape {x.shape}"
        )
    shape = list(x.shape[:-1])
    for axis in sorted(axis % ndim for axis in axes):
        shape.insert(axis, x.shape[-1] + abs(offset))
    return scatter_diagonal(x, tuple(shape), offset, dim1, dim2)


def _no_matrices(x: Any, k: int) -> str | None:
    return f"at least two axes expected, got shape {x.shape}" if x.ndim < 2 else None


@primitive(numpy=np.tril, arrays=1, explain_error=_no_matrices)
def tril(x: Any, k: int = 0) -> Any:
    """Return the lower triangle of each matrix, zeros above it.

    Args:
        x: Shape (..., n, m).
        k: The last diagonal to keep: 0 is the main one, 1 the next above, -1 the next below.

    Raises:
        ValueError: `x` has less than two axes.
    """
    return np.where(_below(x.shape, k), x, x.dtype.type(0))


@primitive(numpy=np.triu, arrays=1, explain_error=_no_matrices)
def triu(x: Any, k: int = 0) -> Any:
    """Return the upper triangle of each matrix; as `tril`, with `k` the first diagonal."""
    return np.where(_below(x.shape, k - 1), x.dtype.type(0), x)


def _below(shape: tuple[int, ...], k: int) -> np.ndarray:
    """True on the k-th diagonal and below it."""
    n, m = shape[-2:]
    return np.tri(n, m, k, dtype=bool)


diagonal.defvjp(
    x=lambda g, x_shape, offset, axis1, axis2: within_rule(
        scatter_diagonal, g, x_shape, offset, axis1, axis2
    )
)
scatter_diagonal.defvjp(value=lambda g, offset, axis1, axis2: g.diagonal(offset, axis1, axis2))
tril.defvjp(x=lambda g, k: np.tril(g, k))
triu.defvjp(x=lambda g, k: np.triu(g, k))
