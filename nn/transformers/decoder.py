"""The transformer decoder: its layer, and a stack of layers."""

from __future__ import annotations

from typing import Any

from minigrad.nn.attention.cache import EncoderDecoderCache, KVCache
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.module.base import Module
from minigrad.nn.transformers.encoder import Layer, cached, stacked
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["TransformerDecoder", "TransformerDecoderLayer"]


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
            use_cache: Whether to store the positions of `tgt` in the cache.
            cache_position: Their positions, ints of shape (T,), by default after the cached ones.
            cache_layer_idx: The slot of this layer in the cache. By default each layer gets the
                next one in its first call.
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
        start = 0
        if own is not None:
            length = tgt.shape[1]
            slot = own.slots.find(own, self.self_attn, cache_layer_idx, length, use_cache)
            start = own.first_position(length, slot, cache_position)
        cross = None
        if across is not None:  # an error leaves both caches unchanged
            length = memory.shape[1]
            cross = across.slots.find(across, self.multihead_attn, cache_layer_idx, length, False)
            if across.get_seq_length(cross):
                across.slots.check_memory(cross, memory)
        to_memory = (memory, across, use_cache, cross, start)
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
        self, x: Tensor, memory: Tensor, cache: KVCache | None, use_cache: bool, slot: int | None,
        start: int, padding: MaskLike, mask: MaskLike, causal: bool,
    ) -> Tensor:  # fmt: skip
        """Cross-attention of positions from `start` on; a cache keeps the projected memory."""
        if cache is None or slot is None:
            output = self.multihead_attn(
                x, memory, memory, padding, mask, causal, query_offset=start
            )
            return self.dropout2(output)
        filled = cache.get_seq_length(slot) > 0
        given = memory[:, :0] if filled else memory
        output = self.multihead_attn(
            x, given, given, padding, mask, causal, cache, use_cache and not filled, None, slot,
            query_offset=start,
        )  # fmt: skip
        if use_cache:
            cache.slots.check_memory(slot, memory)
        return self.dropout2(output)


class TransformerDecoder(Module):
    """A stack of transformer decoder layers, made as a `TransformerEncoder`.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(16, 2, dim_feedforward=32)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(randn(4, 7, 16), randn(4, 9, 16), tgt_is_causal=True).shape
        minigrad.Size([4, 7, 16])
    """

    norm: Module | None

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.num_layers = check_size("TransformerDecoder", "num_layers", num_layers)
        self.layers = stacked(decoder_layer, num_layers)
        self.norm = norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: MaskLike = None, mem_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None, mem_key_padding_mask: MaskLike = None,
        tgt_is_causal: bool = False, mem_is_causal: bool = False,
        kv_cache: KVCache | EncoderDecoderCache | None = None, use_cache: bool = False,
        cache_position: Any = None, cache_start_layer_idx: int | None = None,
    ) -> Tensor:  # fmt: skip
        """Apply all layers to a batch of target sequences, with the same memory.

        The arguments are those of `TransformerDecoderLayer`, the same for every layer. The layers
        have the slots of the cache from `cache_start_layer_idx` on, by default the next ones.
        """
        output = tgt
        for i, layer in enumerate(self.layers):
            output = layer(
                output, memory, tgt_mask, mem_mask, tgt_key_padding_mask, mem_key_padding_mask,
                tgt_is_causal, mem_is_causal,
                **cached(kv_cache, use_cache, cache_position, cache_start_layer_idx, i),
            )  # fmt: skip
        return output if self.norm is None else self.norm(output)
