"""Attention layers: scaled dot-product attention, and multi-head attention with its projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.nn import init
from minigrad.nn.attention.cache import KVCache
from minigrad.nn.functional.attention import attend, check_sequences, scores_shape
from minigrad.nn.functional.masks import Mask, MaskLike, combine, grouped
from minigrad.nn.layers.embedding import RotaryPosEmbedding
from minigrad.nn.layers.linear import Linear
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_divisible, check_probability, check_size
from minigrad.tensors.creation import empty, zeros
from minigrad.tensors.tensor import Tensor

__all__ = ["MultiHeadAttention", "ScaledDotProductAttention"]


class ScaledDotProductAttention(Module):
    r"""Scaled dot-product attention :math:`\operatorname{softmax}(Q K^\top / \sqrt{E} + M)\, V`.

    The arguments are those of `functional.scaled_dot_product_attention`, with masks as
    `MultiHeadAttention` takes them; in evaluation mode there is no dropout.

    Attributes:
        refuses_inverted_masks: As that of `MultiHeadAttention`.

    Example:
        >>> from minigrad import nn, randn
        >>> x = randn(2, 10, 16)
        >>> nn.ScaledDotProductAttention(is_causal=True)(x, x, x).shape
        minigrad.Size([2, 10, 16])
    """

    repr_fields = ("dropout_p", "is_causal", "scale")
    refuses_inverted_masks: bool = True

    def __init__(
        self, attn_mask: MaskLike = None, dropout_p: float = 0.0, is_causal: bool = False,
        scale: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.attn_mask = attn_mask
        self.dropout_p = check_probability("ScaledDotProductAttention", "dropout_p", dropout_p)
        self.is_causal = is_causal
        self.scale = scale

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Map tensors of shape (..., L, E), (..., S, E) and (..., S, E_v) to (..., L, E_v)."""
        dropout_p = self.dropout_p if self.training else 0.0
        mask = Mask(causal=self.is_causal)
        scores = scores_shape(query.shape, key.shape, value.shape)
        if self.attn_mask is not None and scores is not None:
            options: Any = {"is_causal": self.is_causal, "guarded": self.refuses_inverted_masks}
            mask = combine(scores, query.dtype, self.attn_mask, **options)
        return attend(query, key, value, mask, dropout_p, self.scale)[0]


class MultiHeadAttention(Module):
    r"""Multi-head attention with projections of query, key, value and output.

    .. math::

        A_i = \operatorname{softmax}\Big(\frac{Q_i K_i^\top}{\sqrt{d_h}} + M\Big) V_i,
        \qquad \text{Output} = \operatorname{Concat}(A_1, \dots, A_H)\, W^O,

    where :math:`Q_i, K_i, V_i` are the i-th of H slices, each :math:`d_h` = embed_dim / H wide, of
    the projected query, key and value.

    Each projection weight is initialized by `init.xavier_uniform`; biases are zero. PyTorch's state
    dicts load, including the packed `in_proj_weight`.

    Source: Vaswani et al., "Attention is all you need", 2017; grouped queries: Ainslie et al.,
    "GQA: training generalized multi-query transformer models", 2023.

    Args:
        embed_dim: The width of query and output.
        num_heads: H, the number of heads; it divides embed_dim.
        dropout: The dropout probability of the attention weights in training.
        bias: Whether the projections have a bias.
        add_bias_kv: Whether to append a learned key and value.
        add_zero_attn: Whether to append a key and value of zeros.
        kdim: The width of the key, embed_dim by default.
        vdim: The width of the value, embed_dim by default.
        num_kv_heads: G, the number of key and value heads; it divides num_heads, the default. With
            fewer (grouped-query attention), query heads i·H/G to (i+1)·H/G - 1 share keys and
            values i, and caches are smaller.
        rope: A rotary embedding of queries and keys, :math:`Q_i` and :math:`K_i`, after the
            projection. It has no parameters.

    Attributes:
        q_proj: The projection of queries, weight of shape (embed_dim, embed_dim).
        k_proj: The projection of keys, weight of shape (G · d_h, kdim).
        v_proj: The projection of values, weight of shape (G · d_h, vdim).
        out_proj: The projection of the concatenated heads.
        bias_k: The learned key, of shape (1, 1, G · d_h), or None.
        bias_v: The learned value, of the same shape, or None.
        refuses_inverted_masks: Whether a bool `attn_mask` of shape (L, L) that is False on its
            whole diagonal is an error, since it is probably meant for PyTorch's layers.

    Raises:
        ValueError: num_heads does not divide embed_dim, or num_kv_heads not num_heads.

    Example:
        >>> import minigrad.nn as nn
        >>> from minigrad import Tensor
        >>> mha = nn.MultiHeadAttention(embed_dim=512, num_heads=8)
        >>> query = Tensor.randn(16, 10, 512)  # (batch, seq_len, embed_dim)
        >>> key = Tensor.randn(16, 12, 512)
        >>> value = Tensor.randn(16, 12, 512)
        >>> mha(query, key, value).shape
        minigrad.Size([16, 10, 512])
        >>> output, weights = mha(query, key, value, need_weights=True)
        >>> weights.shape
        minigrad.Size([16, 8, 10, 12])
    """

    bias_k: Parameter | None
    bias_v: Parameter | None
    refuses_inverted_masks: bool = True

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, *, num_kv_heads: int | None = None,
        rope: RotaryPosEmbedding | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = "MultiHeadAttention"
        self.embed_dim = check_size(owner, "embed_dim", embed_dim)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.kdim = embed_dim if kdim is None else check_size(owner, "kdim", kdim)
        self.vdim = embed_dim if vdim is None else check_size(owner, "vdim", vdim)
        self.dropout = check_probability(owner, "dropout", dropout)
        self.add_zero_attn = add_zero_attn
        groups = num_heads if num_kv_heads is None else num_kv_heads
        self.num_kv_heads = check_size(owner, "num_kv_heads", groups)
        check_divisible(owner, embed_dim=embed_dim, num_heads=num_heads)
        check_divisible(owner, num_heads=num_heads, num_kv_heads=groups)
        self.head_dim = embed_dim // num_heads
        width = self.num_kv_heads * self.head_dim
        self._make_projections(width, bias)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        self.rope = rope
        self.bias_k = Parameter(empty((1, 1, width))) if add_bias_kv else None
        self.bias_v = Parameter(empty((1, 1, width))) if add_bias_kv else None
        self.reset_parameters()

    def _make_projections(self, width: int, bias: bool) -> None:
        """Those of query, key and value: three layers; `torch.nn` has them packed."""
        self.q_proj = Linear(self.embed_dim, self.embed_dim, bias)
        self.k_proj = Linear(self.kdim, width, bias)
        self.v_proj = Linear(self.vdim, width, bias)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        return self.q_proj(query), self.k_proj(key), self.v_proj(value)

    def reset_parameters(self) -> None:
        """Initialize all projections again."""
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            init.xavier_uniform(projection.weight)
            if projection.bias is not None:
                init.constant(projection.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal(extra)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None, is_causal: bool = False, kv_cache: KVCache | None = None,
        use_cache: bool = False, cache_position: Any = None, cache_layer_idx: int | None = None, *,
        need_weights: bool = False, query_offset: int | None = None,
    ) -> Any:  # fmt: skip
        """Apply attention.

        Args:
            query: A tensor of shape (N, L, embed_dim).
            key: A tensor of shape (N, S, kdim).
            value: A tensor of shape (N, S, vdim).
            key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            attn_mask: A mask of shape (L|1, S), (N|1, L|1, S) or (N|1, H|1, L|1, S). Bool:
                True = may attend. Float: added to the scores, with a gradient if it requires one.
            is_causal: Query i may attend to keys 0 to i only, in addition to the masks.
            kv_cache: A cache, whose keys come before the given ones; S in the shapes of masks and
                weights, and the positions of `is_causal`, count both.
            use_cache: Whether to store the new keys and values in the cache.
            cache_position: Their positions, ints of shape (S,), by default after the cached ones.
            cache_layer_idx: The slot of this module in the cache. By default each module gets the
                next one in its first call.
            need_weights: Whether to also return the weights of every head.
            query_offset: The position of query 0, for `is_causal` and `rope`; by default that of
                the first given key, which is 0 without a cache.

        Returns:
            A tensor of shape (N, L, embed_dim); with `need_weights` also the weights before
            dropout, of shape (N, H, L, S + extra keys). A query that may attend nowhere gets
            weights of zero, and the output projection's bias as output.

        Raises:
            TypeError: A mask has the wrong dtype.
            ValueError: Shapes do not fit, a cache argument is given without `kv_cache`, or the
                slot belongs to another module.
        """
        widths = (self.embed_dim, self.kdim, self.vdim)
        check_sequences("MultiHeadAttention", query, key, value, widths)
        n, length, _ = query.shape
        q, k, v = self._project(query, key, value)
        q = self._split(q, self.num_heads)  # (N, H, L, d)
        k, v = (self._split(x, self.num_kv_heads) for x in (k, v))  # (N, G, S, d)
        place: Any = ()
        start = 0
        if kv_cache is not None:
            slot = kv_cache.slots.find(kv_cache, self, cache_layer_idx, k.shape[2], use_cache)
            place = slot, cache_position
            start = kv_cache.first_position(k.shape[2], *place)
        elif use_cache or cache_position is not None or cache_layer_idx is not None:
            what = "use_cache, cache_position and cache_layer_idx need a cache"
            raise value_error(f"MultiHeadAttention: {what}: pass kv_cache=nn.DynamicKVCache()")
        first_query = start if query_offset is None else query_offset
        scores = n, self.num_heads, length, start + k.shape[2]
        masks = attn_mask, key_padding_mask, is_causal, self._extra_keys, first_query
        mask = combine(scores, q.dtype, *masks, self.refuses_inverted_masks)
        if self.rope is not None:  # a cache keeps rotated keys
            q, k = self.rope(q, offset=first_query), self.rope(k, offset=start)
        if kv_cache is not None:  # after the masks are checked: an error leaves the cache unchanged
            k, v = (kv_cache.update if use_cache else kv_cache.joined)(k, v, *place)
            if use_cache:
                kv_cache.slots.claim(place[0], self)
        if self._extra_keys:
            k, v = self._with_extra_keys(k, v)
        groups = self.num_kv_heads
        if groups != self.num_heads:  # (N, G, H/G, L, d) against (N, G, 1, S, d)
            q = q.reshape(n, groups, self.num_heads // groups, length, self.head_dim)
            k, v, mask = k.unsqueeze(2), v.unsqueeze(2), grouped(mask, groups)
        dropout = self.dropout if self.training else 0.0
        heads, weights = attend(q, k, v, mask, dropout, need_weights=need_weights)
        if groups != self.num_heads:  # (N, G, H/G, L, d) -> (N, H, L, d)
            heads = heads.reshape(n, self.num_heads, *heads.shape[3:])
            if weights is not None:
                weights = weights.reshape(n, self.num_heads, *weights.shape[3:])
        width = self.num_heads * self.head_dim
        merged = heads.swapaxes(1, 2).reshape(n, length, width)  # (N, L, E)
        output = self.out_proj(merged)
        return (output, weights) if need_weights else output

    @property
    def _extra_keys(self) -> int:
        """The number of appended keys."""
        return (self.bias_k is not None) + self.add_zero_attn

    def _with_extra_keys(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append the learned key and value, and those of zeros."""
        keys, values = [k], [v]
        one = (k.shape[0], self.num_kv_heads, 1, self.head_dim)
        if self.bias_k is not None and self.bias_v is not None:
            keys.append(ops.broadcast_to(self._split(self.bias_k, self.num_kv_heads), one))
            values.append(ops.broadcast_to(self._split(self.bias_v, self.num_kv_heads), one))
        if self.add_zero_attn:
            keys.append(zeros(one, dtype=k.dtype))
            values.append(zeros(one, dtype=v.dtype))
        return ops.concatenate(keys, axis=2), ops.concatenate(values, axis=2)

    def _split(self, x: Tensor, heads: int) -> Tensor:
        """(N, L, heads · d) -> (N, heads, L, d)."""
        n, length, _ = x.shape
        return x.reshape(n, length, heads, self.head_dim).swapaxes(1, 2)

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """Unpack PyTorch's in_proj_weight and in_proj_bias, or q_proj_weight and so on."""
        projections = ("q_proj", "k_proj", "v_proj")
        width = self.num_kv_heads * self.head_dim
        cuts = (0, self.embed_dim, self.embed_dim + width, None)
        for kind in ("weight", "bias"):
            packed = state.pop(f"in_proj_{kind}", None)
            for i, name in enumerate(projections):
                alone = state.pop(f"{name}_{kind}", None)
                if alone is not None:
                    state[f"{name}.{kind}"] = alone
                if packed is not None:  # a wrong length shows in the last part
                    state[f"{name}.{kind}"] = packed[cuts[i] : cuts[i + 1]]
        return state

    def extra_repr(self) -> str:
        parts = [f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}"]
        if self.num_kv_heads != self.num_heads:
            parts.append(f"num_kv_heads={self.num_kv_heads}")
        parts += ["add_bias_kv=True"] * (self.bias_k is not None)
        parts += ["add_zero_attn=True"] * self.add_zero_attn
        return ", ".join(parts)
