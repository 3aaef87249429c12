"""Ops as ONNX operators: a table, and functions for ops that need several operators.

A function gets the graph, the op's result, and the op's arguments in the order of its parameters: a
`Value` for a tensor, a `Size` for a number that depends on the inputs' sizes. It returns the name
of the tensor that holds the result: ``g.Add(a, b)`` adds ONNX's operator Add.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from minigrad.onnx.graph import Graph
from minigrad.onnx.program import Value

Operator = Callable[..., str]

OPERATORS: dict[str, Operator] = {}
"""The function of each op, by the name of the op; the other files of operators add theirs."""

UNARY = {
    "abs": "Abs", "arccos": "Acos", "arccosh": "Acosh", "arcsin": "Asin", "arcsinh": "Asinh",
    "arctan": "Atan", "arctanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh",
    "erf": "Erf", "exp": "Exp", "floor": "Floor", "isnan": "IsNaN", "isinf": "IsInf", "log": "Log",
    "negative": "Neg", "reciprocal": "Reciprocal", "relu": "Relu", "sigmoid": "Sigmoid",
    "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
    "clone": "Identity",
}  # fmt: skip

BINARY = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow",
    "maximum": "Max", "minimum": "Min", "equal": "Equal", "less": "Less",
    "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "matmul": "MatMul",
}  # fmt: skip

LOGICAL = {
    "bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "logical_and": "And",
    "logical_or": "Or", "logical_xor": "Xor", "invert": "Not", "logical_not": "Not",
}  # fmt: skip

REDUCTIONS = {
    "sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin",
    "prod": "ReduceProd", "logsumexp": "ReduceLogSumExp",
}  # fmt: skip

QUANTIFIERS = {"any": "ReduceMax", "all": "ReduceMin"}

PLACES = {"argmax": "ArgMax", "argmin": "ArgMin"}


def exports(*names: str) -> Callable[[Operator], Operator]:
    """Decorator: enter a function in the table, for one or several ops."""

    def put(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return put


def _common(*operands: Any) -> np.dtype[Any]:
    """The dtype in which two operands are compared, perhaps integers of several dtypes."""
    known = [x.dtype for x in operands if isinstance(x, Value)]
    whole = all(dtype.kind in "iu" for dtype in known)
    numbers = [np.min_scalar_type(x) for x in operands if whole and type(x) is int]
    return np.result_type(*known, *numbers)


def _unary(kind: str, g: Graph, out: Value, x: Any) -> str:
    return g.node(kind, [g.tensor(x)])


def _binary(kind: str, g: Graph, out: Value, a: Any, b: Any) -> str:
    dtype = _common(a, b) if out.dtype == np.bool_ else out.dtype
    if dtype == np.bool_ and kind != "Equal":
        raise NotImplementedError("on bools it is not exported; convert them, or use & and |")
    return g.node(kind, [g.tensor(a, dtype), g.tensor(b, dtype)])


def _logical(kind: str, g: Graph, out: Value, *operands: Any) -> str:
    if out.dtype != np.bool_:
        raise NotImplementedError(f"only bools are exported, not {out.dtype}")
    return g.node(kind, [g.tensor(x, np.bool_) for x in operands])


def _reduction(
    kind: str, g: Graph, out: Value, x: Any, axis: Any = None, keepdims: bool = False
) -> str:
    return reduced(g, kind, g.tensor(x, out.dtype), x.ndim, axis, keepdims)


def _quantifier(kind: str, g: Graph, out: Value, x: Any, axis: Any, keepdims: bool) -> str:
    ones = g.cast(g.tensor(x, np.bool_), np.int32)
    return g.cast(reduced(g, kind, ones, x.ndim, axis, keepdims), np.bool_)


def _place(kind: str, g: Graph, out: Value, x: Any, axis: int | None, keepdims: bool) -> str:
    name = g.tensor(x)
    if axis is not None:
        return g.node(kind, [name], axis=axis, keepdims=int(keepdims))
    found = g.node(kind, [g.Reshape(name, [-1])], axis=0, keepdims=0)
    return g.Reshape(found, [1] * out.ndim)


def reduced(g: Graph, kind: str, x: str, ndim: int, axis: Any, keepdims: bool) -> str:
    """A reduction of a tensor along one axis, several or all."""
    axes = range(ndim) if axis is None else normalize_axis_tuple(axis, ndim)
    return g.node(kind, [x, g.lengths(axes)], keepdims=int(keepdims)) if ndim else x


for function, kinds in (
    (_unary, UNARY), (_binary, BINARY), (_logical, LOGICAL), (_reduction, REDUCTIONS),
    (_quantifier, QUANTIFIERS), (_place, PLACES),
):  # fmt: skip
    OPERATORS |= {name: partial(function, kind) for name, kind in kinds.items()}


# Elements


def _truncated(g: Graph, a: Any, b: Any) -> tuple[str, str]:
    """The remainder of floats with the sign of a, and where the one with b's sign is another."""
    rest = g.Mod(a, b, fmod=1)
    return rest, g.And(g.Not(g.Equal(rest, 0)), g.Xor(g.Less(rest, 0), g.Less(b, 0)))


@exports("remainder")
def _remainder(g: Graph, out: Value, a: Any, b: Any) -> str:
    """The remainder with the sign of b; ONNX has it for integers only."""
    if out.dtype.kind != "f":
        return g.Mod(a, b)
    rest, differs = _truncated(g, a, b)
    return g.Where(differs, g.Add(rest, b), rest)


@exports("floor_divide")
def _floor_divide(g: Graph, out: Value, a: Any, b: Any) -> str:
    if out.dtype.kind != "f":  # integer division truncates, which is exact here
        return g.Div(g.Sub(a, g.Mod(a, b)), b)
    rest, differs = _truncated(g, a, b)  # the floor of a / b may be rounded up
    whole = g.Sub(g.Round(g.Div(g.Sub(a, rest), b)), g.cast(differs, out.dtype))
    return g.Where(g.Equal(b, 0), g.Div(a, b), whole)


@exports("expm1")
def _expm1(g: Graph, out: Value, x: Any) -> str:
    """exp(x) - 1 = tanh(x/2) (exp(x) + 1), which is accurate for small x."""
    return g.Mul(g.Tanh(g.Mul(x, 0.5)), g.Add(g.Exp(x), 1))


@exports("log1p")
def _log1p(g: Graph, out: Value, x: Any) -> str:
    """log(1 + x); for small x the equal 2 artanh(x / (2 + x)), which is accurate there."""
    near = g.Mul(g.Atanh(g.Div(x, g.Add(x, 2))), 2)
    return g.Where(g.Less(g.Abs(x), 0.5), near, g.Log(g.Add(x, 1)))


@exports("softplus")
def _softplus(g: Graph, out: Value, x: Any, beta: float) -> str:
    return g.Softplus(x) if beta == 1 else g.Div(g.Softplus(g.Mul(x, beta)), beta)


@exports("clip", "hardtanh")
def _clip(g: Graph, out: Value, x: Any, low: Any, high: Any) -> str:
    above = g.tensor(x, out.dtype) if low is None else g.Max(x, low)
    return above if high is None else g.Min(above, high)


@exports("round")
def _round(g: Graph, out: Value, x: Any, decimals: int) -> str:
    if decimals:
        raise NotImplementedError(f"decimals={decimals}: ONNX rounds to whole numbers only")
    return g.Round(x) if out.dtype.kind == "f" else g.tensor(x)


# Products


@exports("linear")
def _linear(g: Graph, out: Value, x: Any, weight: Any, bias: Any) -> str:
    product = g.MatMul(x, g.Transpose(weight, perm=[1, 0]))
    return product if bias is None else g.Add(product, bias)


# Softmax and normalisation


@exports("softmax")
def _softmax(g: Graph, out: Value, x: Any, axis: int) -> str:
    """Softmax, with zeros for a row of -inf only, where ONNX gives NaN."""
    nowhere = g.Equal(g.ReduceMax(x, [axis], keepdims=1), -math.inf)
    return g.Where(nowhere, 0, g.Softmax(x, axis=axis))


@exports("layer_norm")
def _layer_norm(g: Graph, out: Value, x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> str:
    if weight is None:
        shape = x.shape[x.ndim - ndim :]
        if not all(isinstance(n, int) for n in shape):  # LayerNormalization has fixed weights
            axes = range(x.ndim - ndim, x.ndim)
            name = g.tensor(x, out.dtype)
            centred = g.Sub(name, reduced(g, "ReduceMean", name, x.ndim, axes, True))
            variance = reduced(g, "ReduceMean", g.Mul(centred, centred), x.ndim, axes, True)
            return g.Div(centred, g.Sqrt(g.Add(variance, eps)))
        weight = np.ones(shape)
    names = [part for part in (x, weight, bias) if part is not None]
    return g.LayerNormalization(*names, axis=-ndim, epsilon=eps)


def _variance(g: Graph, out: Value, x: Any, axis: Any, ddof: int, keepdims: bool) -> str:
    """The sum of the squared deviations over n - ddof."""
    name = g.tensor(x, out.dtype)
    centred = g.Sub(name, reduced(g, "ReduceMean", name, x.ndim, axis, True))
    squares = reduced(g, "ReduceSumSquare", centred, x.ndim, axis, keepdims)
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    count = g.tensor(1, out.dtype)
    for each in axes:
        count = g.Mul(count, x.shape[each])
    return g.Div(squares, g.Sub(count, ddof))


@exports("norm")
def _norm(g: Graph, out: Value, x: Any, ord: float, axis: Any, keepdims: bool) -> str:
    """A norm; that of order 2 of elements in proportion to the largest, whose square is finite."""
    name = g.tensor(x, out.dtype)
    if ord == 1:
        return reduced(g, "ReduceL1", name, x.ndim, axis, keepdims)
    if ord != 2 and not math.isinf(ord):
        raise NotImplementedError(f"ord={ord}: only 1, 2 and inf are exported")
    top = reduced(g, "ReduceMax", g.Abs(name), x.ndim, axis, keepdims or ord == 2)
    if math.isinf(ord):
        return top
    top = g.Where(g.And(g.Greater(top, 0), g.Less(top, math.inf)), top, 1)
    norm = g.Mul(reduced(g, "ReduceL2", g.Div(name, top), x.ndim, axis, True), top)
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    return norm if keepdims or not x.ndim else g.Squeeze(norm, [*axes])


@exports("cumsum")
def _cumsum(g: Graph, out: Value, x: Any, axis: Any) -> str:
    flat = g.Reshape(x, [-1]) if axis is None else x
    return g.CumSum(flat, g.tensor(normalize_axis_index(axis or 0, out.ndim), np.int64))


def copied(g: Graph, out: Value, values: Any) -> str:
    """A tensor that was overwritten with a number or with values that broadcast."""
    return g.Expand(values, [*out.shape])


# Ops of one formula

OPERATORS |= {
    "astype": lambda g, out, x, dtype: g.tensor(x, out.dtype),
    "to_integer": lambda g, out, x, dtype: g.tensor(x, out.dtype),
    "not_equal": lambda g, out, a, b: g.Not(OPERATORS["equal"](g, out, a, b)),
    "square": lambda g, out, x: g.Mul(x, x),
    "exp2": lambda g, out, x: g.Pow(2, x),
    "log2": lambda g, out, x: g.Div(g.Log(x), math.log(2)),
    "log10": lambda g, out, x: g.Div(g.Log(x), math.log(10)),
    "silu": lambda g, out, x: g.Mul(x, g.Sigmoid(x)),
    "gelu": lambda g, out, x, approximate: g.Gelu(x, approximate=approximate),
    "log_softmax": lambda g, out, x, axis: g.LogSoftmax(x, axis=axis),
    "where": lambda g, out, condition, a, b: g.Where(g.tensor(condition, np.bool_), a, b),
    "masked_fill": lambda g, out, x, mask, value: g.Where(g.tensor(mask, np.bool_), value, x),
    "einsum": lambda g, out, operands, inputs, output: g.Einsum(
        *operands, equation=f"{','.join(inputs)}->{output}"
    ),
    "vecdot": lambda g, out, a, b: g.ReduceSum(
        OPERATORS["multiply"](g, out, a, b), [-1], keepdims=0
    ),
    "var": _variance,
    "std": lambda g, out, *arguments: g.Sqrt(_variance(g, out, *arguments)),
}
