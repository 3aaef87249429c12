"""Dropout by a key: the same key gives the same mask, however the work is divided."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive

__all__ = ["dropout", "dropout_factor"]


def dropout_factor(key: int | None, shape: tuple[int, ...], p: float, dtype: Any) -> np.ndarray:
    """What dropout multiplies by: 0 with probability `p`, else ``1 / (1 - p)``.

    Args:
        key: Chooses the stream of a counter-based generator (Philox).
        shape: The shape of the mask.
        p: The probability of a zero.
        dtype: The dtype of the result.

    Returns:
        An array that depends on these arguments only.

    Source:
        Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
    """
    if p >= 1:
        return np.zeros(shape, dtype)
    draws = np.random.Generator(np.random.Philox(key=key)).random(shape, np.float32)
    factor: np.ndarray = (draws >= p) * np.asarray(1 / (1 - p), dtype)
    return factor


@primitive(arrays=1, floating=True)
def dropout(x: Any, p: float, key: int) -> Any:
    """Set elements to zero with probability `p` and scale the others by ``1 / (1 - p)``.

    Args:
        x: Tensor, array or number.
        p: The probability, from 0 to 1.
        key: From ``minigrad.random.key()``; the same key drops the same elements.

    Returns:
        A tensor of the shape of `x`.

    Raises:
        ValueError: `p` is no probability.

    Source:
        Srivastava et al. 2014.

    Example:
        >>> import minigrad
        >>> minigrad.ops.dropout(minigrad.ones(1000), 0.5, key=1).sum().item() / 1000
        1.01
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    return x * dropout_factor(key, x.shape, p, x.dtype)


dropout.defvjp(x=lambda g, x_shape, p, key: g * dropout_factor(key, x_shape, p, g.dtype))
