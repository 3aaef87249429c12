"""Sums over leading axes, as a bias's gradient needs: for small arrays, a product with ones."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

__all__ = ["BLAS_DTYPES", "BLAS_LIMIT", "column_sums", "ones"]

BLAS_LIMIT = 1 << 16
"""Up to how many elements an array is small: above, BLAS would wake its threads."""
BLAS_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def column_sums(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sums over all axes before those of `shape`: for small arrays, a product with ones."""
    if x.size > BLAS_LIMIT:
        return np.add.reduce(x, tuple(range(x.ndim - len(shape)))).reshape(shape)
    width = math.prod(shape)
    rows = x.reshape(x.size // (width or 1), width)
    return ones(len(rows), x.dtype).dot(rows).reshape(shape)


@functools.lru_cache(maxsize=64)
def ones(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Ones, not to be written to."""
    array = np.ones(shape, dtype)
    array.flags.writeable = False
    return array
