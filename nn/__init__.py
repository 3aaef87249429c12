"""Neural networks: modules, layers, losses and their initialisation."""

if __name__ != "minigrad.nn":
    raise ImportError(
        "this folder is the package minigrad.nn: write `import minigrad.nn`, with minigrad "
        "installed (pip install -e . --config-settings editable_mode=strict)"
    )

from minigrad.nn import functional, init, utils
from minigrad.nn.activation import GELU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Tanh
from minigrad.nn.attention import MultiHeadAttention, ScaledDotProductAttention
from minigrad.nn.containers import ModuleDict, ModuleList, Sequential
from minigrad.nn.dropout import Dropout
from minigrad.nn.embedding import Embedding
from minigrad.nn.linear import Identity, Linear
from minigrad.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
)
from minigrad.nn.module import Module
from minigrad.nn.normalization import LayerNorm
from minigrad.nn.parameter import Parameter
from minigrad.nn.transformer import TransformerEncoder, TransformerEncoderLayer

__all__ = [
    "GELU",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "ScaledDotProductAttention",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "functional",
    "init",
    "utils",
]
