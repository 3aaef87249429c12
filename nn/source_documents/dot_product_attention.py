"""Dot-product attention with bias-free projections, single-head and multi-head."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.nn import init
from minigrad.nn.functional.attention import attend, check_sequences
from minigrad.nn.functional.masks import MaskLike, combine
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleList
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_divisible, check_size
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["DotProductAttention", "MultiHeadDotProductAttention"]


class DotProductAttention(Module):
    r"""Single-head dot-product attention with bias-free projections.

    Source document: the attention-mechanism structure.

    .. math::

        Q = X_q W_q, \quad K = X_k W_k, \quad V = X_v W_v, \qquad
        \text{Output} = \operatorname{softmax}\Big(\frac{Q K^\top}{\sqrt{d}}\Big)\, V,

    where d is `hidden_size`. The projections are initialized by `init.xavier_uniform`.

    Args:
        query_size: The width of the query.
        key_size: The width of the key.
        value_size: The width of the value.
        hidden_size: The width of the projections and of the output.

    Attributes:
        query_proj: The projection of queries, of shape (query_size, hidden_size).
        key_proj: The projection of keys, of shape (key_size, hidden_size).
        value_proj: The projection of values, of shape (value_size, hidden_size).
        refuses_inverted_masks: As that of `MultiHeadAttention`.

    Example:
        >>> from minigrad import nn, randn
        >>> attention = nn.DotProductAttention(6, 3, 4, hidden_size=8)
        >>> query, key, value = (randn(2, 10, size) for size in (6, 3, 4))
        >>> attention(query, key, value).shape
        minigrad.Size([2, 10, 8])
    """

    repr_fields = ("query_size", "key_size", "value_size", "hidden_size")
    refuses_inverted_masks: bool = True

    def __init__(self, query_size: int, key_size: int, value_size: int, hidden_size: int) -> None:
        super().__init__()
        self.query_size = check_size("DotProductAttention", "query_size", query_size)
        self.key_size = check_size("DotProductAttention", "key_size", key_size)
        self.value_size = check_size("DotProductAttention", "value_size", value_size)
        self.hidden_size = check_size("DotProductAttention", "hidden_size", hidden_size)
        self.query_proj = Parameter(empty((query_size, hidden_size)))
        self.key_proj = Parameter(empty((key_size, hidden_size)))
        self.value_proj = Parameter(empty((value_size, hidden_size)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize all projections again."""
        for projection in (self.query_proj, self.key_proj, self.value_proj):
            init.xavier_uniform(projection)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None, is_causal: bool = False, *, need_weights: bool = False,
    ) -> Any:  # fmt: skip
        """Apply attention.

        Args:
            query: A tensor of shape (N, L, query_size).
            key: A tensor of shape (N, S, key_size).
            value: A tensor of shape (N, S, value_size).
            key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            attn_mask: A mask of shape (L|1, S) or (N|1, L|1, S). Bool: True = may attend. Float:
                added to the scores, with a gradient if it requires one.
            is_causal: Query i may attend to keys 0 to i only.
            need_weights: Whether to also return the weights.

        Returns:
            A tensor of shape (N, L, hidden_size); with `need_weights` also the weights, of shape
            (N, L, S). A query that may attend nowhere gets zeros.
        """
        self._check_inputs(query, key, value)
        scores = (query.shape[0], 1, query.shape[1], key.shape[1])
        q, k, v = (
            ops.expand_dims(ops.matmul(x, projection), 1)  # (N, 1, L or S, hidden_size)
            for x, projection in (
                (query, self.query_proj),
                (key, self.key_proj),
                (value, self.value_proj),
            )
        )
        mask = combine(
            scores, q.dtype, attn_mask, key_padding_mask, is_causal,
            guarded=self.refuses_inverted_masks,
        )  # fmt: skip
        output, weights = attend(q, k, v, mask, need_weights=need_weights)
        output = ops.squeeze(output, 1)  # (N, L, hidden_size)
        return output if weights is None else (output, ops.squeeze(weights, 1))

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        check_sequences("DotProductAttention", query, key, value)
        found = (query.shape[2], key.shape[2], value.shape[2])
        wanted = (self.query_size, self.key_size, self.value_size)
        if found != wanted:
            raise value_error(
                f"DotProductAttention: query, key and value must be {wanted} wide, got {found}"
            )


class MultiHeadDotProductAttention(Module):
    """Concatenated heads of `DotProductAttention`, each with its own projections.

    The sizes are those of `DotProductAttention`; each head is hidden_size / num_heads wide.

    There is no output projection: `MultiHeadAttention` has one.

    Attributes:
        heads: A `ModuleList` of the heads.

    Example:
        >>> from minigrad import nn, randn
        >>> attention = nn.MultiHeadDotProductAttention(6, 3, 4, hidden_size=8, num_heads=2)
        >>> query, key, value = (randn(2, 10, size) for size in (6, 3, 4))
        >>> output, weights = attention(query, key, value, need_weights=True)
        >>> output.shape, weights.shape
        (minigrad.Size([2, 10, 8]), minigrad.Size([2, 2, 10, 10]))
    """

    def __init__(
        self, query_size: int, key_size: int, value_size: int, hidden_size: int, num_heads: int
    ) -> None:
        super().__init__()
        owner = "MultiHeadDotProductAttention"
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.hidden_size = check_size(owner, "hidden_size", hidden_size)
        check_divisible(owner, hidden_size=hidden_size, num_heads=num_heads)
        self.heads = ModuleList(
            DotProductAttention(query_size, key_size, value_size, hidden_size // num_heads)
            for _ in range(num_heads)
        )

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None, is_causal: bool = False, *, need_weights: bool = False,
    ) -> Any:  # fmt: skip
        """Apply attention in every head.

        The arguments are those of `DotProductAttention`, the same for every head.

        Returns:
            A tensor of shape (N, L, hidden_size); with `need_weights` also the weights, of shape
            (N, H, L, S). A query that may attend nowhere gets zeros.
        """
        masks = (key_padding_mask, attn_mask, is_causal)
        results = [
            head(query, key, value, *masks, need_weights=need_weights) for head in self.heads
        ]
        if not need_weights:
            return ops.concatenate(results, axis=-1)
        outputs, weights = zip(*results, strict=True)
        return ops.concatenate(outputs, axis=-1), ops.stack(weights, axis=1)
