"""The number of floating-point operations of an op: two for each multiplication of a product.

Counted are products of matrices, convolutions, attention and recurrent layers, as PyTorch's
``FlopCounterMode`` does: a multiplication and the addition behind it. Next to them, operations that
are done once for each element do not count, and neither do decompositions of matrices.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive, registry

ALWAYS = ""
"""Stands for what a rule computes whichever gradients are wanted."""

Counts = dict[str, int]
"""The number of multiplications of a backward step, by the argument with the gradient."""

# The gradient of each factor of a product takes as many multiplications as the product itself.
_PRODUCTS: dict[Primitive, tuple[tuple[str, ...], Callable[..., int]]] = {
    registry["matmul"]: (("a", "b"), lambda out, a, b: out.size * a.shape[-1]),
    registry["vecdot"]: (("a", "b"), lambda out, a, b: out.size * a.shape[-1]),
    registry["linear"]: (("x", "weight"), lambda out, x, *_: out.size * x.shape[-1]),
    registry["convolution"]: (
        ("x", "weight"), lambda out, x, weight, *_: out.size * weight.size // len(weight)
    ),
    registry["convolution_transpose"]: (
        ("y", "weight"), lambda out, y, weight, *_: y.size * weight.size // len(weight)
    ),
    registry["convolution_weight"]: (
        ("x", "y"), lambda out, x, y, *_: y.size * out.size // len(out)
    ),
}  # fmt: skip


def _einsum(out: Any, operands: Any, inputs: Sequence[str], output: str) -> tuple[int, Counts]:
    sizes: dict[str, int] = {}
    for labels, x in zip(inputs, operands, strict=True):
        for label, length in zip(labels, x.shape, strict=True):
            sizes[label] = max(length, sizes.get(label, 0))
    n = (len(operands) - 1) * math.prod(sizes.values())
    return n, {f"operands[{i}]": n for i in range(len(operands))}


def _attention(out: Any, query: Any, key: Any, value: Any, *_: Any) -> tuple[int, Counts]:
    pairs = math.prod(out.shape[:-1]) * key.shape[-2]
    scores, sums = pairs * query.shape[-1], pairs * value.shape[-1]
    # The backward step computes the weights again, and their gradients.
    return scores + sums, {ALWAYS: scores + sums, "query": scores, "key": scores, "value": sums}


def _recurrence(out: Any, gates: Any, weight: Any, *_: Any) -> tuple[int, Counts]:
    n = gates.size * weight.shape[-1]
    return n, {ALWAYS: n, "weight": n}


_OTHERS: dict[Primitive, Callable[..., tuple[int, Counts]]] = {
    registry["einsum"]: _einsum,
    registry["attention"]: _attention,
    registry["lstm"]: _recurrence,
    registry["gru"]: _recurrence,
    registry["rnn"]: _recurrence,
}


def count_flops(op: Primitive, arguments: Sequence[Any], result: Any) -> tuple[int, Counts]:
    """Count the floating-point operations of a call of an op, and of its rules.

    The counts of the backward step are by the argument whose gradient it computes, with `ALWAYS`
    for what they share.
    """
    if op not in _PRODUCTS and op not in _OTHERS:
        return 0, {}
    out = _array(result[0] if isinstance(result, tuple) else result)
    given = [_array(value) for value in (arguments[0] if op.variadic else arguments)]
    values = [given, *arguments[1:]] if op.variadic else given
    if op in _OTHERS:
        n, backward = _OTHERS[op](out, *values)
    else:
        factors, count = _PRODUCTS[op]
        n = count(out, *values)
        backward = dict.fromkeys(factors, n)
    return int(2 * n), {name: int(2 * part) for name, part in backward.items()}


def _array(value: Any) -> Any:
    if isinstance(value, Variable):
        return value._data  # a shape is asked for, and nothing of the graph
    return np.asarray(value) if isinstance(value, list) else value
