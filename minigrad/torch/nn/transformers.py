"""Encoder layer, decoder layer and Transformer with PyTorch's contract.

They take PyTorch's arguments in its order, sequences first unless ``batch_first=True``, and bool
masks that are True where attention is not allowed. Weights and state dicts are those of the classes
that they extend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.nn import functional as F
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.argument_checks import checked_constructor
from minigrad.nn.module.base import Module
from minigrad.nn.transformers import decoder, encoder, transformer
from minigrad.tensors.tensor import Tensor
from minigrad.torch.nn.multihead import (
    allowed_pairs,
    as_given,
    batch_first,
    is_float,
    with_batch,
)

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip

Activation = str | Callable[[Tensor], Tensor]


class _Layer(Module):
    """PyTorch's constructor of both layers."""

    @checked_constructor
    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
            norm_first=norm_first, bias=bias,
        )  # fmt: skip
        self.batch_first = batch_first


class TransformerEncoderLayer(_Layer, encoder.TransformerEncoderLayer):
    """An encoder layer with PyTorch's contract."""

    def forward(  # type: ignore[override]
        self, src: Tensor, src_mask: MaskLike = None, src_key_padding_mask: MaskLike = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a sequence of shape (L, N, d_model), (N, L, d_model) or (L, d_model)."""
        x = batch_first(src, self.batch_first)
        mask, padding = _masks(x, src_mask, src_key_padding_mask)
        output = super().forward(x, mask, padding, is_causal)
        return as_given(output, self.batch_first, src.ndim == 3)


class TransformerDecoderLayer(_Layer, decoder.TransformerDecoderLayer):
    """A decoder layer with PyTorch's contract."""

    def forward(  # type: ignore[override]
        self, tgt: Tensor, memory: Tensor, tgt_mask: MaskLike = None, memory_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None, memory_key_padding_mask: MaskLike = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a target sequence by the memory of a source, in PyTorch's layouts."""
        x, source = (batch_first(each, self.batch_first) for each in (tgt, memory))
        mask, padding = _masks(x, tgt_mask, tgt_key_padding_mask)
        mem_mask, mem_padding = _masks(x, memory_mask, memory_key_padding_mask)
        output = super().forward(
            x, source, mask, mem_mask, padding, mem_padding, tgt_is_causal, memory_is_causal
        )
        return as_given(output, self.batch_first, tgt.ndim == 3)


class TransformerEncoder(encoder.TransformerEncoder):
    """A stack of encoder layers with PyTorch's contract."""

    def forward(  # type: ignore[override]
        self, src: Tensor, mask: MaskLike = None, src_key_padding_mask: MaskLike = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """Transform a sequence by the layers, in their layout."""
        return super().forward(src, mask, src_key_padding_mask, bool(is_causal))


class TransformerDecoder(decoder.TransformerDecoder):
    """A stack of decoder layers with PyTorch's contract."""

    def forward(  # type: ignore[override]
        self, tgt: Tensor, memory: Tensor, tgt_mask: MaskLike = None, memory_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None, memory_key_padding_mask: MaskLike = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a target sequence by the layers, in their layout."""
        return super().forward(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            bool(tgt_is_causal), memory_is_causal,
        )  # fmt: skip


class Transformer(transformer.Transformer):
    """An encoder-decoder with PyTorch's contract."""

    @checked_constructor
    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, custom_encoder: Module | None = None,
        custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True,
    ) -> None:  # fmt: skip
        sizes: Any = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        options: Any = {"batch_first": batch_first, "norm_first": norm_first, "bias": bias}
        if custom_encoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            layer: Module = TransformerEncoderLayer(*sizes, **options)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            layer = TransformerDecoderLayer(*sizes, **options)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        super().__init__(
            d_model, nhead, custom_encoder=custom_encoder, custom_decoder=custom_decoder
        )
        self.batch_first = batch_first

    def forward(  # type: ignore[override]
        self, src: Tensor, tgt: Tensor, src_mask: MaskLike = None, tgt_mask: MaskLike = None,
        memory_mask: MaskLike = None, src_key_padding_mask: MaskLike = None,
        tgt_key_padding_mask: MaskLike = None, memory_key_padding_mask: MaskLike = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a target sequence by a source sequence, in PyTorch's layouts."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, bool(src_is_causal))
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            bool(tgt_is_causal), memory_is_causal,
        )  # fmt: skip


def _masks(x: Tensor, attn_mask: MaskLike, padding: MaskLike) -> tuple[MaskLike, MaskLike]:
    """PyTorch's two masks as ours."""
    allowed = allowed_pairs(attn_mask, padding, x.shape[0])
    return allowed, None if is_float(padding) else with_batch(padding)
