"""Activations: the ops themselves."""

from minigrad.ops import gelu, log_softmax, relu, sigmoid, silu, softmax, tanh

__all__ = ["gelu", "log_softmax", "relu", "sigmoid", "silu", "softmax", "tanh"]
