"""Products of vectors and matrices, powers, and what is read from a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.typing import Tensor
from minigrad.ops import matmul
from minigrad.ops._numerics import shape_of
from minigrad.ops.linalg import matrix_exp, matrix_power, multi_dot
from minigrad.tensors.functions.arguments import spelled

__all__ = [
    "cross", "diagonal", "matmul", "matrix_exp", "matrix_power", "multi_dot", "vander", "vecdot",
]  # fmt: skip


@spelled
def cross(input: Any, other: Any, *, dim: int = -1) -> Tensor:
    """Compute the cross product of vectors of length 3 along an axis.

    Args:
        input: The first vectors.
        other: The second ones, which broadcast.
        dim: The axis.

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
        raise ValueError(
            f"cross: vectors of length 3 along dim {dim} expected, got {lengths[0]} and "
            f"{lengths[1]}"
        )
    return ops.cross(input, other, axis=dim)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Read the diagonal of each matrix of a stack, as `minigrad.diagonal` with other defaults.

    Args:
        A: The matrices.
        offset: The number of the diagonal: above the main one, or below it if negative.
        dim1: The axis of rows.
        dim2: The axis of columns.

    Source: PyTorch 2.13, "torch.linalg.diagonal".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.diagonal(minigrad.arange(8).reshape(2, 2, 2)).tolist()
        [[0, 3], [4, 7]]
    """
    return ops.diagonal(A, offset, dim1, dim2)


@spelled
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Tensor:
    """Compute the inner products of vectors along an axis.

    Args:
        x: The first vectors.
        y: The second ones, which broadcast.
        dim: The axis.

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
    return ops.power(column, exponents.astype(column.dtype))
