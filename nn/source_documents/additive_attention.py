"""Additive (Bahdanau) attention."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.errors import value_error
from minigrad.nn import init
from minigrad.nn.functional.attention import attend_additively, check_sequences
from minigrad.nn.functional.masks import MaskLike, combine
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_size
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["AdditiveAttention"]


class AdditiveAttention(Module):
    r"""Additive attention with the score :math:`v^\top \tanh(W_q^\top q + W_k^\top k)` of q and k.

    Source document: the Stage 15 specification. Queries and keys may differ in width.
    Weights are initialized by `init.xavier_uniform`.

    Source: Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and
    translate", 2015.

    Args:
        d_q: The width of the query.
        d_k: The width of the key.
        d_attn: The width of the hidden layer.

    Attributes:
        W_q: The projection of queries, of shape (d_q, d_attn).
        W_k: The projection of keys, of shape (d_k, d_attn).
        v: The score vector, of shape (d_attn,).
        refuses_inverted_masks: As that of `MultiHeadAttention`.

    Example:
        >>> from minigrad import nn, randn
        >>> attention = nn.AdditiveAttention(d_q=6, d_k=3, d_attn=7)
        >>> query, memory = randn(2, 4, 6), randn(2, 5, 3)
        >>> output, weights = attention(query, memory, memory, need_weights=True)
        >>> output.shape, weights.shape
        (minigrad.Size([2, 4, 3]), minigrad.Size([2, 4, 5]))
    """

    repr_fields = ("d_q", "d_k", "d_attn")
    refuses_inverted_masks: bool = True

    def __init__(self, d_q: int, d_k: int, d_attn: int) -> None:
        super().__init__()
        self.d_q = check_size("AdditiveAttention", "d_q", d_q)
        self.d_k = check_size("AdditiveAttention", "d_k", d_k)
        self.d_attn = check_size("AdditiveAttention", "d_attn", d_attn)
        self.W_q = Parameter(empty((d_q, d_attn)))
        self.W_k = Parameter(empty((d_k, d_attn)))
        self.v = Parameter(empty(d_attn))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize all weights again."""
        init.xavier_uniform(self.W_q)
        init.xavier_uniform(self.W_k)
        bound = (6.0 / (self.d_attn + 1)) ** 0.5  # as xavier_uniform, for the one output of v
        init.uniform(self.v, -bound, bound)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None, is_causal: bool = False, *, need_weights: bool = False,
    ) -> Any:  # fmt: skip
        """Apply attention.

        Args:
            query: A tensor of shape (N, L, d_q).
            key: A tensor of shape (N, S, d_k).
            value: A tensor of shape (N, S, d_v), of any width.
            key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            attn_mask: A mask of shape (L|1, S) or (N|1, L|1, S). Bool: True = may attend. Float:
                added to the scores, with a gradient if it requires one.
            is_causal: Query i may attend to keys 0 to i only.
            need_weights: Whether to also return the weights.

        Returns:
            A tensor of shape (N, L, d_v); with `need_weights` also the weights, of shape
            (N, L, S). A query that may attend nowhere gets zeros.
        """
        check_sequences("AdditiveAttention", query, key, value)
        if query.shape[2] != self.d_q or key.shape[2] != self.d_k:
            raise value_error(
                f"AdditiveAttention: query must be d_q = {self.d_q} and key d_k = {self.d_k} "
                f"wide, got {tuple(query.shape)} and {tuple(key.shape)}"
            )
        scores = (query.shape[0], 1, query.shape[1], key.shape[1])
        mask = combine(
            scores, query.dtype, attn_mask, key_padding_mask, is_causal,
            guarded=self.refuses_inverted_masks,
        )  # fmt: skip
        output, weights = attend_additively(query, key, value, self.W_q, self.W_k, self.v, mask)
        return (output, weights) if need_weights else output
