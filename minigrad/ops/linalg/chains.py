"""Products of several matrices: powers, and chains in the cheapest order."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import array_of, shape_of
from minigrad.ops.casting import astype, clone
from minigrad.ops.elementwise import multiply
from minigrad.ops.linalg._matrices import no_square
from minigrad.ops.linalg.solving import inv, solve
from minigrad.ops.products import matmul
from minigrad.ops.selection import where

__all__ = ["matrix_exp", "matrix_power", "multi_dot"]


def matrix_power(A: Any, n: int) -> Tensor:
    """Raise a square matrix, or each in a stack, to an integer power.

    Args:
        A: Shape (..., n, n).
        n: The exponent; 0 gives the identity, negative numbers give powers of the inverse.

    Raises:
        TypeError: `n` is not an integer.
        ValueError: `A` is not square.
        numpy.linalg.LinAlgError: `n` is negative and a matrix is singular.

    Example:
        >>> import minigrad
        >>> minigrad.linalg.matrix_power(minigrad.tensor([[1, 1], [0, 1]]), 5).tolist()
        [[1, 5], [0, 1]]
    """
    if reason := no_square(A):
        raise ValueError(f"matrix_power: {reason}")
    n = operator.index(n)  # not NumPy's: abs(np.int8(-128)) is negative
    if n == 0:
        return where(False, A, np.eye(shape_of(A)[-1], dtype=bool))
    square = inv(A) if n < 0 else A
    result: Any = None
    left = abs(n)
    while True:  # binary digits of n: one squaring each, one product for each 1
        if left & 1:
            result = square if result is None else matmul(result, square)
        left >>= 1
        if not left:
            return clone(result) if result is A else result
        square = matmul(square, square)


def multi_dot(tensors: Sequence[Any]) -> Tensor:
    """Multiply several matrices, in the cheapest order.

    Args:
        tensors: At least two matrices; the first and the last may be vectors.

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
    shapes = [shape_of(array) for array in tensors]
    if len(shapes) < 2:
        raise ValueError(f"multi_dot: at least two tensors expected, got {len(shapes)}")
    for i, shape in enumerate(shapes):
        if len(shape) != 2 and not (len(shape) == 1 and i in (0, len(shapes) - 1)):
            raise ValueError(
                f"multi_dot: matrices expected, and vectors only at the ends; got shape {shape} at "
                f"place {i}"
            )
    first = shapes[0][0] if len(shapes[0]) == 2 else 1
    last = shapes[-1][1] if len(shapes[-1]) == 2 else 1
    lengths = [first, *(shape[0] for shape in shapes[1:]), last]
    return _product(tensors, _splits(lengths), 0, len(shapes) - 1)


EXP = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""The coefficients of the Padé approximant of degree 13."""
LARGEST_FOR_EXP = 5.371920351148152
"""The largest 1-norm for which it is exact to rounding."""


def matrix_exp(A: Any) -> Tensor:
    """Compute the exponential of a square matrix, or of each in a stack: ``1 + A + A² / 2 + ...``.

    Args:
        A: Shape (..., n, n).

    Raises:
        ValueError: `A` is not square.

    Source: Higham 2005, "The scaling and squaring method for the matrix exponential revisited".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.matrix_exp(minigrad.tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    if reason := no_square(A):
        raise ValueError(f"matrix_exp: {reason}")
    array = np.asarray(array_of(A))
    dtype = array.dtype if array.dtype.kind == "f" else get_default_dtype()
    sums = np.sum(np.abs(np.where(np.isfinite(array), array, 0)), axis=-2, dtype=np.float64)
    largest = np.max(sums, initial=LARGEST_FOR_EXP)
    halvings = math.ceil(math.log2(largest / LARGEST_FOR_EXP))
    x = multiply(astype(A, np.promote_types(dtype, np.float32)), 0.5**halvings)
    one = np.eye(array.shape[-1], dtype=x.dtype)
    x2 = matmul(x, x)
    x4 = matmul(x2, x2)
    x6 = matmul(x4, x2)
    odd = matmul(x6, EXP[13] * x6 + EXP[11] * x4 + EXP[9] * x2)
    odd = matmul(x, odd + EXP[7] * x6 + EXP[5] * x4 + EXP[3] * x2 + EXP[1] * one)
    even = matmul(x6, EXP[12] * x6 + EXP[10] * x4 + EXP[8] * x2)
    even = even + EXP[6] * x6 + EXP[4] * x4 + EXP[2] * x2 + EXP[0] * one
    found = solve(even - odd, even + odd)
    for _ in range(halvings):
        found = matmul(found, found)
    return astype(found, dtype)


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
