"""The layers of transformers: encoder layer, decoder layer, and the gated feed-forward network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from minigrad.autograd.errors import refuse_shapes
from minigrad.nn import functional as F
from minigrad.nn.attention.cache import EncoderDecoderCache, KVCache
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.activation import activation_function
from minigrad.nn.layers.dropout import Dropout
from minigrad.nn.layers.embedding import RotaryPosEmbedding
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["SwiGLU", "TransformerDecoderLayer", "TransformerEncoderLayer"]


class Layer(Module):
    """The parts of a transformer layer: attention, a feed-forward network, residual branches."""

    branches: ClassVar[int]
    """2, or 3 with cross-attention: each has a normalization and a dropout."""
    repr_fields = ("norm_first",)
    multihead_attn: MultiHeadAttention

    def __init__(
        self, d_model: int, num_heads: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu, layer_norm_eps: float = 1e-5,
        *, norm_first: bool = False, bias: bool = True, num_kv_heads: int | None = None,
        rope: RotaryPosEmbedding | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm_first = norm_first
        sizes = d_model, num_heads, dropout, bias
        self.self_attn = MultiHeadAttention(*sizes, num_kv_heads=num_kv_heads, rope=rope)
        if self.branches == 3:
            self.multihead_attn = MultiHeadAttention(*sizes, num_kv_heads=num_kv_heads)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        if self.branches == 3:
            self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if self.branches == 3:
            self.dropout3 = Dropout(dropout)
        self.activation = activation_function(activation)

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.activation(self.linear1(x)))
        dropout = self.dropout3 if self.branches == 3 else self.dropout2
        return dropout(self.linear2(hidden))

    def _add(self, x: Tensor, norm: LayerNorm, branch: Callable[[Tensor], Tensor]) -> Tensor:
        """Add a branch to its input, with the normalization before the branch or after the sum."""
        return x + branch(norm(x)) if self.norm_first else norm(x + branch(x))


class TransformerEncoderLayer(Layer):
    """A transformer encoder layer: self-attention and a feed-forward network with residuals.

    Post-norm, the default, normalizes after each residual sum; pre-norm (`norm_first`) normalizes
    the input of each branch. PyTorch's state dicts load.

    Source: Vaswani et al., "Attention is all you need", 2017; pre-norm: Xiong et al., "On layer
    normalization in the transformer architecture", 2020.

    Args:
        d_model: The width of input and output.
        num_heads: The number of attention heads; it divides d_model.
        dim_feedforward: The width inside the feed-forward network.
        dropout: The dropout probability of attention weights, hidden units and branches.
        activation: The activation inside the feed-forward network: a name such as "gelu", a
            function of a tensor, or a module.
        layer_norm_eps: The eps of both normalizations.
        norm_first: Pre-norm instead of post-norm.
        bias: Whether linear layers and normalizations have a bias.
        num_kv_heads: The number of key and value heads, for grouped-query attention; num_heads by
            default.
        rope: A rotary embedding of the queries and keys of self-attention: the layer then knows
            the order of its inputs, and nothing needs to be added to them.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerEncoderLayer(32, 4, dim_feedforward=64, activation="gelu")
        >>> layer(randn(8, 10, 32)).shape
        minigrad.Size([8, 10, 32])
    """

    branches = 2

    def forward(
        self, src: Tensor, src_mask: MaskLike = None, src_key_padding_mask: MaskLike = None,
        is_causal: bool = False, kv_cache: KVCache | None = None, use_cache: bool = False,
        cache_position: Any = None, cache_layer_idx: int | None = None, *,
        need_weights: bool = False,
    ) -> Any:  # fmt: skip
        """Transform a batch of sequences.

        Args:
            src: A tensor of shape (N, L, d_model).
            src_mask: A mask of shape (L|1, L), (N|1, L|1, L) or (N|1, H|1, L|1, L). Bool:
                True = may attend. Float: added to the scores.
            src_key_padding_mask: A bool mask of shape (N, L): True = padding, ignored.
            is_causal: Each position attends to itself and those before it only.
            kv_cache: A cache, whose positions come before those of `src`; the last axis of every
                mask counts both.
            use_cache: As in `MultiHeadAttention`.
            cache_position: The same.
            cache_layer_idx: The same.
            need_weights: Whether to also return the attention weights of every head.

        Returns:
            A tensor of shape (N, L, d_model); with `need_weights` also the weights before dropout,
            of shape (N, H, L, L), or with a cache (N, H, L, cached + L).
        """
        x = self.norm1(src) if self.norm_first else src
        masks: Any = src_key_padding_mask, src_mask, is_causal
        cached: Any = kv_cache, use_cache, cache_position, cache_layer_idx
        asked = given_options(need_weights=need_weights)
        attended = self.self_attn(x, x, x, *masks, *cached, **asked)
        attended, weights = attended if need_weights else (attended, None)
        x = src + self.dropout1(attended)
        x = self._add(x if self.norm_first else self.norm1(x), self.norm2, self._feed_forward)
        return (x, weights) if need_weights else x


class TransformerDecoderLayer(Layer):
    """A transformer decoder layer: self-attention, cross-attention and feed-forward network.

    The arguments are those of `TransformerEncoderLayer`; `rope` is for self-attention.

    Post-norm, the default, normalizes after each residual sum; pre-norm (`norm_first`) normalizes
    the input of each branch, but not the memory. PyTorch's state dicts load.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(32, 4, dim_feedforward=64)
        >>> tgt, memory = randn(8, 7, 32), randn(8, 10, 32)
        >>> layer(tgt, memory, tgt_is_causal=True).shape
        minigrad.Size([8, 7, 32])
    """

    branches = 3

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: MaskLike = None, mem_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None, mem_key_padding_mask: MaskLike = None,
        tgt_is_causal: bool = False, mem_is_causal: bool = False,
        kv_cache: KVCache | EncoderDecoderCache | None = None, use_cache: bool = False,
        cache_position: Any = None, cache_layer_idx: int | None = None,
    ) -> Tensor:  # fmt: skip
        """Transform a batch of target sequences, attending to the memory.

        Args:
            tgt: The target, a tensor of shape (N, T, d_model).
            memory: The encoder's output, a tensor of shape (N, S, d_model).
            tgt_mask: A mask of shape (T|1, T), (N|1, T|1, T) or (N|1, H|1, T|1, T). Bool: True =
                may attend. Float: added to the scores.
            mem_mask: The same for the memory: (T|1, S), (N|1, T|1, S) or (N|1, H|1, T|1, S).
            tgt_key_padding_mask: A bool mask of shape (N, T): True = padding, ignored.
            mem_key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            tgt_is_causal: Each position attends to itself and those before it only.
            mem_is_causal: Position i attends to positions 0 to i of the memory only.
            kv_cache: A cache, whose positions come before those of `tgt`; the last axis of the
                target's masks counts both. An `EncoderDecoderCache` also stores the projected
                memory.
            use_cache: As in `MultiHeadAttention`.
            cache_position: The same.
            cache_layer_idx: The same.
        """
        wrong = tgt.shape[:1] != memory.shape[:1]
        wanted = "tgt and memory of one batch size (beams: memory.repeat_interleave(n, dim=0))"
        refuse_shapes(wrong, "TransformerDecoderLayer", wanted, tgt, memory)
        own: Any = kv_cache
        across: Any = None
        if isinstance(kv_cache, EncoderDecoderCache):
            own, across = kv_cache.self_attention_cache, kv_cache.cross_attention_cache
        start, cross, filled = 0, None, False
        if own is not None:
            length = tgt.shape[1]
            slot = own.slots.find(own, self.self_attn, cache_layer_idx, length, use_cache)
            start = own.first_position(length, slot, cache_position)
        if across is not None:  # an error leaves both caches unchanged
            length = memory.shape[1]
            cross = across.slots.find(across, self.multihead_attn, cache_layer_idx, length, False)
            filled = across.get_seq_length(cross) > 0
            if filled:
                across.slots.check_memory(cross, memory)

        def attend(x: Tensor) -> Tensor:
            masks: Any = tgt_key_padding_mask, tgt_mask, tgt_is_causal
            cached: Any = own, use_cache, cache_position, cache_layer_idx
            return self.dropout1(self.self_attn(x, x, x, *masks, *cached))

        def attend_memory(x: Tensor) -> Tensor:
            """Cross-attention of positions from `start` on; a cache keeps the projected memory."""
            stores = across is not None and use_cache
            given = memory[:, :0] if filled else memory
            fills = stores and not filled
            cached = given_options(kv_cache=across, use_cache=fills, cache_layer_idx=cross)
            masks = mem_key_padding_mask, mem_mask, mem_is_causal
            attended = self.multihead_attn(x, given, given, *masks, query_offset=start, **cached)
            if stores:
                across.slots.check_memory(cross, memory)
            return self.dropout2(attended)

        x = self._add(tgt, self.norm1, attend)
        x = self._add(x, self.norm2, attend_memory)
        return self._add(x, self.norm3, self._feed_forward)


class SwiGLU(Module):
    r"""The gated feed-forward network :math:`(\operatorname{SiLU}(x W_g) \odot x W_u)\, W_d`.

    Source: Shazeer, "GLU variants improve transformer", 2020.

    Args:
        d_model: The width of input and output.
        d_ff: The hidden width, by default ⌊8/3 · d_model⌋: then the three matrices have as many
            parameters as the usual two with 4 · d_model.
        bias: Whether the three linear layers have a bias.

    Attributes:
        gate_proj: The projection to the gate, weight W_g of shape (d_ff, d_model).
        up_proj: The projection that is gated, weight W_u of the same shape.
        down_proj: The output projection, weight W_d of shape (d_model, d_ff).

    Example:
        >>> from minigrad import nn, randn
        >>> network = nn.SwiGLU(12)
        >>> network.up_proj.weight.shape, network(randn(2, 5, 12)).shape
        (minigrad.Size([32, 12]), minigrad.Size([2, 5, 12]))
    """

    def __init__(self, d_model: int, d_ff: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.d_model = check_size("SwiGLU", "d_model", d_model)
        self.d_ff = 8 * d_model // 3 if d_ff is None else check_size("SwiGLU", "d_ff", d_ff)
        self.gate_proj = Linear(d_model, self.d_ff, bias)
        self.up_proj = Linear(d_model, self.d_ff, bias)
        self.down_proj = Linear(self.d_ff, d_model, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Transform each position of a tensor of shape (..., d_model) separately."""
        return self.down_proj(F.silu(self.gate_proj(input)) * self.up_proj(input))


def given_options(**options: Any) -> dict[str, Any]:
    """The options that are not None or False: a layer without the others can be called too."""
    return {name: x for name, x in options.items() if x is not None and x is not False}
