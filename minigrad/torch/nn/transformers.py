"""Encoder layer, decoder layer and Transformer with PyTorch's contract.

They take PyTorch's arguments in its order, sequences first unless ``batch_first=True``, and bool
masks that are True where attention is not allowed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleList
from minigrad.nn.transformers import layers, stacks
from minigrad.tensors.tensor import Tensor
from minigrad.torch.nn.multihead import MultiheadAttention

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip

Activation = str | Callable[[Tensor], Tensor]
Mask = Any


class _Layer(layers.Layer):
    """PyTorch's constructor of both layers, and its names of their parts."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
            norm_first=norm_first, bias=bias,
        )  # fmt: skip
        for name in ("self_attn", "multihead_attn")[: self.branches - 1]:
            attention: Any = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first
            )
            setattr(self, name, attention)
        self.to(dtype=dtype, device=device)

    def extra_repr(self) -> str:
        return ""

    def _sa_block(self, x: Tensor, mask: Mask, padding: Mask, is_causal: bool = False) -> Tensor:
        found = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )  # fmt: skip
        return self.dropout1(found[0])

    def _mha_block(
        self, x: Tensor, memory: Tensor, mask: Mask, padding: Mask, is_causal: bool = False
    ) -> Tensor:
        found = self.multihead_attn(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )  # fmt: skip
        return self.dropout2(found[0])

    def _ff_block(self, x: Tensor) -> Tensor:
        return self._feed_forward(x)


class TransformerEncoderLayer(_Layer, layers.TransformerEncoderLayer):
    """An encoder layer with PyTorch's contract."""

    def forward(  # type: ignore[override]
        self, src: Tensor, src_mask: Mask = None, src_key_padding_mask: Mask = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a sequence of shape (L, N, d_model), (N, L, d_model) or (L, d_model)."""
        x, given = src, (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *given)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *given))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(_Layer, layers.TransformerDecoderLayer):
    """A decoder layer with PyTorch's contract."""

    def forward(  # type: ignore[override]
        self, tgt: Tensor, memory: Tensor, tgt_mask: Mask = None, memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a target sequence by the memory of a source, in PyTorch's layouts."""
        x, own = tgt, (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        across = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *across)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *across))
        return self.norm3(x + self._ff_block(x))


class _Stack(Module):
    """Copies of a layer, with the same parameters at first, and a normalization."""

    def _stack(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        Module.__init__(self)
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x: Tensor, *args: Any, **options: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args, **options)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack, stacks.TransformerEncoder):
    """A stack of encoder layers with PyTorch's contract."""

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        self._stack(encoder_layer, num_layers, norm)

    def forward(  # type: ignore[override]
        self, src: Tensor, mask: Mask = None, src_key_padding_mask: Mask = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """Transform a sequence by the layers, in their layout."""
        return self._run(
            src, src_mask=mask, src_key_padding_mask=src_key_padding_mask,
            is_causal=bool(is_causal),
        )  # fmt: skip


class TransformerDecoder(_Stack, stacks.TransformerDecoder):
    """A stack of decoder layers with PyTorch's contract."""

    def __init__(
        self, decoder_layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:  # fmt: skip
        self._stack(decoder_layer, num_layers, norm)

    def forward(  # type: ignore[override]
        self, tgt: Tensor, memory: Tensor, tgt_mask: Mask = None, memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a target sequence by the layers, in their layout."""
        return self._run(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=bool(tgt_is_causal), memory_is_causal=memory_is_causal,
        )  # fmt: skip


class Transformer(stacks.Transformer):
    """An encoder-decoder with PyTorch's contract."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, custom_encoder: Module | None = None,
        custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        Module.__init__(self)
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
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self._reset_parameters()
        self.to(dtype=dtype, device=device)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform(parameter)

    def forward(  # type: ignore[override]
        self, src: Tensor, tgt: Tensor, src_mask: Mask = None, tgt_mask: Mask = None,
        memory_mask: Mask = None, src_key_padding_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a target sequence by a source sequence, in PyTorch's layouts."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        output: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip
        return output
