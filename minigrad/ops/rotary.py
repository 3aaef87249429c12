"""Rotation of pairs of features by given angles: the core of rotary embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import within_rule

__all__ = ["rotate_pairs"]


def _cannot_rotate(x: Any, cos: Any, sin: Any) -> str | None:
    if not x.ndim or x.shape[-1] % 2:
        return f"the input has shape {x.shape}, its last axis must be even: it holds pairs"
    pairs = (*x.shape[:-1], x.shape[-1] // 2)
    for name, array in (("cos", cos), ("sin", sin)):
        try:
            fits = np.broadcast_shapes(np.shape(array), pairs) == pairs
        except ValueError:
            fits = False
        if not fits:
            return f"{name} of shape {np.shape(array)} does not broadcast to {pairs}"
    return None


@primitive(float_inputs=True)
def rotate_pairs(x: Any, cos: Any, sin: Any, interleaved: bool = True) -> Any:
    """Rotate pairs along the last axis: (a, b) becomes (a cos - b sin, a sin + b cos).

    `cos` and `sin` are arrays that broadcast to (..., n), for `x` of shape (..., 2n). Pair i has
    the indices 2i and 2i + 1, or i and i + n if not `interleaved`.

    Source: Su et al. 2021, arXiv:2104.09864.
    """
    if reason := _cannot_rotate(x, cos, sin):
        raise ArgumentError(reason)
    half = x.shape[-1] // 2
    first = slice(0, None, 2) if interleaved else slice(0, half)
    second = slice(1, None, 2) if interleaved else slice(half, None)
    a, b = x[..., first], x[..., second]
    out = np.empty(x.shape, x.dtype)
    out[..., first] = a * cos - b * sin
    out[..., second] = a * sin + b * cos
    return out


rotate_pairs.defvjp(
    x=lambda g, cos, sin, interleaved: within_rule(
        rotate_pairs, g, cos, -np.asarray(sin), interleaved
    )
)
