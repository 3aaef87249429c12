"""Activations: the ops themselves."""

from minigrad.ops import gelu, log_softmax, relu, sigmoid, silu, softmax, softplus, tanh

__all__ = ["gelu", "log_softmax", "relu", "sigmoid", "silu", "softmax", "softplus", "tanh"]
