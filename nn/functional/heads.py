"""Heads: cutting the width of a sequence into slices, and putting them together again."""

from __future__ import annotations

from minigrad._tensor import Tensor
from minigrad.autograd.mode import located


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the last axis into heads, and bring them before the sequence.

    Args:
        x: A tensor of shape (batch, seq, d_model).
        num_heads: The number of heads; divides d_model.

    Returns:
        A tensor of shape (batch, num_heads, seq, d_model / num_heads). Head i is the i-th slice of
        the last axis.

    Raises:
        ValueError: x has another number of axes, or num_heads does not divide d_model.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.split_heads(minigrad.randn(2, 10, 512), num_heads=8).shape
        (2, 8, 10, 64)
    """
    if x.ndim != 3:
        raise ValueError(
            located(f"split_heads: x must have shape (batch, seq, d_model), got {x.shape}")
        )
    batch, seq, d_model = x.shape
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(
            located(
                f"split_heads: d_model ({d_model}) must be divisible by num_heads ({num_heads})"
            )
        )
    return x.reshape(batch, seq, num_heads, d_model // num_heads).swapaxes(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Put heads side by side on the last axis: the inverse of `split_heads`.

    Args:
        x: A tensor of shape (batch, num_heads, seq, d_k).

    Returns:
        A tensor of shape (batch, seq, num_heads * d_k).

    Raises:
        ValueError: x has another number of axes.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.merge_heads(minigrad.randn(2, 8, 10, 64)).shape
        (2, 10, 512)
    """
    if x.ndim != 4:
        raise ValueError(
            located(f"merge_heads: x must have shape (batch, num_heads, seq, d_k), got {x.shape}")
        )
    batch, num_heads, seq, d_k = x.shape
    return x.swapaxes(1, 2).reshape(batch, seq, num_heads * d_k)
