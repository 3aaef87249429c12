"""minigrad: reverse-mode autograd on NumPy, to build, see and study compute graphs."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import autograd, ops, random
from minigrad._creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from minigrad._tensor import Tensor
from minigrad.autograd import (
    enable_grad,
    get_default_dtype,
    is_grad_enabled,
    no_grad,
    set_default_dtype,
    set_grad_enabled,
)
from minigrad.ops import (
    abs,
    add,
    argmax,
    astype,
    bitwise_and,
    bitwise_or,
    broadcast_to,
    clip,
    clone,
    concatenate,
    divide,
    einsum,
    equal,
    erf,
    exp,
    expand_dims,
    gelu,
    greater,
    greater_equal,
    invert,
    isfinite,
    isnan,
    less,
    less_equal,
    log,
    log_softmax,
    logsumexp,
    masked_fill,
    matmul,
    max,
    maximum,
    mean,
    min,
    minimum,
    multiply,
    negative,
    norm,
    not_equal,
    power,
    relu,
    reshape,
    sigmoid,
    sign,
    silu,
    softmax,
    split,
    sqrt,
    square,
    squeeze,
    stack,
    subtract,
    sum,
    swapaxes,
    tanh,
    transpose,
    var,
    where,
)
from minigrad.random import rand, randint, randn

if TYPE_CHECKING:
    from minigrad import nn, optim, viz

__version__ = "0.1.0"

# In a checkout nn/ stands beside this folder, not in it. Python started there finds it as well;
# under any other name this package refuses to be imported, so that there is one copy of it.
if __name__ != "minigrad":
    raise ImportError("this folder is the package minigrad: write `import minigrad`")
if not os.path.isdir(os.path.join(__path__[0], "nn")):
    __path__.append(os.path.dirname(__path__[0]))

bool_ = np.dtype(np.bool_)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
float16 = np.dtype(np.float16)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)

__all__ = [
    "Tensor",
    "abs",
    "add",
    "arange",
    "argmax",
    "astype",
    "autograd",
    "bitwise_and",
    "bitwise_or",
    "bool_",
    "broadcast_to",
    "clip",
    "clone",
    "concatenate",
    "divide",
    "einsum",
    "empty",
    "empty_like",
    "enable_grad",
    "equal",
    "erf",
    "exp",
    "expand_dims",
    "eye",
    "float16",
    "float32",
    "float64",
    "full",
    "full_like",
    "gelu",
    "get_default_dtype",
    "greater",
    "greater_equal",
    "int8",
    "int16",
    "int32",
    "int64",
    "invert",
    "is_grad_enabled",
    "isfinite",
    "isnan",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log_softmax",
    "logsumexp",
    "masked_fill",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "nn",
    "no_grad",
    "norm",
    "not_equal",
    "ones",
    "ones_like",
    "ops",
    "optim",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "relu",
    "reshape",
    "set_default_dtype",
    "set_grad_enabled",
    "sigmoid",
    "sign",
    "silu",
    "softmax",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "subtract",
    "sum",
    "swapaxes",
    "tanh",
    "tensor",
    "transpose",
    "uint8",
    "var",
    "viz",
    "where",
    "zeros",
    "zeros_like",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the layers, optimizers and drawings when they are first used."""
    if name in ("nn", "optim", "viz"):
        return importlib.import_module(f"minigrad.{name}")
    raise AttributeError(f"module 'minigrad' has no attribute {name!r}")
