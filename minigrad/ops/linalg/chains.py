"""Products of several matrices: powers, and chains in the cheapest order."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import shape_of, zero_gradient
from minigrad.ops.casting import clone
from minigrad.ops.linalg._matrices import no_square
from minigrad.ops.linalg.solving import inv
from minigrad.ops.products import matmul

__all__ = ["matrix_power", "multi_dot"]


@primitive
def _identity(x: Any) -> Any:
    return np.zeros(x.shape, x.dtype) + np.eye(x.shape[-1], dtype=x.dtype)


def matrix_power(x: Any, n: int) -> Tensor:
    """Raise a square matrix, or each in a stack, to an integer power.

    Args:
        x: Shape (..., n, n).
        n: The exponent; 0 gives the identity, negative numbers give powers of the inverse.

    Raises:
        TypeError: `n` is not an integer.
        ValueError: `x` is not square.
        numpy.linalg.LinAlgError: `n` is negative and a matrix is singular.

    Example:
        >>> import minigrad
        >>> minigrad.linalg.matrix_power(minigrad.tensor([[1, 1], [0, 1]]), 5).tolist()
        [[1, 5], [0, 1]]
    """
    reason = no_square(x)
    if reason:
        raise ValueError(f"matrix_power: {reason}")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"matrix_power: n must be an integer, got {n!r}") from None
    if n == 0:
        return _identity(x)
    square = inv(x) if n < 0 else x
    result: Any = None
    left = abs(n)
    while True:  # binary digits of n: one squaring each, one product for each 1
        if left & 1:
            result = square if result is None else matmul(result, square)
        left >>= 1
        if not left:
            return clone(result) if result is x else result
        square = matmul(square, square)


def multi_dot(arrays: Sequence[Any]) -> Tensor:
    """Multiply several matrices, in the cheapest order.

    Args:
        arrays: At least two matrices; the first and the last may be vectors.

    Raises:
        ValueError: There are fewer than two, or the shapes do not fit.

    Source: Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", matrix-chain
    multiplication.

    Example:
        >>> import minigrad
        >>> chain = [minigrad.ones((2, 50)), minigrad.ones((50, 3)), minigrad.ones(3)]
        >>> minigrad.linalg.multi_dot(chain).tolist()
        [150.0, 150.0]
    """
    shapes = [shape_of(array) for array in arrays]
    if len(shapes) < 2:
        raise ValueError(f"multi_dot: at least two arrays expected, got {len(shapes)}")
    for i, shape in enumerate(shapes):
        if len(shape) != 2 and not (len(shape) == 1 and i in (0, len(shapes) - 1)):
            raise ValueError(
                f"multi_dot: matrices expected, and vectors only at the ends; got shape {shape} at "
                f"place {i}"
            )
    for i in range(len(shapes) - 1):
        if shapes[i][-1] != shapes[i + 1][0]:
            raise ValueError(
                f"multi_dot: shapes {shapes[i]} and {shapes[i + 1]} at places {i} and {i + 1} do "
                f"not fit"
            )
    first = shapes[0][0] if len(shapes[0]) == 2 else 1
    last = shapes[-1][1] if len(shapes[-1]) == 2 else 1
    lengths = [first, *(shape[0] for shape in shapes[1:]), last]
    return _product(arrays, _splits(lengths), 0, len(shapes) - 1)


def _splits(lengths: list[int]) -> dict[tuple[int, int], int]:
    """The best factor after which to split the chain from i to j, for all i < j.

    Factor i has shape ``(lengths[i], lengths[i + 1])``.
    """
    n = len(lengths) - 1
    cost = {(i, i): 0 for i in range(n)}
    cut = {}
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            costs = [
                cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1]
                for k in range(i, j)
            ]
            cost[i, j] = min(costs)
            cut[i, j] = i + costs.index(cost[i, j])
    return cut


def _product(arrays: Sequence[Any], cut: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return arrays[i]
    k = cut[i, j]
    return matmul(_product(arrays, cut, i, k), _product(arrays, cut, k + 1, j))


_identity.defvjp(x=zero_gradient)
