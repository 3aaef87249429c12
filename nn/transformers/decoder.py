"""The transformer decoder: its layer, and a stack of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad._checks import check_size
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.attention.cache import EncoderDecoderCache, KVCache
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.activation import activation_function
from minigrad.nn.layers.dropout import Dropout
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.argument_checks import PyTorchArguments
from minigrad.nn.module.base import Module
from minigrad.nn.transformers.encoder import cached, stacked

__all__ = ["TransformerDecoder", "TransformerDecoderLayer"]


class TransformerDecoderLayer(PyTorchArguments, Module):
    """A transformer decoder layer: self-attention, cross-attention and feed-forward network.

    Post-norm, the default, normalizes after each residual sum; pre-norm (`norm_first`) normalizes
    the input of each branch, but not the memory. PyTorch's state dicts load.

    Source: Vaswani et al., "Attention is all you need", 2017; pre-norm: Xiong et al., "On layer
    normalization in the transformer architecture", 2020.

    Args:
        d_model: The width of input, memory and output.
        num_heads: The number of attention heads; it divides d_model.
        dim_feedforward: The width inside the feed-forward network.
        dropout: The dropout probability of attention weights, hidden units and branches.
        activation: The activation inside the feed-forward network: a name such as "gelu", a
            function of a tensor, or a module.
        layer_norm_eps: The eps of all normalizations.
        norm_first: Pre-norm instead of post-norm.
        bias: Whether linear layers and normalizations have a bias.
        num_kv_heads: The number of key and value heads, for grouped-query attention; num_heads by
            default.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(32, 4, dim_feedforward=64)
        >>> tgt, memory = randn(8, 7, 32), randn(8, 10, 32)
        >>> layer(tgt, memory, tgt_is_causal=True).shape
        (8, 7, 32)
    """

    repr_fields = ("norm_first",)
    most = 6

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        norm_first: bool = False,
        bias: bool = True,
        *,
        num_kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(
            d_model, num_heads, dropout, bias, num_kv_heads=num_kv_heads
        )
        self.multihead_attn = MultiHeadAttention(
            d_model, num_heads, dropout, bias, num_kv_heads=num_kv_heads
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_function(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: MaskLike = None,
        mem_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None,
        mem_key_padding_mask: MaskLike = None,
        tgt_is_causal: bool = False,
        mem_is_causal: bool = False,
        kv_cache: KVCache | EncoderDecoderCache | None = None,
        use_cache: bool = False,
        cache_position: Any = None,
        cache_layer_idx: int | None = None,
    ) -> Tensor:
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
            use_cache: Whether to store the positions of `tgt` in the cache.
            cache_position: Their positions, ints of shape (T,), by default after the cached ones.
            cache_layer_idx: The index of this layer in the cache, 0 by default.

        Returns:
            A tensor of the shape of `tgt`.
        """
        own: KVCache | None
        if isinstance(kv_cache, EncoderDecoderCache):
            own, across = kv_cache.self_attention_cache, kv_cache.cross_attention_cache
        else:
            own, across = kv_cache, None
        tgt_rest = (
            tgt_key_padding_mask, tgt_mask, tgt_is_causal,
            own, use_cache, cache_position, cache_layer_idx,
        )  # fmt: skip
        mem_rest = (mem_key_padding_mask, mem_mask, mem_is_causal)
        layer_idx = 0 if cache_layer_idx is None else cache_layer_idx
        start = 0 if own is None else own.first_position(tgt.shape[1], layer_idx, cache_position)
        to_memory = (memory, across, use_cache, layer_idx, start)
        x = tgt
        if self.norm_first:
            x = x + self._attend(self.norm1(x), *tgt_rest)
            x = x + self._attend_memory(self.norm2(x), *to_memory, *mem_rest)
            return x + self._feed_forward(self.norm3(x))
        x = self.norm1(x + self._attend(x, *tgt_rest))
        x = self.norm2(x + self._attend_memory(x, *to_memory, *mem_rest))
        return self.norm3(x + self._feed_forward(x))

    def _attend(self, x: Tensor, *rest: Any) -> Tensor:
        return self.dropout1(self.self_attn(x, x, x, *rest))

    def _attend_memory(
        self,
        x: Tensor,
        memory: Tensor,
        cache: KVCache | None,
        use_cache: bool,
        layer_idx: int,
        start: int,
        padding: MaskLike,
        mask: MaskLike,
        causal: bool,
    ) -> Tensor:
        """Cross-attention of positions from `start` on; a cache keeps the projected memory."""
        if cache is None:
            use_cache = False
        elif cache.get_seq_length(layer_idx):
            memory, use_cache = memory[:, :0], False
        output = self.multihead_attn(
            x, memory, memory, padding, mask, causal, cache, use_cache, None,
            None if cache is None else layer_idx, query_offset=start,
        )  # fmt: skip
        return self.dropout2(output)

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.activation(self.linear1(x)))
        return self.dropout3(self.linear2(hidden))


class TransformerDecoder(Module):
    """A stack of transformer decoder layers.

    Args:
        decoder_layer: The first layer. The others are copies of it with parameters initialized
            again, so that no two layers are equal.
        num_layers: The number of layers.
        norm: A module for the output, such as the LayerNorm that pre-norm layers need.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(16, 2, dim_feedforward=32)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(randn(4, 7, 16), randn(4, 9, 16), tgt_is_causal=True).shape
        (4, 7, 16)
    """

    norm: Module | None

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.num_layers = check_size("TransformerDecoder", "num_layers", num_layers)
        self.layers = stacked(decoder_layer, num_layers)
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: MaskLike = None,
        mem_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None,
        mem_key_padding_mask: MaskLike = None,
        tgt_is_causal: bool = False,
        mem_is_causal: bool = False,
        kv_cache: KVCache | EncoderDecoderCache | None = None,
        use_cache: bool = False,
        cache_position: Any = None,
        cache_start_layer_idx: int = 0,
    ) -> Tensor:
        """Apply all layers to a batch of target sequences, with the same memory.

        Args:
            tgt: The target, a tensor of shape (N, T, d_model).
            memory: The encoder's output, a tensor of shape (N, S, d_model).
            tgt_mask: As in `TransformerDecoderLayer`; the same for every layer, as all masks.
            mem_mask: The same for the memory.
            tgt_key_padding_mask: A bool mask of shape (N, T): True = padding, ignored.
            mem_key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            tgt_is_causal: Each position attends to itself and those before it only.
            mem_is_causal: Position i attends to positions 0 to i of the memory only.
            kv_cache: A cache: see `TransformerDecoderLayer`.
            use_cache: Whether to store the positions of `tgt` in the cache.
            cache_position: Their positions, ints of shape (T,), by default after the cached ones.
            cache_start_layer_idx: The index of the first layer in the cache.

        Returns:
            A tensor of the shape of `tgt`.
        """
        output = tgt
        for i, layer in enumerate(self.layers, cache_start_layer_idx):
            output = layer(
                output, memory, tgt_mask, mem_mask, tgt_key_padding_mask, mem_key_padding_mask,
                tgt_is_causal, mem_is_causal,
                **cached(kv_cache, use_cache, cache_position, i),
            )  # fmt: skip
        return output if self.norm is None else self.norm(output)
