"""The layers without state, as functions of tensors; usually imported as F."""

from minigrad.nn.functional.activation import gelu, log_softmax, relu, sigmoid, silu, softmax, tanh
from minigrad.nn.functional.attention import scaled_dot_product_attention
from minigrad.nn.functional.dropout import dropout
from minigrad.nn.functional.embedding import embedding, one_hot
from minigrad.nn.functional.linear import linear
from minigrad.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
)
from minigrad.nn.functional.normalization import layer_norm

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "huber_loss",
    "l1_loss",
    "layer_norm",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "tanh",
]
