"""The op tables, a file a family. Each op is a plain function with its rules beside it."""

from minigrad.ops.activation import gelu, sigmoid, silu
from minigrad.ops.attention import attention, attention_weights
from minigrad.ops.choices import clip, masked_fill, maximum, minimum, where
from minigrad.ops.comparisons import (
    bitwise_and,
    bitwise_or,
    equal,
    greater,
    greater_equal,
    invert,
    isfinite,
    isnan,
    less,
    less_equal,
    not_equal,
)
from minigrad.ops.dropout import dropout
from minigrad.ops.elementwise import (
    abs,
    add,
    divide,
    erf,
    exp,
    log,
    multiply,
    negative,
    power,
    relu,
    sign,
    sqrt,
    square,
    subtract,
    tanh,
)
from minigrad.ops.embedding import embedding
from minigrad.ops.indexing import getitem, setitem
from minigrad.ops.linalg import einsum, linear, matmul
from minigrad.ops.loss import cross_entropy
from minigrad.ops.norm import layer_norm, rms_norm
from minigrad.ops.reductions import argmax, logsumexp, max, mean, min, norm, sum, var
from minigrad.ops.rotary import rotate_pairs
from minigrad.ops.shapes import (
    astype,
    broadcast_to,
    clone,
    concatenate,
    expand_dims,
    reshape,
    split,
    squeeze,
    stack,
    swapaxes,
    transpose,
)
from minigrad.ops.softmax import log_softmax, softmax

__all__ = [
    "abs", "add", "argmax", "astype", "attention", "attention_weights", "bitwise_and", "bitwise_or",
    "broadcast_to", "clip", "clone", "concatenate", "cross_entropy", "divide", "dropout", "einsum",
    "embedding", "equal", "erf", "exp", "expand_dims", "gelu", "getitem", "greater",
    "greater_equal", "invert", "isfinite", "isnan", "layer_norm", "less", "less_equal", "linear",
    "log", "log_softmax", "logsumexp", "masked_fill", "matmul", "max", "maximum", "mean", "min",
    "minimum", "multiply", "negative", "norm", "not_equal", "power", "relu", "reshape", "rms_norm",
    "rotate_pairs", "setitem", "sigmoid", "sign", "silu", "softmax", "split", "sqrt", "square",
    "squeeze", "stack", "subtract", "sum", "swapaxes", "tanh", "transpose", "var", "where",
]  # fmt: skip
