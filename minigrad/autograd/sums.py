"""Undoing broadcasting: sums over the axes along which an input was stretched.

Sums over leading axes, as for the gradient of a bias, are a product with ones for small arrays.
"""

import functools
import math
from typing import Any

import numpy as np

BLAS_LIMIT = 1 << 16
"""The maximum size of a small array: for larger ones BLAS would wake its threads."""
BLAS_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its input, of shape `shape`, was broadcast."""
    extra = g.ndim - len(shape)
    summable = g.__class__ is np.ndarray and g.dtype in BLAS_DTYPES
    if summable and extra > 0 and g.shape[extra:] == shape:  # as for a bias
        return column_sums(g, shape)
    if extra < 0:  # an input with leading axes of length 1 that the output lost, as in x[0] = v
        g, extra = g.reshape((1,) * -extra + g.shape), 0
    stretched = [i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1]
    axes = (*range(extra), *stretched)
    if axes and g.dtype == np.float16 and isinstance(g, np.ndarray):
        g = g.sum(axis=axes, keepdims=True, dtype=np.float32)
    elif axes:
        g = g.sum(axis=axes, keepdims=True)
    if g.shape[extra:] != shape:
        raise ValueError(f"its rule returned shape {g.shape} for an argument of shape {shape}")
    return g.reshape(shape)


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
