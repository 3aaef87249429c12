"""The full transformer: an encoder and a decoder."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minigrad import ops
from minigrad.nn import functional as F
from minigrad.nn.attention.cache import EncoderDecoderCache, KVCache
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.nn.transformers.decoder import TransformerDecoder, TransformerDecoderLayer
from minigrad.nn.transformers.encoder import TransformerEncoder, TransformerEncoderLayer, cached
from minigrad.tensors.creation import ones
from minigrad.tensors.tensor import Tensor

__all__ = ["Transformer"]


class Transformer(Module):
    """An encoder-decoder transformer, each part with a final normalization.

    The arguments are those of `TransformerEncoderLayer`. `custom_encoder` and `custom_decoder` are
    modules to use instead of `TransformerEncoder` and `TransformerDecoder`, called like them.

    It maps vectors to vectors; embeddings, positions and the output projection are up to the user.
    To decode step by step, call ``encoder`` once and ``decoder`` with an `EncoderDecoderCache`.
    PyTorch's state dicts load.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Example:
        >>> from minigrad import nn, randn
        >>> model = nn.Transformer(32, 4, 2, 2, dim_feedforward=64)
        >>> src, tgt = randn(8, 10, 32), randn(8, 7, 32)
        >>> model(src, tgt, tgt_is_causal=True).shape
        minigrad.Size([8, 7, 32])
    """

    encoder: Module
    decoder: Module

    def __init__(
        self, d_model: int = 512, num_heads: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu, layer_norm_eps: float = 1e-5,
        *, norm_first: bool = False, bias: bool = True, custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes: Any = (d_model, num_heads, dim_feedforward, dropout, activation, layer_norm_eps)
        options: dict[str, Any] = {"norm_first": norm_first, "bias": bias}
        self.d_model = d_model
        self.num_heads = num_heads
        if custom_encoder is None:
            layer: Module = TransformerEncoderLayer(*sizes, **options)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*sizes, **options)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.encoder = custom_encoder
        self.decoder = custom_decoder

    @staticmethod
    def generate_square_subsequent_mask(sz: int) -> Tensor:
        """Return a float mask for `sz` positions: -inf where a key comes after the query, else 0.

        Added to the scores, it means the same as `is_causal`.

        Example:
            >>> from minigrad import nn
            >>> nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return ops.where(ops.tril(ones(sz, sz)), 0.0, -math.inf)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: MaskLike = None, tgt_mask: MaskLike = None,
        mem_mask: MaskLike = None, src_key_padding_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None, mem_key_padding_mask: MaskLike = None,
        kv_cache: KVCache | EncoderDecoderCache | None = None, use_cache: bool = False,
        cache_position: Any = None, cache_start_layer_idx: int | None = None,
        encoder_kv_cache: KVCache | None = None, use_encoder_cache: bool = False,
        encoder_cache_position: Any = None, encoder_cache_start_layer_idx: int | None = None, *,
        src_is_causal: bool = False, tgt_is_causal: bool = False, mem_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Encode the source and decode the target.

        The arguments that begin with `encoder_` or `use_encoder` are for the encoder's cache, the
        other ones with `cache` for the decoder's.

        The masks are those of `TransformerEncoderLayer` and `TransformerDecoderLayer`. Pass the
        padding of the source as `mem_key_padding_mask` too.
        """
        memory = self.encoder(
            src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
            **_of_stack(
                encoder_kv_cache, use_encoder_cache, encoder_cache_position,
                encoder_cache_start_layer_idx,
            ),
        )  # fmt: skip
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, mem_mask=mem_mask,
            tgt_key_padding_mask=tgt_key_padding_mask, mem_key_padding_mask=mem_key_padding_mask,
            tgt_is_causal=tgt_is_causal, mem_is_causal=mem_is_causal,
            **_of_stack(kv_cache, use_cache, cache_position, cache_start_layer_idx),
        )  # fmt: skip


def _of_stack(
    kv_cache: Any, use_cache: bool, cache_position: Any, start: int | None
) -> dict[str, Any]:
    """The cache arguments of a stack of layers; empty without a cache."""
    given = cached(kv_cache, use_cache, cache_position, start)
    return {("cache_start_layer_idx" if k == "cache_layer_idx" else k): v for k, v in given.items()}
