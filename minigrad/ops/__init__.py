"""The op tables, a file a family. Each op is a plain function with its rules beside it."""

from minigrad.ops.activation import erf, gelu, relu, sigmoid, silu, softplus
from minigrad.ops.attention import attention, attention_weights
from minigrad.ops.batch_norm import batch_norm
from minigrad.ops.broadcasting import broadcast_arrays, broadcast_to, expand, meshgrid
from minigrad.ops.casting import astype, clone
from minigrad.ops.comparisons import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    not_equal,
)
from minigrad.ops.contractions import einsum, tensordot
from minigrad.ops.convolution import convolution, convolution_transpose
from minigrad.ops.diagonals import diag, diagonal, trace
from minigrad.ops.dropout import dropout
from minigrad.ops.elementwise import (
    abs,
    add,
    cbrt,
    divide,
    multiply,
    negative,
    power,
    reciprocal,
    sqrt,
    square,
    subtract,
)
from minigrad.ops.embedding import embedding
from minigrad.ops.exponentials import exp, exp2, expm1, log, log1p, log2, log10, logaddexp
from minigrad.ops.gathering import gather, scatter_add, take, take_along_axis
from minigrad.ops.indexing import getitem, setitem
from minigrad.ops.joining import (
    array_split,
    chunk,
    concatenate,
    dstack,
    hstack,
    split,
    stack,
    unbind,
    vstack,
)
from minigrad.ops.logic import (
    all,
    any,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    count_nonzero,
    invert,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from minigrad.ops.loss import cross_entropy
from minigrad.ops.norm import layer_norm, rms_norm
from minigrad.ops.padding import pad
from minigrad.ops.pooling import max_pool, sum_pool
from minigrad.ops.products import cross, dot, inner, kron, linear, matmul, outer, vdot, vecdot
from minigrad.ops.rearranging import flip, fliplr, flipud, repeat, roll, rot90, tile
from minigrad.ops.recurrence import gru, lstm, rnn
from minigrad.ops.reductions import argmax, argmin, logsumexp, max, min, norm, prod, sum
from minigrad.ops.rotary import rotate_pairs
from minigrad.ops.rounding import ceil, copysign, floor, floor_divide, remainder, round, sign, trunc
from minigrad.ops.scans import cumprod, cumsum, diff
from minigrad.ops.searching import argwhere, flatnonzero, isin, nonzero, searchsorted, unique
from minigrad.ops.selection import clip, masked_fill, maximum, minimum, where
from minigrad.ops.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_dims,
    flatten,
    moveaxis,
    ravel,
    reshape,
    squeeze,
    swapaxes,
    transpose,
)
from minigrad.ops.softmax import log_softmax, softmax
from minigrad.ops.sorting import argsort, median, sort, topk
from minigrad.ops.statistics import mean, std, var
from minigrad.ops.triangles import tril, triu
from minigrad.ops.trigonometry import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    cos,
    cosh,
    deg2rad,
    hypot,
    rad2deg,
    sin,
    sinh,
    tan,
    tanh,
)

__all__ = [
    "abs", "add", "all", "any", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argsort", "argwhere", "array_split", "astype", "atleast_1d",
    "atleast_2d", "atleast_3d", "attention", "attention_weights", "batch_norm", "bitwise_and",
    "bitwise_or", "bitwise_xor", "broadcast_arrays", "broadcast_to", "cbrt", "ceil", "chunk",
    "clip", "clone", "concatenate", "convolution", "convolution_transpose", "copysign", "cos",
    "cosh", "count_nonzero", "cross", "cross_entropy", "cumprod", "cumsum", "deg2rad", "diag",
    "diagonal", "diff", "divide", "dot", "dropout", "dstack", "einsum", "embedding", "equal", "erf",
    "exp", "exp2", "expand", "expand_dims", "expm1", "flatnonzero", "flatten", "flip", "fliplr",
    "flipud", "floor", "floor_divide", "gather", "gelu", "getitem", "greater", "greater_equal",
    "gru", "hstack", "hypot", "inner", "invert", "isfinite", "isin", "isinf", "isnan", "kron",
    "layer_norm", "less", "less_equal", "linear", "log", "log1p", "log2", "log10", "log_softmax",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "lstm",
    "masked_fill", "matmul", "max", "max_pool", "maximum", "mean", "median", "meshgrid", "min",
    "minimum", "moveaxis", "multiply", "negative", "nonzero", "norm", "not_equal", "outer", "pad",
    "power", "prod", "rad2deg", "ravel", "reciprocal", "relu", "remainder", "repeat", "reshape",
    "rms_norm", "rnn", "roll", "rot90", "rotate_pairs", "round", "scatter_add", "searchsorted",
    "setitem", "sigmoid", "sign", "silu", "sin", "sinh", "softmax", "softplus", "sort", "split",
    "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "sum_pool", "swapaxes", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "topk", "trace", "transpose", "tril",
    "triu", "trunc", "unbind", "unique", "var", "vdot", "vecdot", "vstack", "where",
]  # fmt: skip
