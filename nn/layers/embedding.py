"""Embeddings of ids and of positions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from minigrad.autograd.errors import refuse_shapes
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.functional.embeddings import BagMode, check_padding_idx
from minigrad.nn.functional.positional import positions_of
from minigrad.nn.layers.function_layer import unusual
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_size
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = [
    "Embedding", "EmbeddingBag", "LearnedPosEmbedding", "RotaryPosEmbedding",
    "SinusoidalPosEmbedding",
]  # fmt: skip


class Embedding(Module):
    """A lookup table of learned vectors, initialized from the standard normal distribution.

    Indices run from 0 to num_embeddings - 1. The vector of `padding_idx` starts as zeros; the other
    options are those of `functional.embedding`.

    Attributes:
        weight: The table, of shape (num_embeddings, embedding_dim).

    Example:
        >>> import numpy as np
        >>> from minigrad import nn
        >>> words = nn.Embedding(100, 8, padding_idx=0)
        >>> words(np.array([[5, 7, 0], [3, 0, 0]])).shape
        minigrad.Size([2, 3, 8])
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.num_embeddings = check_size(owner, "num_embeddings", num_embeddings)
        self.embedding_dim = check_size(owner, "embedding_dim", embedding_dim)
        check_padding_idx(owner, padding_idx, num_embeddings)
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            self.weight = Parameter(empty(shape), not _freeze)
            self.reset_parameters()
        else:
            refuse_shapes(np.shape(_weight) != shape, owner, f"a table of shape {shape}", _weight)
            self.weight = Parameter(_weight, not _freeze)
        self.to(dtype=dtype, device=device)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:  # fmt: skip
        """Make one whose table shares the memory of `embeddings`; frozen, it is not trained.

        Example:
            >>> from minigrad import nn, ones
            >>> nn.Embedding.from_pretrained(ones(5, 2)).weight.requires_grad
            False
        """
        refuse_shapes(np.ndim(embeddings) != 2, cls.__name__, "a table of vectors", embeddings)
        rows, width = np.shape(embeddings)
        options = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        return cls(rows, width, *options, embeddings, freeze)

    def reset_parameters(self) -> None:
        """Initialize the vectors again, that of `padding_idx` as zeros."""
        init.normal(self.weight)
        if self.padding_idx is not None:
            self.weight._data[self.padding_idx] = 0.0

    def forward(self, input: Tensor | np.ndarray) -> Tensor:
        """Look up vectors: integers of any shape get an axis of size embedding_dim at the end."""
        options = self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        return F.embedding(input, self.weight, *options, self.sparse)

    def extra_repr(self) -> str:
        options = unusual(self, padding_idx=None, max_norm=None, norm_type=2)
        options += unusual(self, scale_grad_by_freq=False, sparse=False)
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *options])


class EmbeddingBag(Embedding):
    """Sums, means or largest elements of bags of learned vectors: see `functional.embedding_bag`.

    The table is that of `Embedding`. The vectors of `padding_idx` belong to no bag.

    Example:
        >>> import numpy as np
        >>> from minigrad import nn
        >>> words = nn.EmbeddingBag(100, 8, mode="sum")
        >>> words(np.array([5, 7, 0, 3]), np.array([0, 2, 2])).shape
        minigrad.Size([3, 8])
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: BagMode = "mean",
        sparse: bool = False, _weight: Tensor | None = None, include_last_offset: bool = False,
        padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        options = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        super().__init__(num_embeddings, embedding_dim, *options, _weight, False, device, dtype)
        self.mode: BagMode = mode
        self.include_last_offset = include_last_offset

    def forward(
        self, input: Tensor | np.ndarray, offsets: Tensor | np.ndarray | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Look up the vectors of bags, from (B, L) or from (n,) with offsets to (B, width)."""
        options = self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse
        rest: Any = per_sample_weights, self.include_last_offset, self.padding_idx
        return F.embedding_bag(input, self.weight, offsets, *options, *rest)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: BagMode = "mean",
        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None,
    ) -> Self:  # fmt: skip
        """Make one whose table shares the memory of `embeddings`; frozen, it is not trained."""
        refuse_shapes(np.ndim(embeddings) != 2, cls.__name__, "a table of vectors", embeddings)
        rows, width = np.shape(embeddings)
        options = max_norm, norm_type, scale_grad_by_freq, mode, sparse
        layer = cls(rows, width, *options, embeddings, include_last_offset, padding_idx)
        layer.weight.requires_grad = not freeze
        return layer

    def extra_repr(self) -> str:
        options = unusual(self, max_norm=None, norm_type=2)
        options += [f"mode={self.mode!r}", *unusual(self, padding_idx=None)]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *options])


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
        rows, end = _rows(self, input, offset, position_ids, seq_len=self.seq_len)
        table, width, dtype = self.table, input.shape[-1], input.dtype
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
        rows, _ = _rows(self, input, offset, position_ids, max_len=self.max_len)
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
            raise ValueError(f"RotaryPosEmbedding: embed_dim must be even, got {embed_dim}")
        self.embed_dim = embed_dim
        self.max_seq_len = max_seq_len
        self.interleaved = interleaved
        self.base = base

    def forward(self, input: Tensor, position_ids: Any = None, *, offset: int = 0) -> Tensor:
        """Rotate each vector of a tensor (..., L, D) by the angles of its position.

        The arguments are those of `functional.rotary_pos_embedding`.
        """
        wrong = self.embed_dim is not None and input.shape[-1:] != (self.embed_dim,)
        wanted = f"shape (..., L, {self.embed_dim})"
        refuse_shapes(wrong, "RotaryPosEmbedding", wanted, input)
        if self.max_seq_len is not None and input.ndim > 1:
            owner, limit = "RotaryPosEmbedding", self.max_seq_len
            positions_of(owner, input.shape, position_ids, offset, max_seq_len=limit)
        return F.rotary_pos_embedding(
            input, position_ids, self.interleaved, offset=offset, base=self.base
        )


def _rows(
    layer: SinusoidalPosEmbedding | LearnedPosEmbedding, input: Tensor, offset: int,
    position_ids: Any, **limit: int | None,
) -> tuple[slice | np.ndarray, int]:  # fmt: skip
    """Check the input; return the rows of the table that it needs, and the end of the last."""
    owner, width = type(layer).__name__, layer.embed_dim
    wanted = "D" if width is None else width
    wrong = input.ndim not in (2, 3) or input.dtype.kind != "f"
    wrong = wrong or width not in (None, input.shape[-1])
    refuse_shapes(wrong, owner, f"floats of shape (L, {wanted}) or (N, L, {wanted})", input)
    positions = positions_of(owner, input.shape, position_ids, offset, **limit)
    end = int(positions.max(initial=-1)) + 1
    return slice(offset, end) if position_ids is None else positions, end
