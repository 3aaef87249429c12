"""Positional encoding layers: sinusoidal, learned and rotary."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.embedding import Embedding
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["LearnedPosEmbedding", "RotaryPosEmbedding", "SinusoidalPosEmbedding"]


class SinusoidalPosEmbedding(Module):
    """Sinusoidal positional encodings: see `functional.sinusoidal_pos_embedding`.

    Args:
        seq_len: The number of positions; by default unlimited.
        embed_dim: The width, even; by default that of the input.

    Example:
        >>> from minigrad import nn, randn
        >>> positions = nn.SinusoidalPosEmbedding()
        >>> x = randn(2, 10, 16)
        >>> whole, step = positions(x), positions(x[:, 9:], offset=9)
        >>> bool(abs(whole[:, 9:] - step).max() < 1e-6)
        True
    """

    repr_fields = ("seq_len", "embed_dim")
    table: Tensor | None

    def __init__(self, seq_len: int | None = None, embed_dim: int | None = None) -> None:
        super().__init__()
        self.seq_len = seq_len
        self.embed_dim = embed_dim
        self.register_buffer("table", None, persistent=False)

    def forward(self, input: Tensor, *, offset: int = 0, position_ids: Any = None) -> Tensor:
        """Add the encoding of its position to each vector.

        Args:
            input: A tensor of shape (L, D) or (N, L, D).
            offset: The first position: with a cache, the cached length.
            position_ids: The positions instead, ints of shape (L,) or (N, L).
        """
        rows, end = _rows(
            "SinusoidalPosEmbedding", input, offset, position_ids, self.seq_len, self.embed_dim
        )
        table = self.table
        width, dtype = input.shape[-1], input.dtype
        if table is None or len(table) < end or (table.shape[1], table.dtype) != (width, dtype):
            count = self.seq_len or 1 << max(end - 1, 0).bit_length()  # grows by doubling
            table = self.table = F.sinusoidal_pos_embedding(count, width, dtype=dtype)
        return input + table[rows]


class LearnedPosEmbedding(Module):
    """A learned vector per position, initialized from a normal distribution with σ = 0.02.

    There are `max_len` positions; the vectors are `embed_dim` wide.

    Source: Radford et al., "Improving language understanding by generative pre-training", 2018.

    Attributes:
        pos_emb: An `Embedding` whose weight holds the vectors, of shape (max_len, embed_dim).

    Example:
        >>> from minigrad import nn, randn
        >>> nn.LearnedPosEmbedding(32, 16)(randn(2, 10, 16), offset=22).shape
        minigrad.Size([2, 10, 16])
    """

    repr_fields = ("max_len", "embed_dim")

    def __init__(self, max_len: int, embed_dim: int) -> None:
        super().__init__()
        self.max_len = max_len
        self.embed_dim = embed_dim
        self.pos_emb = Embedding(max_len, embed_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the vectors again."""
        init.normal(self.pos_emb.weight, std=0.02)

    def forward(self, input: Tensor, offset: int = 0, *, position_ids: Any = None) -> Tensor:
        """Add the learned vector of its position to each vector.

        The arguments are those of `SinusoidalPosEmbedding`.
        """
        rows, _ = _rows(
            "LearnedPosEmbedding", input, offset, position_ids, self.max_len, self.embed_dim
        )
        return input + self.pos_emb.weight[rows]


class RotaryPosEmbedding(Module):
    """Rotary positional embedding (RoPE) of queries or keys: see `functional.rotary_pos_embedding`.

    Args:
        embed_dim: D, the width of a head, even; by default that of the input.
        max_seq_len: The number of positions; by default unlimited.

    Example:
        >>> from minigrad import nn, randn
        >>> from minigrad.nn import functional as F
        >>> rotary = nn.RotaryPosEmbedding(16)
        >>> q, k, v = randn(3, 2, 4, 10, 16)  # each (N, H, L, D)
        >>> F.scaled_dot_product_attention(rotary(q), rotary(k), v, is_causal=True).shape
        minigrad.Size([2, 4, 10, 16])
    """

    repr_fields = ("embed_dim", "max_seq_len", "interleaved", "base")

    def __init__(
        self, embed_dim: int | None = None, max_seq_len: int | None = None,
        interleaved: bool = True, *, base: float = 10000.0,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim is not None and embed_dim % 2:
            raise ValueError(
                f"RotaryPosEmbedding: embed_dim must be even, for pairs, got {embed_dim}"
            )
        self.embed_dim = embed_dim
        self.max_seq_len = max_seq_len
        self.interleaved = interleaved
        self.base = base

    def forward(self, input: Tensor, position_ids: Any = None, *, offset: int = 0) -> Tensor:
        """Rotate each vector of a tensor (..., L, D) by the angles of its position.

        The arguments are those of `functional.rotary_pos_embedding`.
        """
        end = offset + input.shape[-2] if input.ndim > 1 else 0
        if position_ids is not None:
            end = int(np.asarray(position_ids).max(initial=-1)) + 1
        if self.max_seq_len is not None and end > self.max_seq_len:
            raise value_error(
                f"RotaryPosEmbedding: positions up to {end - 1} are given, max_seq_len="
                f"{self.max_seq_len} allows up to {self.max_seq_len - 1}"
            )
        if self.embed_dim is not None and input.shape[-1:] != (self.embed_dim,):
            raise value_error(
                f"RotaryPosEmbedding: shape (..., L, {self.embed_dim}) expected, got "
                f"{tuple(input.shape)}"
            )
        return F.rotary_pos_embedding(
            input, position_ids, self.interleaved, offset=offset, base=self.base
        )


def _rows(
    owner: str, input: Tensor, offset: int, position_ids: Any, limit: int | None, width: int | None
) -> tuple[slice | np.ndarray, int]:
    """Check the input; return the rows of the table that it needs, and the end of the last."""
    if (
        input.ndim not in (2, 3)
        or input.dtype.kind != "f"
        or (width is not None and input.shape[-1] != width)
    ):
        wanted = "D" if width is None else width
        raise value_error(
            f"{owner}: floats of shape (L, {wanted}) or (N, L, {wanted}) expected, "
            f"got {input.dtype} {tuple(input.shape)}"
        )
    length = input.shape[-2]
    begin = check_size(owner, "offset", offset, least=0)
    rows: slice | np.ndarray = slice(begin, begin + length)
    end, what = begin + length, f"{length} positions from {offset} on end at {begin + length}"
    if position_ids is not None:
        rows = np.asarray(position_ids)
        shapes = [(length,), input.shape[:-1]]
        if offset or rows.dtype.kind not in "iu" or rows.shape not in shapes:
            raise value_error(
                f"{owner}: position_ids must hold ints of shape "
                f"{' or '.join(map(str, dict.fromkeys(shapes)))}, without an offset beside "
                f"them; got {rows.dtype} {tuple(rows.shape)} and offset {offset}"
            )
        if rows.min(initial=0) < 0:
            raise value_error(f"{owner}: position_ids has {rows.min()}, below 0")
        end = int(rows.max(initial=-1)) + 1
        what = f"position_ids has {end - 1}"
    if limit is not None and end > limit:
        raise value_error(f"{owner}: {what}, there are only {limit}")
    return rows, end
