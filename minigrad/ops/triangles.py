"""Triangular parts of matrices."""

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive

__all__ = ["tril", "triu"]


def _no_matrices(x: Any, k: int) -> str | None:
    return f"at least two axes expected, got shape {x.shape}" if x.ndim < 2 else None


@primitive(numpy=np.tril, arrays=1, explain_error=_no_matrices)
def tril(x: Any, k: int = 0) -> Any:
    """Return the lower triangle of each matrix, zeros above it.

    Args:
        x: Shape (..., n, m).
        k: The last diagonal to keep: 0 is the main one, 1 the next above, -1 the next below.

    Raises:
        ValueError: `x` has less than two axes.

    Example:
        >>> import minigrad
        >>> minigrad.tril(minigrad.ones((2, 3))).tolist()
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    return np.where(_below(x.shape, k), x, x.dtype.type(0))


@primitive(numpy=np.triu, arrays=1, explain_error=_no_matrices)
def triu(x: Any, k: int = 0) -> Any:
    """Return the upper triangle of each matrix; as `tril`, with `k` the first diagonal.

    Example:
        >>> import minigrad
        >>> minigrad.triu(minigrad.ones((2, 3))).tolist()
        [[1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    return np.where(_below(x.shape, k - 1), x.dtype.type(0), x)


def _below(shape: tuple[int, ...], k: int) -> np.ndarray:
    """True on the k-th diagonal and below it."""
    n, m = shape[-2:]
    return np.tri(n, m, k, dtype=bool)


# The table.
tril.defvjp(x=lambda g, k: np.tril(g, k))
triu.defvjp(x=lambda g, k: np.triu(g, k))
