"""The embedding layer: a table of vectors, looked up by index."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.functional.bags import BagMode
from minigrad.nn.functional.embeddings import check_padding_idx
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_size
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["Embedding", "EmbeddingBag"]


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
        if _weight is None:
            self.weight = Parameter(empty((num_embeddings, embedding_dim)), not _freeze)
            self.reset_parameters()
        elif _weight.shape != (num_embeddings, embedding_dim):
            raise ValueError(
                f"{owner}: a table of shape {(num_embeddings, embedding_dim)} "
                f"expected, got {tuple(_weight.shape)}"
            )
        else:
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
        rows, width = embeddings.shape
        return cls(
            rows, width, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings,
            freeze,
        )  # fmt: skip

    def reset_parameters(self) -> None:
        """Initialize the vectors again, that of `padding_idx` as zeros."""
        init.normal(self.weight)
        if self.padding_idx is not None:
            self.weight._data[self.padding_idx] = 0.0

    def forward(self, input: Tensor | np.ndarray) -> Tensor:
        """Look up vectors: integers of any shape get an axis of size embedding_dim at the end."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            scale_grad_by_freq=self.scale_grad_by_freq, sparse=self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append("scale_grad_by_freq=True")
        if self.sparse:
            parts.append("sparse=True")
        return ", ".join(parts)


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
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, _weight, False, device, dtype,
        )  # fmt: skip
        self.mode: BagMode = mode
        self.include_last_offset = include_last_offset

    def forward(
        self, input: Tensor | np.ndarray, offsets: Tensor | np.ndarray | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Look up the vectors of bags, from (B, L) or from (n,) with offsets to (B, width)."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, mode=self.mode,
            per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx, scale_grad_by_freq=self.scale_grad_by_freq,
            sparse=self.sparse,
        )  # fmt: skip

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: BagMode = "mean",
        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None,
    ) -> Self:  # fmt: skip
        """Make one whose table shares the memory of `embeddings`; frozen, it is not trained."""
        rows, width = embeddings.shape
        layer = cls(
            rows, width, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
            include_last_offset, padding_idx,
        )  # fmt: skip
        layer.weight.requires_grad = not freeze
        return layer

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)
