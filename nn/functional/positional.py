"""Positional encodings: sinusoidal, learned and rotary (RoPE)."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_number, check_size, on_cpu
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor

__all__ = [
    "add_positional_encoding", "learned_positional_encoding", "rotary_pos_embedding",
    "sinusoidal_encoding", "sinusoidal_pos_embedding",
]  # fmt: skip


def sinusoidal_encoding(max_length: int, d_model: int, *, dtype: Any = None) -> Tensor:
    r"""Create sinusoidal positional encodings, of shape (max_length, d_model), d_model being even.

    .. math::

        PE_{pos,\,2i} = \sin(pos / 10000^{2i / d_{model}}), \qquad
        PE_{pos,\,2i+1} = \cos(pos / 10000^{2i / d_{model}})

    Source: Vaswani et al., "Attention is all you need", 2017, section 3.5.

    Example:
        >>> from minigrad.nn import functional as F
        >>> F.sinusoidal_encoding(100, 512).shape
        minigrad.Size([100, 512])
    """
    max_length = check_size("sinusoidal_encoding", "max_length", max_length, least=0)
    d_model = check_size("sinusoidal_encoding", "d_model", d_model, least=0)
    if d_model % 2:
        raise value_error(f"sinusoidal_encoding: d_model must be even, got {d_model}")
    pairs = np.arange(d_model // 2)  # (d_model / 2,)
    angles = np.arange(max_length)[:, None] / 10000.0 ** (2 * pairs / max(d_model, 1))
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (max_length, d_model / 2, 2)
    dtype = get_default_dtype() if dtype is None else dtype
    return tensor(waves.reshape(max_length, d_model), dtype=dtype)


@framed
def add_positional_encoding(x: Tensor, pe: Tensor) -> Tensor:
    """Add positional encodings to a batch of sequences: ``x + pe[:seq_len]``.

    x has shape (batch, seq_len, d_model), pe (max_len, d_model), and may require a gradient.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> x = minigrad.randn(2, 10, 512)
        >>> F.add_positional_encoding(x, F.sinusoidal_encoding(100, 512)).shape
        minigrad.Size([2, 10, 512])
    """
    wrong = x.ndim < 2 or pe.ndim != 2 or x.shape[-1] != pe.shape[-1] or x.shape[-2] > len(pe)
    wanted = "x (batch, seq_len, d_model) and pe (max_len, d_model), max_len at least seq_len,"
    refuse_shapes(wrong, "add_positional_encoding", wanted, x, pe)
    return x + pe[: x.shape[-2]]


def learned_positional_encoding(max_length: int, d_model: int) -> Parameter:
    """Create learned positional encodings, drawn from a normal distribution with σ = 0.02.

    They are a parameter of shape (max_length, d_model).

    Example:
        >>> from minigrad.nn import functional as F
        >>> pe = F.learned_positional_encoding(100, 512)
        >>> pe.shape, pe.requires_grad
        (minigrad.Size([100, 512]), True)
    """
    for name, size in (("max_length", max_length), ("d_model", d_model)):
        check_size("learned_positional_encoding", name, size, least=0)
    values = random.generator().normal(0.0, 0.02, (max_length, d_model))
    return Parameter(values, dtype=get_default_dtype())


def sinusoidal_pos_embedding(
    seq_len: int, embed_dim: int, device: str = "cpu", dtype: Any = None
) -> Tensor:
    """Create sinusoidal positional encodings: `sinusoidal_encoding` under Lucid's name."""
    on_cpu(device)
    return sinusoidal_encoding(seq_len, embed_dim, dtype=dtype)


def rotary_pos_embedding(
    input: Tensor, position_ids: Any = None, interleaved: bool = True, *, offset: int = 0,
    base: float = 10000.0,
) -> Tensor:  # fmt: skip
    r"""Apply rotary positional embedding (RoPE) to queries or keys.

    Pair i of the D features at position p is rotated by the angle :math:`p \cdot base^{-2i/D}`. The
    dot product of a rotated query and key depends on the distance of their positions only.

    Source: Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021.

    Args:
        input: A tensor of shape (..., L, D), such as (N, H, L, D); D is even.
        position_ids: The positions, of shape (L,), or (N, L) for an input of shape (N, ..., L, D);
            by default `offset`, `offset` + 1 and so on.
        interleaved: Pair i is features 2i and 2i + 1, as in the paper; otherwise features i and
            i + D/2, as in LLaMA's weights.
        offset: The first position, without `position_ids`: with a cache, the cached length.
        base: The base of the frequencies; a larger base turns the last pairs more slowly.

    Raises:
        TypeError: `input` is not floating.
        ValueError: Shapes do not fit, or both `position_ids` and `offset` are given.

    Example:
        >>> from minigrad import nn, randn
        >>> query = randn(2, 4, 10, 16)  # (N, H, L, D)
        >>> rotated = nn.functional.rotary_pos_embedding(query)
        >>> step = nn.functional.rotary_pos_embedding(query[:, :, 9:], offset=9)
        >>> bool(abs(rotated[:, :, 9:] - step).max() < 1e-6)
        True
    """
    refuse_dtypes(input.dtype.kind != "f", "rotary_pos_embedding", "floats", input)
    wrong = input.ndim < 2 or input.shape[-1] % 2
    refuse_shapes(wrong, "rotary_pos_embedding", "(..., L, D), D even", input)
    width = input.shape[-1]
    positions = positions_of("rotary_pos_embedding", input.shape, position_ids, offset)
    if positions.ndim == 2:  # (N, L) -> (N, 1, ..., L)
        positions = positions.reshape(len(input), *(1,) * (input.ndim - 3), input.shape[-2])
    base = check_number("rotary_pos_embedding", "base", base, above=0.0)
    angles = positions[..., None] * base ** (-np.arange(0, width, 2) / max(width, 1))
    cos, sin = np.cos(angles), np.sin(angles)  # in float64, whatever the input is
    return ops.rotate_pairs(input, cos.astype(input.dtype), sin.astype(input.dtype), interleaved)


def positions_of(
    owner: str, shape: tuple[int, ...], position_ids: Any, offset: int, **limits: int | None
) -> np.ndarray:
    """The positions of vectors (..., L, D), ints of shape (L,) or (N, L), each below the limit.

    The limit has the name of the option that raises it.
    """
    check_size(owner, "offset", offset, least=0)
    length = shape[-2]
    found = np.arange(offset, offset + length) if position_ids is None else np.asarray(position_ids)
    shapes = [(length,), (shape[0], length)][: len(shape) - 1]
    if (offset and position_ids is not None) or found.dtype.kind not in "iu" or (
        found.shape not in shapes or found.min(initial=0) < 0
    ):  # fmt: skip
        wanted = f"ints from 0 of shape {' or '.join(map(str, shapes))}, without an offset"
        came = f"{found.tolist()} and offset {offset}"
        raise value_error(f"{owner}: position_ids must hold {wanted}; got {came}")
    for option, limit in limits.items():
        if limit is not None and found.max(initial=-1) >= limit:
            what = f"position {found.max()} is given, there are only {limit}"
            raise value_error(f"{owner}: {what}: raise {option}")
    return found
