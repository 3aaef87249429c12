"""Recurrence as ONNX's operator Scan: a loop over a sequence of any length.

The body of the loop is the formula of the op. ONNX's LSTM operator does not fit: it returns only
the last cell state, and takes the layer's input, not its gates.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.onnx.graph import Graph
from minigrad.onnx.operators import exports
from minigrad.onnx.program import Value


def _looped(
    g: Graph, out: Value, step: Callable[[list[str], str], list[str]], first: list[Any], gates: Any
) -> list[str]:
    """The states after all steps."""
    if out.dtype == np.float16:
        raise NotImplementedError(
            "onnxruntime cannot loop in float16; export the model in float32: model.float()"
        )
    names = [g.tensor(state, out.dtype) for state in first]
    return g.scan(step, names, g.tensor(gates, out.dtype), out.dtype)


def _recalled(g: Graph, weight: Any, dtype: Any) -> str:
    """The transposed weight, computed once, outside the loop."""
    return g.node("Transpose", [g.tensor(weight, dtype)], perm=[1, 0])


def _parts(g: Graph, name: str, count: int, width: int) -> list[str]:
    """Equal parts of the last axis."""
    return [
        g.node("Slice", [name, *(g.lengths([n]) for n in (i * width, (i + 1) * width, 1))])
        for i in range(count)
    ]


@exports("lstm")
def _lstm(g: Graph, out: Value, gates: Any, weight: Any, h0: Any, c0: Any) -> str:
    matrix, width = _recalled(g, weight, out.dtype), weight.arrays[0].shape[1]

    def step(states: list[str], a: str) -> list[str]:
        h, c = states
        both = g.node("Add", [a, g.node("MatMul", [h, matrix])])
        i, f, new, o = _parts(g, both, 4, width)
        kept = g.node("Mul", [g.node("Sigmoid", [f]), c])
        taken = g.node("Mul", [g.node("Sigmoid", [i]), g.node("Tanh", [new])])
        c = g.node("Add", [kept, taken])
        return [g.node("Mul", [g.node("Sigmoid", [o]), g.node("Tanh", [c])]), c]

    states = _looped(g, out, step, [h0, c0], gates)
    return g.node("Concat", [g.node("Unsqueeze", [s, g.lengths([0])]) for s in states], axis=0)


@exports("gru")
def _gru(g: Graph, out: Value, gates: Any, weight: Any, bias: Any, h0: Any) -> str:
    matrix, width = _recalled(g, weight, out.dtype), weight.arrays[0].shape[1]
    shift = None if bias is None else g.tensor(bias, out.dtype)

    def step(states: list[str], a: str) -> list[str]:
        (h,) = states
        u = g.node("MatMul", [h, matrix])
        if shift is not None:
            u = g.node("Add", [u, shift])
        a_r, a_z, a_n = _parts(g, a, 3, width)
        u_r, u_z, u_n = _parts(g, u, 3, width)
        r = g.node("Sigmoid", [g.node("Add", [a_r, u_r])])
        z = g.node("Sigmoid", [g.node("Add", [a_z, u_z])])
        n = g.node("Tanh", [g.node("Add", [a_n, g.node("Mul", [r, u_n])])])
        # (1 - z) n + z h = n + z (h - n)
        return [g.node("Add", [n, g.node("Mul", [z, g.node("Sub", [h, n])])])]

    return _looped(g, out, step, [h0], gates)[0]


@exports("rnn")
def _rnn(g: Graph, out: Value, gates: Any, weight: Any, h0: Any, nonlinearity: str) -> str:
    matrix, kind = _recalled(g, weight, out.dtype), nonlinearity.capitalize()

    def step(states: list[str], a: str) -> list[str]:
        return [g.node(kind, [g.node("Add", [a, g.node("MatMul", [*states, matrix])])])]

    return _looped(g, out, step, [h0], gates)[0]
