"""The transformer decoder: layers that attend to the target so far, then to the memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.attention.cache import EncoderDecoderCache
from minigrad.nn.attention.cache_base import KVCache
from minigrad.nn.attention.masks import MaskLike
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.layers.activation import activation_function
from minigrad.nn.layers.dropout import Dropout
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.nn.module.checks import check_size
from minigrad.nn.transformers.encoder import cached, stacked


class TransformerDecoderLayer(Module):
    """Self-attention, attention to a memory, and a feed-forward network, each with a residual.

    Post-norm, the default, normalises after each residual sum; pre-norm (`norm_first`) normalises
    what goes into each branch, but not the memory. PyTorch's state dicts load.

    Source: Vaswani et al., "Attention is all you need", 2017; pre-norm: Xiong et al., "On layer
    normalization in the transformer architecture", 2020.

    Args:
        d_model: The width of input, memory and output.
        num_heads: The number of attention heads; it divides d_model.
        dim_feedforward: The width inside the feed-forward network.
        dropout: The probability of dropping attention weights, hidden units and branches.
        activation: The activation inside the feed-forward network: a name such as "gelu", a
            function of a tensor, or a module.
        layer_norm_eps: The eps of all normalisations.
        norm_first: Pre-norm instead of post-norm.
        bias: Whether linear maps and normalisations add a bias.
        num_kv_heads: How many heads keys and values have, for grouped-query attention; by default
            as many as queries.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> layer = nn.TransformerDecoderLayer(32, 4, dim_feedforward=64)
        >>> tgt, memory = minigrad.randn(8, 7, 32), minigrad.randn(8, 10, 32)
        >>> layer(tgt, memory, tgt_is_causal=True).shape
        (8, 7, 32)
    """

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
        """Transform a batch of target sequences, looking at a memory.

        Args:
            tgt: The target, a tensor of shape (N, T, d_model).
            memory: What the encoder made, a tensor of shape (N, S, d_model).
            tgt_mask: A mask of shape (T|1, T), (N|1, T|1, T) or (N|1, H|1, T|1, T). Bool: True =
                may attend. Float: added to the scores.
            mem_mask: The same for the memory: (T|1, S), (N|1, T|1, S) or (N|1, H|1, T|1, S).
            tgt_key_padding_mask: A bool mask of shape (N, T): True = padding, ignored.
            mem_key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            tgt_is_causal: Each position attends to itself and those before it only.
            mem_is_causal: Position i attends to positions 0 to i of the memory only.
            kv_cache: A cache. The positions it holds come before those of `tgt`; positions, and
                the last axis of the masks of the target, count both. An `EncoderDecoderCache`
                keeps the projected memory too.
            use_cache: Whether the cache keeps the positions of `tgt`.
            cache_position: Where they go, ints of shape (T,), by default behind those cached.
            cache_layer_idx: Which of the cache's layers this one is, 0 by default.

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
        """Attend from the positions `start` and on to the memory, which is projected once."""
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

    def extra_repr(self) -> str:
        return f"norm_first={self.norm_first}"


class TransformerDecoder(Module):
    """A stack of decoder layers.

    Args:
        decoder_layer: The first layer itself. The others are copies of it with parameters drawn
            anew, so that no two layers begin alike.
        num_layers: How many layers there are.
        norm: A module for the output of the last, such as the LayerNorm that pre-norm layers need.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> layer = nn.TransformerDecoderLayer(16, 2, dim_feedforward=32)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(minigrad.randn(4, 7, 16), minigrad.randn(4, 9, 16), tgt_is_causal=True).shape
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
        """Pass a batch of target sequences through all layers, each looking at the same memory.

        Args:
            tgt: The target, a tensor of shape (N, T, d_model).
            memory: What the encoder made, a tensor of shape (N, S, d_model).
            tgt_mask: As in `TransformerDecoderLayer`; the same for every layer, as all masks.
            mem_mask: The same for the memory.
            tgt_key_padding_mask: A bool mask of shape (N, T): True = padding, ignored.
            mem_key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            tgt_is_causal: Each position attends to itself and those before it only.
            mem_is_causal: Position i attends to positions 0 to i of the memory only.
            kv_cache: A cache: see `TransformerDecoderLayer`.
            use_cache: Whether the cache keeps the positions of `tgt`.
            cache_position: Where they go, ints of shape (T,), by default behind those cached.
            cache_start_layer_idx: Which of the cache's layers the first of these is.

        Returns:
            A tensor of the shape of `tgt`.
        """
        output = tgt
        for i, layer in enumerate(self.layers, cache_start_layer_idx):
            output = layer(
                output, memory, tgt_mask=tgt_mask, mem_mask=mem_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                mem_key_padding_mask=mem_key_padding_mask,
                tgt_is_causal=tgt_is_causal, mem_is_causal=mem_is_causal,
                **cached(kv_cache, use_cache, cache_position, i),
            )  # fmt: skip
        return output if self.norm is None else self.norm(output)
