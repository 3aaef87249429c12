"""The transformer encoder: its layer, and a stack of layers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

from minigrad.nn import functional as F
from minigrad.nn.attention.cache import KVCache
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.activation import activation_function
from minigrad.nn.layers.dropout import Dropout
from minigrad.nn.layers.embedding import RotaryPosEmbedding
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleList
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["SwiGLU", "TransformerEncoder", "TransformerEncoderLayer"]


class Layer(Module):
    """The parts of a transformer layer: attention, a feed-forward network, residual branches."""

    branches: ClassVar[int]
    """2, or 3 with cross-attention: each has a normalization and a dropout."""
    repr_fields = ("norm_first",)
    multihead_attn: MultiHeadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout

    def __init__(
        self, d_model: int, num_heads: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu, layer_norm_eps: float = 1e-5,
        *, norm_first: bool = False, bias: bool = True, num_kv_heads: int | None = None,
        rope: RotaryPosEmbedding | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(
            d_model, num_heads, dropout, bias, num_kv_heads=num_kv_heads, rope=rope
        )
        if self.branches == 3:
            self.multihead_attn = MultiHeadAttention(
                d_model, num_heads, dropout, bias, num_kv_heads=num_kv_heads
            )
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        numbers = range(1, self.branches + 1)
        for i in numbers:
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias))
        for i in numbers:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = activation_function(activation)

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.activation(self.linear1(x)))
        dropout = self.dropout3 if self.branches == 3 else self.dropout2
        return dropout(self.linear2(hidden))


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
            use_cache: Whether to store the positions of `src` in the cache.
            cache_position: Their positions, ints of shape (L,), by default after the cached ones.
            cache_layer_idx: The slot of this layer in the cache. By default each layer gets the
                next one in its first call.
            need_weights: Whether to also return the attention weights of every head.

        Returns:
            A tensor of shape (N, L, d_model); with `need_weights` also the weights before dropout,
            of shape (N, H, L, L), or with a cache (N, H, L, cached + L).
        """
        x = self.norm1(src) if self.norm_first else src
        attended = self.self_attn(
            x, x, x, src_key_padding_mask, src_mask, is_causal,
            kv_cache, use_cache, cache_position, cache_layer_idx, **asked(need_weights),
        )  # fmt: skip
        attended, weights = attended if need_weights else (attended, None)
        x = src + self.dropout1(attended)
        if self.norm_first:
            x = x + self._feed_forward(self.norm2(x))
        else:
            x = self.norm1(x)
            x = self.norm2(x + self._feed_forward(x))
        return (x, weights) if need_weights else x


class TransformerEncoder(Module):
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

    norm: Module | None

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.num_layers = check_size("TransformerEncoder", "num_layers", num_layers)
        self.layers = stacked(encoder_layer, num_layers)
        self.norm = norm

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
        for i, layer in enumerate(self.layers):
            output = layer(
                output, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask,
                is_causal=is_causal, **asked(need_weights),
                **cached(kv_cache, use_cache, cache_position, cache_start_layer_idx, i),
            )  # fmt: skip
            if need_weights:
                output, own = output
                weights.append(own)
        if self.norm is not None:
            output = self.norm(output)
        return (output, tuple(weights)) if need_weights else output


def stacked(layer: Module, num_layers: int) -> ModuleList:
    """The layer itself, and copies of it with parameters initialized again."""
    layers = ModuleList([layer])
    for _ in range(num_layers - 1):
        another = copy.deepcopy(layer)
        another.zero_grad()
        another.reset_parameters()
        layers.append(another)
    return layers


def asked(need_weights: bool) -> dict[str, bool]:
    """The argument `need_weights`; empty if it is False, for layers without it."""
    return {"need_weights": True} if need_weights else {}


def cached(
    kv_cache: Any, use_cache: bool, cache_position: Any, start: int | None, i: int = 0
) -> dict[str, Any]:
    """The cache arguments of layer i of a stack; empty without a cache, for layers without them."""
    if kv_cache is None and not use_cache and cache_position is None:
        return {}
    return {
        "kv_cache": kv_cache, "use_cache": use_cache, "cache_position": cache_position,
        "cache_layer_idx": None if start is None else start + i,
    }  # fmt: skip


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
