"""Distances between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.typing import Tensor
from minigrad.ops.casting import floating
from minigrad.ops.linalg.norms import vector_norm
from minigrad.ops.shapes import expand_dims

__all__ = ["cdist"]


def cdist(a: Any, b: Any, p: float = 2.0) -> Tensor:
    """Compute the distance between each point of one set and each of another.

    The differences are taken one by one, so it needs the memory of (..., n, m, d) numbers.

    Args:
        a: Points, shape (..., n, d).
        b: Points, shape (..., m, d). The leading axes broadcast.
        p: The order of the norm, at least 0; inf for the greatest difference.

    Returns:
        Shape (..., n, m). Equal points have distance 0, with gradient 0 for `p` of at least 1.

    Raises:
        ValueError: The shapes do not fit, or `p` is negative.

    Example:
        >>> import minigrad
        >>> a = minigrad.tensor([[0.0, 0.0], [3.0, 0.0]])
        >>> minigrad.cdist(a, minigrad.tensor([[0.0, 4.0]])).tolist()
        [[4.0], [5.0]]
    """
    a, b = floating(a), floating(b)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        raise value_error(
            f"cdist: points of shapes (..., n, d) and (..., m, d) expected, got {a.shape} and "
            f"{b.shape}"
        )
    if not p >= 0:
        raise value_error(f"cdist: p must be at least 0, got {p}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise value_error(
            f"cdist: the leading axes of {a.shape} and {b.shape} do not broadcast"
        ) from None
    return vector_norm(expand_dims(a, -2) - expand_dims(b, -3), axis=-1, ord=p)
