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


def _parts(g: Graph, name: str, count: int, width: int) -> list[str]:
    """Equal parts of the last axis."""
    return [g.Slice(name, [i * width], [(i + 1) * width], [-1]) for i in range(count)]


@exports("lstm")
def _lstm(g: Graph, out: Value, gates: Any, weight: Any, h0: Any, c0: Any) -> str:
    matrix, width = g.Transpose(weight, perm=[1, 0]), weight.arrays[0].shape[1]

    def step(states: list[str], a: str) -> list[str]:
        h, c = states
        i, f, new, o = _parts(g, g.Add(a, g.MatMul(h, matrix)), 4, width)
        c = g.Add(g.Mul(g.Sigmoid(f), c), g.Mul(g.Sigmoid(i), g.Tanh(new)))
        return [g.Mul(g.Sigmoid(o), g.Tanh(c)), c]

    states = _looped(g, out, step, [h0, c0], gates)
    return g.Concat(*(g.Unsqueeze(state, [0]) for state in states), axis=0)


@exports("gru")
def _gru(g: Graph, out: Value, gates: Any, weight: Any, bias: Any, h0: Any) -> str:
    matrix, width = g.Transpose(weight, perm=[1, 0]), weight.arrays[0].shape[1]
    shift = None if bias is None else g.tensor(bias, out.dtype)

    def step(states: list[str], a: str) -> list[str]:
        (h,) = states
        u = g.MatMul(h, matrix)
        a_r, a_z, a_n = _parts(g, a, 3, width)
        u_r, u_z, u_n = _parts(g, u if shift is None else g.Add(u, shift), 3, width)
        r, z = g.Sigmoid(g.Add(a_r, u_r)), g.Sigmoid(g.Add(a_z, u_z))
        n = g.Tanh(g.Add(a_n, g.Mul(r, u_n)))
        return [g.Add(n, g.Mul(z, g.Sub(h, n)))]  # (1 - z) n + z h

    return _looped(g, out, step, [h0], gates)[0]


@exports("rnn")
def _rnn(g: Graph, out: Value, gates: Any, weight: Any, h0: Any, nonlinearity: str) -> str:
    matrix, kind = g.Transpose(weight, perm=[1, 0]), nonlinearity.capitalize()

    def step(states: list[str], a: str) -> list[str]:
        return [g.node(kind, [g.Add(a, g.MatMul(*states, matrix))])]

    return _looped(g, out, step, [h0], gates)[0]
