"""Making masks: who comes later, and what is padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad._tensor import Tensor
from minigrad.nn.module.checks import check_size


def create_causal_mask(seq_length: int) -> Tensor:
    """Make the mask under which each position attends to itself and those before it.

    Every `attn_mask` takes it; ``is_causal=True`` says the same without one.

    Args:
        seq_length: The length of the sequence.

    Returns:
        A bool tensor of shape (seq_length, seq_length), True on and below the diagonal.

    Raises:
        TypeError: The length is no whole number.
        ValueError: It is negative.

    Example:
        >>> from minigrad.nn import functional as F
        >>> F.create_causal_mask(3)
        Tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]], dtype=bool)
    """
    seq_length = check_size("create_causal_mask", "seq_length", seq_length, least=0)
    return Tensor(np.tri(seq_length, dtype=bool))


def create_padding_mask(lengths: Any, max_length: int) -> Tensor:
    """Make the mask that tells real tokens from padding behind them.

    It says True for what is real; a `key_padding_mask` says True for what is padding. So the one
    is the other inverted: ``key_padding_mask=~mask``. As `attn_mask` it is given for all heads and
    queries: ``attn_mask=mask[:, None, None, :]``.

    Args:
        lengths: The number of real tokens of each sequence, integers of shape (batch,).
        max_length: The length of all sequences with their padding.

    Returns:
        A bool tensor of shape (batch, max_length): True for real tokens, False for padding.

    Raises:
        TypeError: The lengths are not integers.
        ValueError: A length is negative or more than max_length, or lengths has other axes.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> from minigrad.nn import functional as F
        >>> mask = F.create_padding_mask([3, 2], max_length=4)
        >>> mask
        Tensor([[ True,  True,  True, False],
                [ True,  True, False, False]], dtype=bool)
        >>> attention, x = nn.MultiHeadAttention(8, 2), minigrad.randn(2, 4, 8)
        >>> attention(x, x, x, key_padding_mask=~mask).shape
        (2, 4, 8)
    """
    max_length = check_size("create_padding_mask", "max_length", max_length, least=0)
    array = np.asarray(lengths)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"create_padding_mask: integer lengths expected, got {array.dtype}")
    if array.ndim != 1:
        raise ValueError(
            f"create_padding_mask: lengths must have shape (batch,), got {array.shape}"
        )
    wrong = array[(array < 0) | (array > max_length)]
    if wrong.size:
        raise ValueError(
            f"create_padding_mask: lengths from 0 to max_length ({max_length}) expected, "
            f"got {wrong[0]}"
        )
    return Tensor(np.arange(max_length) < array[:, None])
