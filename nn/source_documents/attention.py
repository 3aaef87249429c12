"""The attention of the source documents: dot-product, multi-head, additive and causal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.functional.attention import attend, attend_additively, check_sequences
from minigrad.nn.functional.masks import Mask, MaskLike, combine
from minigrad.nn.layers.linear import Linear
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleList
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_divisible, check_probability, check_size, optional_package
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = [
    "AdditiveAttention", "CausalSelfAttention", "DotProductAttention",
    "MultiHeadDotProductAttention",
]  # fmt: skip


class _SingleHead(Module):
    """The call of an attention with one head, whose arguments have sizes of their own."""

    _attend: Callable[[Tensor, Tensor, Tensor, Mask, bool], tuple[Tensor, Tensor | None]]
    sizes: ClassVar[tuple[str, ...]]
    """The attributes with the widths of query and key, and that of the value unless it is free."""
    refuses_inverted_masks: bool = True

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None, is_causal: bool = False, *, need_weights: bool = False,
    ) -> Any:  # fmt: skip
        """Apply attention.

        Args:
            query: A tensor of shape (N, L, query size).
            key: A tensor of shape (N, S, key size).
            value: A tensor of shape (N, S, value size).
            key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            attn_mask: A mask of shape (L|1, S) or (N|1, L|1, S). Bool: True = may attend. Float:
                added to the scores, with a gradient if it requires one.
            is_causal: Query i may attend to keys 0 to i only.
            need_weights: Whether to also return the weights.

        Returns:
            A tensor of shape (N, L, output size); with `need_weights` also the weights, of shape
            (N, L, S). A query that may attend nowhere gets zeros.
        """
        widths = [getattr(self, size) for size in self.sizes]
        check_sequences(type(self).__name__, query, key, value, widths)
        scores = query.shape[0], 1, query.shape[1], key.shape[1]
        masks = attn_mask, key_padding_mask, is_causal
        mask = combine(scores, query.dtype, *masks, guarded=self.refuses_inverted_masks)
        output, weights = self._attend(query, key, value, mask, need_weights)
        return (output, weights) if need_weights else output


class DotProductAttention(_SingleHead):
    r"""Single-head dot-product attention with bias-free projections.

    Source document: the attention-mechanism structure.

    .. math::

        Q = X_q W_q, \quad K = X_k W_k, \quad V = X_v W_v, \qquad
        \text{Output} = \operatorname{softmax}\Big(\frac{Q K^\top}{\sqrt{d}}\Big)\, V,

    where d is `hidden_size`. The projections are initialized by `init.xavier_uniform`.
    The sizes are the widths of query, key and value, `hidden_size` that of projections and output.

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

    sizes = ("query_size", "key_size", "value_size")
    repr_fields = (*sizes, "hidden_size")

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

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Mask, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        projections = (self.query_proj, self.key_proj, self.value_proj)
        q, k, v = (
            ops.expand_dims(ops.matmul(x, projection), 1)  # (N, 1, L or S, hidden_size)
            for x, projection in zip((query, key, value), projections, strict=True)
        )
        output, weights = attend(q, k, v, mask, need_weights=need_weights)
        output = ops.squeeze(output, 1)  # (N, L, hidden_size)
        return output, None if weights is None else ops.squeeze(weights, 1)


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
        inputs = query, key, value, key_padding_mask, attn_mask, is_causal
        results = [head(*inputs, need_weights=need_weights) for head in self.heads]
        if not need_weights:
            return ops.concatenate(results, axis=-1)
        outputs, weights = zip(*results, strict=True)
        return ops.concatenate(outputs, axis=-1), ops.stack(weights, axis=1)


class AdditiveAttention(_SingleHead):
    r"""Additive attention with the score :math:`v^\top \tanh(W_q^\top q + W_k^\top k)` of q and k.

    Source document: the Stage 15 specification. Queries and keys may differ in width.
    Weights are initialized by `init.xavier_uniform`.

    Source: Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and
    translate", 2015.

    `d_q`, `d_k` and `d_attn` are the widths of query, key and hidden layer.

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

    sizes = ("d_q", "d_k")
    repr_fields = (*sizes, "d_attn")

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

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Mask, _: bool
    ) -> tuple[Tensor, Tensor | None]:
        return attend_additively(query, key, value, self.W_q, self.W_k, self.v, mask)


class CausalSelfAttention(Module):
    r"""Causal multi-head self-attention with a fused projection.

    .. math::

        (Q \mid K \mid V) = x W_{qkv}^\top + b_{qkv}, \qquad
        A_h = \operatorname{softmax}\Big(\frac{Q_h K_h^\top}{\sqrt{d_k}} + M\Big) V_h, \qquad
        \text{Output} = (A_1 \mid \dots \mid A_H)\, W_o^\top + b_o,

    where M is 0 on and below the diagonal and -∞ above it. The fused axis is ordered
    ``(o head d_k)``: all of Q, then all of K, then all of V, head by head in each, as in PyTorch's
    ``in_proj_weight``. Each of the three projections is initialized as by
    `init.xavier_uniform`; biases are zero. With equal weights it equals `MultiHeadAttention` with
    ``is_causal=True``, but takes any number of batch axes.

    It needs the package einops.

    Source: Vaswani et al., "Attention is all you need", 2017; the notes on causal self-attention
    (docs/source_documents.md).

    Args:
        d_model: The width of input and output.
        num_heads: H, the number of heads; it divides d_model, and d_k = d_model / H.
        bias: Whether the projections have a bias.
        dropout: The dropout probability of the attention weights in training.

    Attributes:
        qkv_weights: The fused projection, weight of shape (3 · d_model, d_model).
        o_weight: The projection of the concatenated heads, weight of shape (d_model, d_model).

    Raises:
        ImportError: einops is not installed.
        ValueError: num_heads does not divide d_model, or an argument is out of its range.

    Example:
        >>> from minigrad import nn, randn
        >>> attention = nn.CausalSelfAttention(d_model=16, num_heads=4)
        >>> attention(randn(2, 10, 16)).shape  # (batch, seq_len, d_model)
        minigrad.Size([2, 10, 16])
        >>> output, weights = attention(randn(10, 16), need_weights=True)
        >>> output.shape, weights.shape
        (minigrad.Size([10, 16]), minigrad.Size([4, 10, 10]))
    """

    repr_fields = ("d_model", "num_heads", "dropout")

    def __init__(
        self, d_model: int, num_heads: int, *, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        owner = "CausalSelfAttention"
        optional_package(owner, "einops")
        self.d_model = check_size(owner, "d_model", d_model)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.dropout = check_probability(owner, "dropout", dropout)
        check_divisible(owner, d_model=d_model, num_heads=num_heads)
        self.qkv_weights = Linear(d_model, 3 * d_model, bias)
        self.o_weight = Linear(d_model, d_model, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize all projections again."""
        # The bound of xavier_uniform for a matrix (d_model, d_model): each of Q, K, V is one.
        bound = math.sqrt(6 / (self.d_model + self.d_model))
        init.uniform(self.qkv_weights.weight, -bound, bound)
        init.xavier_uniform(self.o_weight.weight)
        for projection in (self.qkv_weights, self.o_weight):
            if projection.bias is not None:
                init.constant(projection.bias, 0.0)

    def forward(self, x: Tensor, *, need_weights: bool = False) -> Any:
        """Apply attention of each position to itself and earlier ones.

        Args:
            x: A tensor of shape (..., seq_len, d_model), with any number of batch axes.
            need_weights: Whether to also return the weights of every head.

        Returns:
            A tensor of the shape of `x`; with `need_weights` also the weights before dropout, of
            shape (..., H, seq_len, seq_len).
        """
        refuse_shapes(x.ndim < 2, "CausalSelfAttention", "x of shape (..., seq_len, d_model)", x)
        rearrange = optional_package("CausalSelfAttention", "einops").rearrange
        q, k, v = rearrange(  # (..., seq_len, 3 · d_model) -> thrice (..., H, seq_len, d_k)
            self.qkv_weights(x),
            "... seq_len (o head d_k) -> o ... head seq_len d_k", o=3, head=self.num_heads,
        )  # fmt: skip
        dropout = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=True, output_weight=need_weights
        )
        heads, weights = attended if need_weights else (attended, None)
        output = self.o_weight(rearrange(heads, "... head seq_len d_k -> ... seq_len (head d_k)"))
        return (output, weights) if need_weights else output
