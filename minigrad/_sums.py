"""Sums over leading axes, for the gradient of a bias: a product with ones for small arrays."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

BLAS_LIMIT = 1 << 16
"""The maximum size of a small array: for larger ones BLAS would wake its threads."""
BLAS_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def column_sums(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum over the axes before those of `shape`; for small arrays a product with ones is faster."""
    if x.size > BLAS_LIMIT:
        return np.add.reduce(x, tuple(range(x.ndim - len(shape)))).reshape(shape)
    width = math.prod(shape)
    rows = x.reshape(x.size // (width or 1), width)
    return ones(len(rows), x.dtype).dot(rows).reshape(shape)


@functools.lru_cache(maxsize=64)
def ones(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """A cached array of ones; do not write to it."""
    array = np.ones(shape, dtype)
    array.flags.writeable = False
    return array
