"""LSTM, GRU, and the plain recurrence: kernel, rule, decomposition.

The input's part of the gates of all steps is one matrix product outside of these ops (`gates`, of
shape (L, N, gates · H)). The ops do the part that must go step by step. The hidden state h after
step t is `out[t]`; h0 is the state before the first step. A rule runs over the steps once, from the
last to the first. What does not depend on later steps is computed for all steps at once.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import moves, zeroed
from minigrad.ops._parallel import in_passes
from minigrad.ops.activation import relu, sigmoid
from minigrad.ops.joining import stack

__all__ = ["gru", "lstm", "rnn"]


@moves
def _before(out: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The state before each step."""
    return np.concatenate([first[None], out])[:-1]


# `_next` and `_carried` are for the formulas below, which distinguish a step from the next.


@moves
def _next(x: np.ndarray) -> np.ndarray:
    """The value at the next step; 0 at the last step."""
    return np.concatenate([x[1:], np.zeros_like(x[:1])])


def _carried(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """The sums s[t] = x[t] + factor[t + 1] * s[t + 1], from the last step to the first."""
    steps = [x[-1]]
    for now, later in zip(x[-2::-1], factor[:0:-1], strict=True):
        steps.append(now + later * steps[-1])
    return np.stack(steps[::-1])


def _by_weight(slopes: np.ndarray, before: np.ndarray) -> Any:
    """The sum of ``slopes[t].T @ before[t]`` over the steps."""
    rows = slopes.shape[0] * slopes.shape[1]
    return slopes.reshape(rows, slopes.shape[2]).T @ before.reshape(rows, before.shape[2])


# LSTM ---------------------------------------------------------------------------------------------


@primitive(residuals=("opened",), float_inputs=True, promote=("gates", "weight", "h0", "c0"))
def lstm(gates: Any, weight: Any, h0: Any, c0: Any) -> Any:
    r"""Long short-term memory over all steps of a sequence.

    .. math::
        i, f, g, o &= \sigma(a_i), \sigma(a_f), \tanh(a_g), \sigma(a_o),
        \quad a = \text{gates}_t + h_{t-1} W^\top \\
        c_t &= f c_{t-1} + i g \qquad h_t = o \tanh c_t

    Args:
        gates: The input's part of a, with biases, of shape (L, N, 4·H); the gates in the order i,
            f, g, o.
        weight: W, of shape (4·H, H).
        h0: The hidden state before the first step, of shape (N, H).
        c0: The cell state before the first step, of shape (N, H).

    Returns:
        Shape (2, L, N, H): the hidden states of all steps, and the cell states.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Hochreiter and Schmidhuber 1997; the forget gate: Gers, Schmidhuber and Cummins 2000.

    Example:
        >>> import minigrad
        >>> state = minigrad.zeros((2, 3))
        >>> minigrad.ops.lstm(minigrad.ones((5, 2, 12)), minigrad.ones((12, 3)), state, state).shape
        minigrad.Size([2, 5, 2, 3])
    """
    steps, batch, _ = gates.shape
    width = weight.shape[1]
    # One tanh for all four gates: sigmoid(a) = (1 + tanh(a / 2)) / 2.
    factor = np.full(4 * width, 0.5, gates.dtype)
    factor[2 * width : 3 * width] = 1.0
    opened = np.multiply(gates, factor, order="C")
    weight = np.ascontiguousarray((weight * factor[:, None]).T)
    factor = np.tile(factor, (batch, 1))  # faster than np.repeat
    shift = 1 - factor
    out = np.empty((2, steps, batch, width), gates.dtype)
    h, c = h0, c0
    for a, h_now, c_now in zip(opened, *out, strict=True):
        a += h @ weight
        np.tanh(a, out=a)
        a *= factor
        a += shift
        i, f, g, o = a.reshape(batch, 4, width).swapaxes(0, 1)
        np.multiply(f, c, out=c_now)
        c_now += i * g
        np.tanh(c_now, out=h_now)
        h_now *= o
        h, c = h_now, c_now
    return out, opened


@lstm.defjoint("gates", "weight", "h0", "c0")
def _lstm_pull(
    g: np.ndarray, needed: tuple[bool, bool, bool, bool], weight: np.ndarray, h0: np.ndarray,
    c0: np.ndarray, out: np.ndarray, opened: np.ndarray,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    steps, batch, _ = opened.shape
    width = weight.shape[1]
    gates = opened.reshape(steps, batch, 4, width)
    # The gradient of each gate, without the factor that depends on later steps.
    slopes, before = np.empty_like(gates), _before(out[1], c0)
    through = np.empty_like(before)  # from the hidden state to the cell state

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        i, f, new, o = gates[part].transpose(2, 0, 1, 3)
        bent = np.tanh(out[1, part])
        np.multiply(new, i * (1 - i), out=slopes[part, :, 0])
        np.multiply(before[part], f * (1 - f), out=slopes[part, :, 1])
        np.multiply(i, 1 - new * new, out=slopes[part, :, 2])
        np.multiply(bent, o * (1 - o), out=slopes[part, :, 3])
        np.multiply(o, 1 - bent * bent, out=through[part])

    in_passes(steps, 4 * batch * width, work)
    rows = slopes.reshape(steps, batch, 4 * width)
    g_h, g_c = np.zeros_like(h0), np.zeros_like(c0)
    for t in reversed(range(steps)):
        g_h = g_h + g[0, t]
        g_c += g[1, t]
        g_c += g_h * through[t]
        slopes[t, :, :3] *= g_c[:, None]
        slopes[t, :, 3] *= g_h
        g_h = rows[t] @ weight
        g_c *= gates[t, :, 1]
    by_weight = _by_weight(rows, _before(out[0], h0)) if needed[1] else None
    return rows, by_weight, g_h, g_c


@lstm.defdecomposition
def _lstm_decomposition(gates: Any, weight: Any, h0: Any, c0: Any) -> Any:
    width = weight.shape[1]
    h, c, hidden, cells = h0, c0, [], []
    for t in range(gates.shape[0]):
        a = gates[t] + h @ weight.T
        i, f, new, o = (a[:, k * width : (k + 1) * width] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(new)
        h = sigmoid(o) * np.tanh(c)
        hidden.append(h)
        cells.append(c)
    return stack([stack(hidden), stack(cells)])


lstm.defformula(
    """
    i, f, n, o = split(opened, 4, 2)
    h, c = out
    g_h, g_c = g
    u = g_h + _next(g_gates @ weight)
    v = _carried(g_c + u * o * (1 - tanh(c)**2), f)
    step = 0  # the axis of the steps; [0] is the first of them
    """,
    gates="""
        input = v * n * i * (1 - i)
        forget = v * _before(c, c0) * f * (1 - f)
        cell = v * i * (1 - n**2)
        output = u * tanh(c) * o * (1 - o)
        concatenate((input, forget, cell, output), 2)
    """,
    weight="sum(g_gates.mT @ _before(h, h0), step)",
    h0="(g_gates @ weight)[0]",
    c0="(f * v)[0]",
)


# GRU ----------------------------------------------------------------------------------------------


@primitive(
    arrays=4, residuals=("opened", "recalled"), float_inputs=True,
    promote=("gates", "weight", "bias", "h0"),
)  # fmt: skip
def gru(gates: Any, weight: Any, bias: Any, h0: Any) -> Any:
    r"""Gated recurrent units over all steps of a sequence.

    .. math::
        r, z &= \sigma(a_r + u_r), \sigma(a_z + u_z),
        \quad a = \text{gates}_t, \quad u = h_{t-1} W^\top + b \\
        n &= \tanh(a_n + r u_n) \qquad h_t = (1 - z) n + z h_{t-1}

    Args:
        gates: a, the input's part, of shape (L, N, 3·H); in the order r, z, n.
        weight: W, of shape (3·H, H).
        bias: b, of shape (3·H,), or None.
        h0: The hidden state before the first step, of shape (N, H).

    Returns:
        Shape (L, N, H): the hidden states of all steps.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Cho et al. 2014, arXiv:1406.1078; the reset gate after the product as in cuDNN.

    Example:
        >>> import minigrad
        >>> gates, h0 = minigrad.ones((5, 2, 9)), minigrad.zeros((2, 3))
        >>> minigrad.ops.gru(gates, minigrad.ones((9, 3)), None, h0).shape
        minigrad.Size([5, 2, 3])
    """
    steps, batch, _ = gates.shape
    width = weight.shape[1]
    opened = gates.copy()  # r, z and n
    recalled = np.empty((steps, batch, width), gates.dtype)  # u_n
    turned = np.ascontiguousarray(weight.T)
    out = np.empty((steps, batch, width), gates.dtype)
    h = h0
    for a, u_n, now in zip(opened, recalled, out, strict=True):
        u = h @ turned
        if bias is not None:
            u += bias
        both = a[:, : 2 * width]
        both += u[:, : 2 * width]
        both *= 0.5  # sigmoid(a) = (1 + tanh(a / 2)) / 2
        np.tanh(both, out=both)
        both *= 0.5
        both += 0.5
        u_n[...] = u[:, 2 * width :]
        n = a[:, 2 * width :]
        n += both[:, :width] * u_n
        np.tanh(n, out=n)
        np.subtract(h, n, out=now)
        now *= both[:, width:]
        now += n
        h = now
    return out, opened, recalled


@gru.defjoint("gates", "weight", "bias", "h0")
def _gru_pull(
    g: np.ndarray, needed: tuple[bool, bool, bool, bool], weight: np.ndarray, h0: np.ndarray,
    out: np.ndarray, opened: np.ndarray, recalled: np.ndarray,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    steps, batch, width = out.shape
    r, z, n = opened.reshape(steps, batch, 3, width).transpose(2, 0, 1, 3)
    before = _before(out, h0)
    # The gradient of each gate, without the factor that depends on later steps.
    slopes = np.empty_like(opened).reshape(steps, batch, 3, width)
    fresh = (1 - z) * (1 - n * n)
    np.multiply(fresh * recalled, r * (1 - r), out=slopes[:, :, 0])
    np.multiply(before - n, z * (1 - z), out=slopes[:, :, 1])
    np.multiply(fresh, r, out=slopes[:, :, 2])  # to u_n; to n itself: the same without r
    rows = slopes.reshape(steps, batch, 3 * width)
    g_h = np.zeros_like(h0)
    for t in reversed(range(steps)):
        g_h = g_h + g[t]
        slopes[t] *= g_h[:, None]
        fresh[t] *= g_h
        g_h = g_h * z[t] + rows[t] @ weight
    by_weight = _by_weight(rows, before) if needed[1] else None
    by_bias = rows.sum(axis=(0, 1)) if needed[2] else None
    if needed[0]:
        slopes[:, :, 2] = fresh
    return rows, by_weight, by_bias, g_h


@gru.defdecomposition
def _gru_decomposition(gates: Any, weight: Any, bias: Any, h0: Any) -> Any:
    width = weight.shape[1]
    h, hidden = h0, []
    for t in range(gates.shape[0]):
        u = h @ weight.T
        u = u if bias is None else u + bias
        a = gates[t]
        r = sigmoid(a[:, :width] + u[:, :width])
        z = sigmoid(a[:, width : 2 * width] + u[:, width : 2 * width])
        n = np.tanh(a[:, 2 * width :] + r * u[:, 2 * width :])
        h = (1 - z) * n + z * h
        hidden.append(h)
    return stack(hidden)


gru.defformula(
    """
    r, z, n = split(opened, 3, 2)
    behind = np.concatenate([np.ones_like(r), np.ones_like(r), r], axis=2)  # r for n, else 1
    δ = g_gates * behind
    u = _carried(g + _next(δ @ weight), z)
    new = u * (1 - z) * (1 - n**2)
    step = 0  # the axis of the steps; [0] is the first of them
    """,
    gates="""
        reset = new * recalled * r * (1 - r)
        update = u * (_before(out, h0) - n) * z * (1 - z)
        concatenate((reset, update, new), 2)
    """,
    weight="sum(δ.mT @ _before(out, h0), step)",
    bias="sum(sum(δ, step), 1)",
    h0="(δ @ weight + z * u)[0]",
)


# The plain recurrence -----------------------------------------------------------------------------


@primitive(arrays=3, float_inputs=True, promote=("gates", "weight", "h0"))
def rnn(gates: Any, weight: Any, h0: Any, nonlinearity: Literal["tanh", "relu"] = "tanh") -> Any:
    r"""The plain recurrence :math:`h_t = \tanh(a_t + h_{t-1} W^\top)` over all steps.

    Args:
        gates: a, the input's part with biases, of shape (L, N, H).
        weight: W, of shape (H, H).
        h0: The hidden state before the first step, of shape (N, H).
        nonlinearity: "tanh" or "relu".

    Returns:
        Shape (L, N, H): the hidden states of all steps.

    Raises:
        ValueError: The shapes do not fit, or the nonlinearity is unknown.

    Source:
        Elman 1990, "Finding structure in time".

    Example:
        >>> import minigrad
        >>> one = minigrad.ones((1, 1))
        >>> minigrad.ops.rnn(minigrad.ones((3, 1, 1)), one, one, "relu").ravel().tolist()
        [2.0, 3.0, 4.0]
    """
    if nonlinearity not in ("tanh", "relu"):
        raise ArgumentError(f'nonlinearity must be "tanh" or "relu", got {nonlinearity!r}')
    activate = np.tanh if nonlinearity == "tanh" else partial(np.maximum, 0)
    out = gates.copy()
    h = h0
    for now in out:
        now += h @ weight.T
        activate(now, out=now)
        h = now
    return out


@rnn.defjoint("gates", "weight", "h0")
def _rnn_pull(
    g: np.ndarray, needed: tuple[bool, bool, bool], weight: np.ndarray, h0: np.ndarray,
    out: np.ndarray, nonlinearity: str,
) -> tuple[Any, Any, Any]:  # fmt: skip
    slopes = 1 - out * out if nonlinearity == "tanh" else np.empty_like(out)
    g_h = np.zeros_like(h0)
    for t in reversed(range(len(out))):
        if nonlinearity == "tanh":
            slopes[t] *= g_h + g[t]
        else:
            slopes[t] = zeroed(g_h + g[t], out[t] <= 0)
        g_h = slopes[t] @ weight
    return slopes, _by_weight(slopes, _before(out, h0)) if needed[1] else None, g_h


rnn.defformula(
    """
    step = 0  # the axis of the steps; [0] is the first of them
    """,
    gates="(g + _next(g_gates @ weight)) * (1 - out**2 if nonlinearity == 'tanh' else out > 0)",
    weight="sum(g_gates.mT @ _before(out, h0), step)",
    h0="(g_gates @ weight)[0]",
)


@rnn.defdecomposition
def _rnn_decomposition(
    gates: Any, weight: Any, h0: Any, nonlinearity: Literal["tanh", "relu"] = "tanh"
) -> Any:
    h, hidden = h0, []
    for t in range(gates.shape[0]):
        a = gates[t] + h @ weight.T
        h = np.tanh(a) if nonlinearity == "tanh" else relu(a)
        hidden.append(h)
    return stack(hidden)
