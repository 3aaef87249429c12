"""Transformers: stacks of encoder layers and of decoder layers, and the two together."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

from minigrad import ops
from minigrad.nn import functional as F
from minigrad.nn.attention.cache import EncoderDecoderCache, KVCache
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleList
from minigrad.nn.transformers.layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    given_options,
)
from minigrad.support.checks import check_size
from minigrad.tensors.creation import ones
from minigrad.tensors.tensor import Tensor

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder"]


class _Stack(Module):
    """A layer, copies of it with parameters initialized again, and a module for the output."""

    norm: Module | None

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.num_layers = check_size(type(self).__name__, "num_layers", num_layers)
        self.layers = ModuleList([layer])
        for _ in range(num_layers - 1):
            another = copy.deepcopy(layer)
            another.zero_grad()
            another.reset_parameters()
            self.layers.append(another)
        self.norm = norm

    def _calls(self, start: int | None, **options: Any) -> Iterator[tuple[Module, dict[str, Any]]]:
        """Each layer with the options of its call, among them its slot of a cache."""
        given = given_options(**options)
        for i, layer in enumerate(self.layers):
            own = {} if start is None or "kv_cache" not in given else {"cache_layer_idx": start + i}
            yield layer, given | own


class TransformerEncoder(_Stack):
    """A stack of transformer encoder layers.

    Args:
        encoder_layer: The first layer. The others are copies of it with parameters initialized
            again, so that no two layers are equal.
        num_layers: The number of layers.
        norm: A module for the output, such as the LayerNorm that pre-norm layers need.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerEncoderLayer(16, 2, dim_feedforward=32, norm_first=True)
        >>> encoder = nn.TransformerEncoder(layer, num_layers=3, norm=nn.LayerNorm(16))
        >>> output, weights = encoder(randn(4, 7, 16), is_causal=True, need_weights=True)
        >>> output.shape, len(weights), weights[0].shape
        (minigrad.Size([4, 7, 16]), 3, minigrad.Size([4, 2, 7, 7]))
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self, src: Tensor, src_mask: MaskLike = None, src_key_padding_mask: MaskLike = None,
        is_causal: bool = False, kv_cache: KVCache | None = None, use_cache: bool = False,
        cache_position: Any = None, cache_start_layer_idx: int | None = None, *,
        need_weights: bool = False,
    ) -> Any:  # fmt: skip
        """Apply all layers to a batch of sequences.

        The arguments are those of `TransformerEncoderLayer`, the same for every layer. The layers
        have the slots of the cache from `cache_start_layer_idx` on, by default the next ones.

        Returns:
            A tensor of shape (N, L, d_model); with `need_weights` also a tuple of the attention
            weights of each layer.
        """
        output = src
        weights = []
        for layer, options in self._calls(
            cache_start_layer_idx, kv_cache=kv_cache, use_cache=use_cache,
            cache_position=cache_position, need_weights=need_weights,
        ):  # fmt: skip
            output = layer(
                output, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask,
                is_causal=is_causal, **options,
            )  # fmt: skip
            if need_weights:
                output, own = output
                weights.append(own)
        if self.norm is not None:
            output = self.norm(output)
        return (output, tuple(weights)) if need_weights else output


class TransformerDecoder(_Stack):
    """A stack of transformer decoder layers, made as a `TransformerEncoder`.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(16, 2, dim_feedforward=32)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(randn(4, 7, 16), randn(4, 9, 16), tgt_is_causal=True).shape
        minigrad.Size([4, 7, 16])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

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
        for layer, options in self._calls(
            cache_start_layer_idx, kv_cache=kv_cache, use_cache=use_cache,
            cache_position=cache_position,
        ):  # fmt: skip
            output = layer(
                output, memory, tgt_mask, mem_mask, tgt_key_padding_mask, mem_key_padding_mask,
                tgt_is_causal, mem_is_causal, **options,
            )  # fmt: skip
        return output if self.norm is None else self.norm(output)


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
            **given_options(
                kv_cache=encoder_kv_cache, use_cache=use_encoder_cache,
                cache_position=encoder_cache_position,
                cache_start_layer_idx=encoder_cache_start_layer_idx,
            ),
        )  # fmt: skip
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, mem_mask=mem_mask,
            tgt_key_padding_mask=tgt_key_padding_mask, mem_key_padding_mask=mem_key_padding_mask,
            tgt_is_causal=tgt_is_causal, mem_is_causal=mem_is_causal,
            **given_options(
                kv_cache=kv_cache, use_cache=use_cache, cache_position=cache_position,
                cache_start_layer_idx=cache_start_layer_idx,
            ),
        )  # fmt: skip
