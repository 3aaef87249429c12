"""How many floating-point operations an op takes: two for each multiplication of a product.

Counted are products of matrices, convolutions, attention and recurrent layers, as PyTorch's
``FlopCounterMode`` does: a multiplication and the addition behind it. Next to them, operations that
are done once for each element do not count, and neither do decompositions of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.primitive import Primitive, registry

__all__ = ["ALWAYS", "count_flops"]

ALWAYS = ""
"""Stands for what a rule computes whichever gradients are wanted."""

Counts = Mapping[str, int]


def _product(*factors: str) -> Callable[[Callable[..., int]], Callable[..., tuple[int, Counts]]]:
    """The gradient of each factor of a product takes as many multiplications as the product."""

    def make(count: Callable[..., int]) -> Callable[..., tuple[int, Counts]]:
        def counted(*values: Any) -> tuple[int, Counts]:
            n = count(*values)
            return n, dict.fromkeys(factors, n)

        return counted

    return make


def _einsum(out: Any, operands: Any, inputs: Sequence[str], output: str) -> tuple[int, Counts]:
    sizes = {
        letter: n
        for letters, x in zip(inputs, operands, strict=True)
        for letter, n in zip(letters, x.shape, strict=True)
    }
    n = (len(operands) - 1) * math.prod(sizes.values())
    return n, {f"operands[{i}]": n for i in range(len(operands))}


def _attention(out: Any, query: Any, key: Any, value: Any, *_: Any) -> tuple[int, Counts]:
    rows, keys = math.prod(out.shape[:-1]), key.shape[-2]
    scores, sums = rows * keys * query.shape[-1], rows * keys * value.shape[-1]
    # The backward step computes the weights again.
    return scores + sums, {ALWAYS: scores + sums, "query": scores, "key": scores, "value": sums}


def _recurrence(out: Any, gates: Any, weight: Any, *_: Any) -> tuple[int, Counts]:
    n = gates.size * weight.shape[-1]
    return n, {ALWAYS: n, "weight": n}


_COUNTS: dict[Primitive, Callable[..., tuple[int, Counts]]] = {
    registry["matmul"]: _product("a", "b")(lambda out, a, b: out.size * a.shape[-1]),
    registry["vecdot"]: _product("a", "b")(lambda out, a, b: out.size * a.shape[-1]),
    registry["linear"]: _product("x", "weight")(lambda out, x, *_: out.size * x.shape[-1]),
    registry["tensordot"]: _product("a", "b")(
        lambda out, a, b, axes: out.size * math.prod(a.shape[axis] for axis in axes[0])
    ),
    registry["convolution"]: _product("x", "weight")(
        lambda out, x, weight, *_: out.size * weight.size // len(weight)
    ),
    registry["convolution_transpose"]: _product("y", "weight")(
        lambda out, y, weight, *_: y.size * weight.size // len(weight)
    ),
    registry["convolution_weight"]: _product("x", "y")(
        lambda out, x, y, *_: y.size * out.size // len(out)
    ),
    registry["einsum"]: _einsum,
    registry["attention"]: _attention,
    **{registry[name]: _recurrence for name in ("lstm", "gru", "rnn")},
}


def count_flops(op: Primitive, arguments: Sequence[Any], result: Any) -> tuple[int, Counts]:
    """Count the floating-point operations of a call of an op, and of its rules.

    Args:
        op: The op.
        arguments: What it was given, as an observer is told.
        result: What it returned.

    Returns:
        The count of the call; and of the backward step, by the argument whose gradient it computes,
        with `ALWAYS` for what they share.

    Example:
        >>> import minigrad
        >>> from minigrad.debugging.flops import count_flops
        >>> a, b = minigrad.ones(2, 3), minigrad.ones(3, 4)
        >>> count_flops(minigrad.matmul.op, [a, b], a @ b)  # 2·3·4 multiplications and additions
        (48, {'a': 48, 'b': 48})
    """
    counted = _COUNTS.get(op)
    if counted is None:
        return 0, {}
    out = result[0] if isinstance(result, tuple) else result
    values = [np.asarray(value) if isinstance(value, list) else value for value in arguments]
    if op.variadic:
        values[0] = [np.asarray(x) if isinstance(x, list) else x for x in arguments[0]]
    n, backward = counted(out, *values)
    return 2 * n, {name: 2 * part for name, part in backward.items()}
