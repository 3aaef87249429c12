"""Ops as ONNX operators: a table, and functions for ops that need several operators.

A function gets the graph, the op's result, and the op's arguments in the order of its parameters: a
`Value` for a tensor, a `Size` for a number that depends on the inputs' sizes. It returns the name
of the tensor that holds the result.
"""

import math
from collections.abc import Callable
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


def _unary(kind: str) -> Operator:
    return lambda g, out, x: g.node(kind, [g.tensor(x)])


def _binary(kind: str) -> Operator:
    def write(g: Graph, out: Value, a: Any, b: Any) -> str:
        dtype = _common(a, b) if out.dtype == np.bool_ else out.dtype
        if dtype == np.bool_ and kind != "Equal":
            raise NotImplementedError("on bools it is not exported; convert them, or use & and |")
        return g.node(kind, [g.tensor(a, dtype), g.tensor(b, dtype)])

    return write


def _logical(kind: str) -> Operator:
    def write(g: Graph, out: Value, *operands: Any) -> str:
        if out.dtype != np.bool_:
            raise NotImplementedError(f"only bools are exported, not {out.dtype}")
        return g.node(kind, [g.tensor(x, np.bool_) for x in operands])

    return write


def _reduction(kind: str) -> Operator:
    def write(g: Graph, out: Value, x: Any, axis: Any = None, keepdims: bool = False) -> str:
        return reduced(g, kind, g.tensor(x, out.dtype), x.ndim, axis, keepdims)

    return write


def reduced(g: Graph, kind: str, x: str, ndim: int, axis: Any, keepdims: bool) -> str:
    """A reduction of a tensor along one axis, several or all."""
    axes = range(ndim) if axis is None else normalize_axis_tuple(axis, ndim)
    return g.node(kind, [x, g.lengths(axes)], keepdims=int(keepdims)) if ndim else x


OPERATORS |= {name: _unary(kind) for name, kind in UNARY.items()}
OPERATORS |= {name: _binary(kind) for name, kind in BINARY.items()}
OPERATORS |= {name: _logical(kind) for name, kind in LOGICAL.items()}
OPERATORS |= {name: _reduction(kind) for name, kind in REDUCTIONS.items()}


# Elements


def _truncated(g: Graph, out: Value, a: Any, b: Any) -> tuple[str, str, str, str]:
    """Two floats, the remainder with the sign of a, and where the one with b's sign is another."""
    left, right, zero = g.tensor(a, out.dtype), g.tensor(b, out.dtype), g.tensor(0, out.dtype)
    rest = g.node("Mod", [left, right], fmod=1)
    signs = [g.node("Less", [part, zero]) for part in (rest, right)]
    exact = g.node("Equal", [rest, zero])
    differs = g.node("And", [g.node("Not", [exact]), g.node("Xor", signs)])
    return left, right, rest, differs


@exports("remainder")
def _remainder(g: Graph, out: Value, a: Any, b: Any) -> str:
    """The remainder with the sign of b; ONNX has it for integers only."""
    if out.dtype.kind != "f":
        return g.node("Mod", [g.tensor(a, out.dtype), g.tensor(b, out.dtype)])
    _, right, rest, differs = _truncated(g, out, a, b)
    return g.node("Where", [differs, g.node("Add", [rest, right]), rest])


@exports("floor_divide")
def _floor_divide(g: Graph, out: Value, a: Any, b: Any) -> str:
    if out.dtype.kind != "f":  # integer division truncates, which is exact here
        left, right = g.tensor(a, out.dtype), g.tensor(b, out.dtype)
        return g.node("Div", [g.node("Sub", [left, g.node("Mod", [left, right])]), right])
    left, right, rest, differs = _truncated(g, out, a, b)  # the floor of a / b may be rounded up
    whole = g.node("Round", [g.node("Div", [g.node("Sub", [left, rest]), right])])
    whole = g.node("Sub", [whole, g.cast(differs, out.dtype)])
    by_zero = g.node("Equal", [right, g.tensor(0, out.dtype)])
    return g.node("Where", [by_zero, g.node("Div", [left, right]), whole])


def _logarithm(base: int) -> Operator:
    def write(g: Graph, out: Value, x: Any) -> str:
        log = g.node("Log", [g.tensor(x, out.dtype)])
        return g.node("Div", [log, g.tensor(math.log(base), out.dtype)])

    return write


OPERATORS |= {"log2": _logarithm(2), "log10": _logarithm(10)}


@exports("expm1")
def _expm1(g: Graph, out: Value, x: Any) -> str:
    """exp(x) - 1 = tanh(x/2) (exp(x) + 1), which is accurate for small x."""
    name = g.tensor(x, out.dtype)
    half = g.node("Tanh", [g.node("Mul", [name, g.tensor(0.5, out.dtype)])])
    more = g.node("Add", [g.node("Exp", [name]), g.tensor(1, out.dtype)])
    return g.node("Mul", [half, more])


@exports("log1p")
def _log1p(g: Graph, out: Value, x: Any) -> str:
    """log(1 + x); for small x the equal 2 artanh(x / (2 + x)), which is accurate there."""
    name = g.tensor(x, out.dtype)
    far = g.node("Log", [g.node("Add", [name, g.tensor(1, out.dtype)])])
    ratio = g.node("Div", [name, g.node("Add", [name, g.tensor(2, out.dtype)])])
    near = g.node("Mul", [g.node("Atanh", [ratio]), g.tensor(2, out.dtype)])
    small = g.node("Less", [g.node("Abs", [name]), g.tensor(0.5, out.dtype)])
    return g.node("Where", [small, near, far])


@exports("softplus")
def _softplus(g: Graph, out: Value, x: Any, beta: float) -> str:
    if beta == 1:
        return g.node("Softplus", [g.tensor(x, out.dtype)])
    factor = g.tensor(beta, out.dtype)
    return g.node(
        "Div", [g.node("Softplus", [g.node("Mul", [g.tensor(x, out.dtype), factor])]), factor]
    )


@exports("clip", "hardtanh")
def _clip(g: Graph, out: Value, x: Any, low: Any, high: Any) -> str:
    name = g.tensor(x, out.dtype)
    if low is not None:
        name = g.node("Max", [name, g.tensor(low, out.dtype)])
    return name if high is None else g.node("Min", [name, g.tensor(high, out.dtype)])


@exports("round")
def _round(g: Graph, out: Value, x: Any, decimals: int) -> str:
    if decimals:
        raise NotImplementedError(f"decimals={decimals}: ONNX rounds to whole numbers only")
    return g.node("Round", [g.tensor(x)]) if out.dtype.kind == "f" else g.tensor(x)


# Products


@exports("linear")
def _linear(g: Graph, out: Value, x: Any, weight: Any, bias: Any) -> str:
    matrix = g.node("Transpose", [g.tensor(weight, out.dtype)], perm=[1, 0])
    product = g.node("MatMul", [g.tensor(x, out.dtype), matrix])
    return product if bias is None else g.node("Add", [product, g.tensor(bias, out.dtype)])


# Softmax and normalisation


@exports("softmax")
def _softmax(g: Graph, out: Value, x: Any, axis: int) -> str:
    """Softmax, with zeros for a row of -inf only, where ONNX gives NaN."""
    name = g.tensor(x, out.dtype)
    weights = g.node("Softmax", [name], axis=axis)
    top = g.node("ReduceMax", [name, g.lengths([axis])], keepdims=1)
    nowhere = g.node("Equal", [top, g.tensor(-math.inf, out.dtype)])
    return g.node("Where", [nowhere, g.tensor(0, out.dtype), weights])


@exports("layer_norm")
def _layer_norm(g: Graph, out: Value, x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> str:
    if weight is None:
        shape = x.shape[x.ndim - ndim :]
        if not all(isinstance(n, int) for n in shape):
            return _standardized(g, g.tensor(x, out.dtype), x.ndim, ndim, eps, out.dtype)
        weight = np.ones(shape)
    names = [g.tensor(part, out.dtype) for part in (x, weight, bias) if part is not None]
    return g.node("LayerNormalization", names, axis=-ndim, epsilon=eps)


def _standardized(g: Graph, x: str, ndim: int, count: int, eps: float, dtype: Any) -> str:
    """Normalize the last axes. LayerNormalization would need weights of a fixed size."""
    axes = range(ndim - count, ndim)
    centred = g.node("Sub", [x, reduced(g, "ReduceMean", x, ndim, axes, True)])
    squares = g.node("Mul", [centred, centred])
    variance = reduced(g, "ReduceMean", squares, ndim, axes, True)
    spread = g.node("Sqrt", [g.node("Add", [variance, g.tensor(eps, dtype)])])
    return g.node("Div", [centred, spread])


def _variance(g: Graph, out: Value, x: Any, axis: Any, ddof: int, keepdims: bool) -> str:
    """The sum of the squared deviations over n - ddof."""
    name = g.tensor(x, out.dtype)
    centred = g.node("Sub", [name, reduced(g, "ReduceMean", name, x.ndim, axis, True)])
    squares = reduced(g, "ReduceSumSquare", centred, x.ndim, axis, keepdims)
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    count = g.tensor(1, out.dtype)
    for each in axes:
        count = g.node("Mul", [count, g.tensor(x.shape[each], out.dtype)])
    return g.node("Div", [squares, g.node("Sub", [count, g.tensor(ddof, out.dtype)])])


OPERATORS["var"] = _variance


@exports("norm")
def _norm(g: Graph, out: Value, x: Any, ord: float, axis: Any, keepdims: bool) -> str:
    """A norm; that of order 2 of elements in proportion to the largest, whose square is finite."""
    name = g.tensor(x, out.dtype)
    if ord == 1:
        return reduced(g, "ReduceL1", name, x.ndim, axis, keepdims)
    if ord != 2 and not math.isinf(ord):
        raise NotImplementedError(f"ord={ord}: only 1, 2 and inf are exported")
    wide = keepdims or ord == 2
    top = reduced(g, "ReduceMax", g.node("Abs", [name]), x.ndim, axis, wide)
    if math.isinf(ord):
        return top
    above, below = g.tensor(0, out.dtype), g.tensor(math.inf, out.dtype)
    usual = g.node("And", [g.node("Greater", [top, above]), g.node("Less", [top, below])])
    top = g.node("Where", [usual, top, g.tensor(1, out.dtype)])
    parts = reduced(g, "ReduceL2", g.node("Div", [name, top]), x.ndim, axis, True)
    norm = g.node("Mul", [parts, top])
    if keepdims or not x.ndim:
        return norm
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    return g.node("Squeeze", [norm, g.lengths(axes)])


def _quantifier(kind: str) -> Operator:
    def write(g: Graph, out: Value, x: Any, axis: Any, keepdims: bool) -> str:
        ones = g.cast(g.tensor(x, np.bool_), np.int32)
        return g.cast(reduced(g, kind, ones, x.ndim, axis, keepdims), np.bool_)

    return write


def _place(kind: str) -> Operator:
    def write(g: Graph, out: Value, x: Any, axis: int | None, keepdims: bool) -> str:
        name = g.tensor(x)
        if axis is not None:
            return g.node(kind, [name], axis=axis, keepdims=int(keepdims))
        found = g.node(kind, [g.node("Reshape", [name, g.lengths([-1])])], axis=0, keepdims=0)
        return g.node("Reshape", [found, g.lengths([1] * out.ndim)])

    return write


OPERATORS |= {"any": _quantifier("ReduceMax"), "all": _quantifier("ReduceMin")}
OPERATORS |= {"argmax": _place("ArgMax"), "argmin": _place("ArgMin")}


@exports("cumsum")
def _cumsum(g: Graph, out: Value, x: Any, axis: Any) -> str:
    name = g.tensor(x, out.dtype)
    if axis is None:
        name, axis = g.node("Reshape", [name, g.lengths([-1])]), 0
    return g.node("CumSum", [name, g.tensor(normalize_axis_index(axis, out.ndim), np.int64)])


def copied(g: Graph, out: Value, values: Any) -> str:
    """A tensor that was overwritten with a number or with values that broadcast."""
    return g.node("Expand", [g.tensor(values, out.dtype), g.lengths(out.shape)])


# Ops of one formula

OPERATORS |= {
    "astype": lambda g, out, x, dtype: g.tensor(x, out.dtype),
    "to_integer": lambda g, out, x, dtype: g.tensor(x, out.dtype),
    "not_equal": lambda g, out, a, b: g.node("Not", [OPERATORS["equal"](g, out, a, b)]),
    "square": lambda g, out, x: g.node("Mul", [g.tensor(x, out.dtype)] * 2),
    "exp2": lambda g, out, x: g.node("Pow", [g.tensor(2, out.dtype), g.tensor(x, out.dtype)]),
    "silu": lambda g, out, x: g.node(
        "Mul", [g.tensor(x, out.dtype), OPERATORS["sigmoid"](g, out, x)]
    ),
    "gelu": lambda g, out, x, approximate: g.node(
        "Gelu", [g.tensor(x, out.dtype)], approximate=approximate
    ),
    "log_softmax": lambda g, out, x, axis: g.node(
        "LogSoftmax", [g.tensor(x, out.dtype)], axis=axis
    ),
    "where": lambda g, out, condition, a, b: g.node(
        "Where", [g.tensor(condition, np.bool_), g.tensor(a, out.dtype), g.tensor(b, out.dtype)]
    ),
    "masked_fill": lambda g, out, x, mask, value: OPERATORS["where"](g, out, mask, value, x),
    "einsum": lambda g, out, operands, inputs, output: g.node(
        "Einsum",
        [g.tensor(x, out.dtype) for x in operands],
        equation=f"{','.join(inputs)}->{output}",
    ),
    "vecdot": lambda g, out, a, b: g.node(
        "ReduceSum", [OPERATORS["multiply"](g, out, a, b), g.lengths([-1])], keepdims=0
    ),
    "std": lambda g, out, *arguments: g.node("Sqrt", [_variance(g, out, *arguments)]),
}
