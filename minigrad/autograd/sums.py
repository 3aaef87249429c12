"""Sums over the rows or columns of a matrix, as products with ones: BLAS is the quickest to add up.

That is for float32 and float64; float16 is accumulated in float32 elsewhere. And it is for small
arrays, since with large ones BLAS would wake its threads, which go on spinning for a while, in the
way of everybody else.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

__all__ = ["BLAS_DTYPES", "SMALL", "column_sums", "ones", "row_sums"]

SMALL = 1 << 16
"""Up to how many elements an array is small."""
BLAS_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


@functools.lru_cache(maxsize=64)
def ones(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Ones, not to be written to."""
    array = np.ones(shape, dtype)
    array.flags.writeable = False
    return array


def row_sums(x: np.ndarray) -> np.ndarray:
    """The sums over the last axis, which is kept with length 1."""
    if x.size > SMALL:
        return np.vecdot(x, np.ones(x.shape[-1], x.dtype))[..., None]  # a small product for each
    column = ones((x.shape[-1], 1), x.dtype)
    if x.ndim == 2:
        return x.dot(column)
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return rows.dot(column).reshape(*x.shape[:-1], 1)


def column_sums(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sums over all leading axes; `shape` is that of the axes that are left."""
    if x.size > SMALL:
        return np.add.reduce(x, tuple(range(x.ndim - len(shape)))).reshape(shape)
    width = math.prod(shape)
    rows = x.reshape(x.size // (width or 1), width)
    return ones(len(rows), x.dtype).dot(rows).reshape(shape)
