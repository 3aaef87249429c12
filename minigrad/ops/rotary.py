"""Rotation of pairs of features by given angles: the core of rotary embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import within_rule

__all__ = ["rotate_pairs"]


@primitive(float_inputs=True)
def rotate_pairs(x: Any, cos: Any, sin: Any, interleaved: bool = True) -> Any:
    """Rotate pairs along the last axis: (a, b) becomes (a cos - b sin, a sin + b cos).

    `cos` and `sin` are arrays that broadcast to (..., n), for `x` of shape (..., 2n). Pair i has
    the indices 2i and 2i + 1, or i and i + n if not `interleaved`.

    Source: Su et al. 2021, arXiv:2104.09864.
    """
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
