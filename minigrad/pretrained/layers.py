"""The stack of transformer layers that BERT and GPT-2 share, built from a config."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from reprlib import repr as shortened

from minigrad.nn import LayerNorm, TransformerEncoder, TransformerEncoderLayer
from minigrad.nn import functional as F
from minigrad.tensors.tensor import Tensor

tanh_gelu = partial(F.gelu, approximate="tanh")

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu, "gelu_python": F.gelu, "gelu_new": tanh_gelu, "gelu_fast": tanh_gelu,
    "gelu_pytorch_tanh": tanh_gelu, "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu,
    "mish": F.mish, "sigmoid": F.sigmoid, "silu": F.silu, "swish": F.silu, "tanh": F.tanh,
}  # fmt: skip
"""The activations by their names in configs. The tanh form of GELU has three names."""


def activation(field: str, name: str) -> Callable[[Tensor], Tensor]:
    """The activation named by a field of a config."""
    if name not in ACTIVATIONS:
        known = ", ".join(map(repr, ACTIVATIONS))
        raise ValueError(f"{field}: {shortened(name)} is not supported, only {known}")
    return ACTIVATIONS[name]


def transformer(
    width: int, heads: int, layers: int, hidden: int, act: Callable[[Tensor], Tensor], eps: float,
    *, attention_dropout: float, dropout: float, norm_first: bool = False,
) -> TransformerEncoder:  # fmt: skip
    """A stack of self-attention layers; pre-norm stacks end with a normalisation.

    `hidden` and `act` are of the feed-forward networks, in which these models have no dropout.
    """
    layer = TransformerEncoderLayer(width, heads, hidden, dropout, act, eps, norm_first=norm_first)
    layer.self_attn.dropout = attention_dropout
    layer.dropout.p = 0.0
    return TransformerEncoder(layer, layers, LayerNorm(width, eps) if norm_first else None)
