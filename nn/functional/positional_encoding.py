"""Encodings of positions, which attention does not see by itself: made once, added to the input."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import random
from minigrad._tensor import Tensor
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.mode import located
from minigrad.nn.module.checks import check_size
from minigrad.nn.module.parameter import Parameter


def sinusoidal_encoding(max_length: int, d_model: int, *, dtype: Any = None) -> Tensor:
    r"""Make sinusoidal encodings of positions.

    .. math::

        PE_{pos,\,2i} = \sin(pos / 10000^{2i / d_{model}}), \qquad
        PE_{pos,\,2i+1} = \cos(pos / 10000^{2i / d_{model}})

    Source: Vaswani et al., "Attention is all you need", 2017, section 3.5.

    Args:
        max_length: The number of positions.
        d_model: The width; even.
        dtype: The dtype of the result; the default dtype if None.

    Returns:
        A tensor of shape (max_length, d_model).

    Raises:
        TypeError: A size is no whole number.
        ValueError: d_model is odd, so that a sine would have no cosine, or a size is negative.

    Example:
        >>> from minigrad.nn import functional as F
        >>> F.sinusoidal_encoding(100, 512).shape
        (100, 512)
    """
    max_length = check_size("sinusoidal_encoding", "max_length", max_length, least=0)
    d_model = check_size("sinusoidal_encoding", "d_model", d_model, least=0)
    if d_model % 2:
        raise ValueError(
            f"sinusoidal_encoding: d_model must be even, for pairs of sine and cosine, "
            f"got {d_model}"
        )
    pairs = np.arange(d_model // 2)  # (d_model / 2,)
    angles = np.arange(max_length)[:, None] / 10000.0 ** (2 * pairs / max(d_model, 1))
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (max_length, d_model / 2, 2)
    return Tensor(
        waves.reshape(max_length, d_model), dtype=get_default_dtype() if dtype is None else dtype
    )


def add_positional_encoding(x: Tensor, pe: Tensor) -> Tensor:
    """Add the encodings of the first positions to a batch of sequences.

    Args:
        x: A tensor of shape (batch, seq_len, d_model).
        pe: Encodings, a tensor of shape (max_len, d_model); differentiable as well.

    Returns:
        ``x + pe[:seq_len]``, of the shape of x.

    Raises:
        ValueError: The sequences are longer than the encodings, or the widths differ.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> x = minigrad.randn(2, 10, 512)
        >>> F.add_positional_encoding(x, F.sinusoidal_encoding(100, 512)).shape
        (2, 10, 512)
    """
    if x.ndim < 2 or pe.ndim != 2 or x.shape[-1] != pe.shape[-1]:
        raise ValueError(
            located(
                f"add_positional_encoding: x {x.shape} and pe {pe.shape} must have shapes "
                f"(batch, seq_len, d_model) and (max_len, d_model)"
            )
        )
    seq_len, max_len = x.shape[-2], pe.shape[0]
    if seq_len > max_len:
        raise ValueError(
            located(
                f"add_positional_encoding: seq_len ({seq_len}) is more than the max_len "
                f"({max_len}) of pe"
            )
        )
    return x + pe[:seq_len]


def learned_positional_encoding(max_length: int, d_model: int) -> Parameter:
    """Make encodings of positions that are to be learned.

    They are drawn from `minigrad.random`, normally distributed with standard deviation 0.02.
    Assigned to an attribute of a module, they are one of its parameters.

    Args:
        max_length: The number of positions.
        d_model: The width.

    Returns:
        A parameter of shape (max_length, d_model).

    Raises:
        TypeError: A size is no whole number.
        ValueError: A size is negative.

    Example:
        >>> from minigrad.nn import functional as F
        >>> pe = F.learned_positional_encoding(100, 512)
        >>> pe.shape, pe.requires_grad
        ((100, 512), True)
    """
    owner = "learned_positional_encoding"
    shape = (
        check_size(owner, "max_length", max_length, least=0),
        check_size(owner, "d_model", d_model, least=0),
    )
    return Parameter(random.generator().normal(0.0, 0.02, shape), dtype=get_default_dtype())
