"""What the formulas of windows, channels and recurrences say in a word.

As in words.py, each is a function of arrays that does what it says, plainly and slowly; how it is
set stands in vocabulary.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "before", "by_channel", "cell_slopes", "channel_count", "channel_mean", "channel_sum",
    "first_step", "forget_gate", "gru_slopes", "gru_slopes_inside", "hidden_slopes", "lstm_slopes",
    "rnn_slopes", "summed_over_steps", "update_gate",
]  # fmt: skip


# Channels: shapes (N, C, ...) ---------------------------------------------------------------------


def by_channel(v: Any, x: Any) -> Any:
    """One number for each channel, beside an input."""
    return np.reshape(v, (-1, *(1,) * (x.ndim - 2)))


def channel_sum(x: Any) -> Any:
    """The sum of each channel."""
    return x.sum(axis=(0, *range(2, x.ndim)))


def channel_mean(x: Any) -> Any:
    """The mean of each channel, beside the input; of nothing, 0."""
    return by_channel(channel_sum(x) / channel_count(x), x)


def channel_count(x: Any) -> int:
    """How many numbers a channel has."""
    return max(1, x.size // max(1, x.shape[1]))


# Recurrences: shapes (L, N, ...), a step at a time from the last ----------------------------------


def before(out: Any, first: Any) -> Any:
    """The state before each step."""
    return np.stack([first, *out][:-1])


def first_step(x: Any) -> Any:
    """What belongs to the first step."""
    return x[0]


def summed_over_steps(slopes: Any, states: Any) -> Any:
    """The sum of the products of all steps."""
    return np.einsum("tni,tnj->ij", slopes, states)


def _lstm(g: Any, weight: Any, c0: Any, out: Any, opened: Any) -> tuple[Any, Any]:
    slopes, cells = np.zeros_like(opened), np.zeros_like(out[1])
    below, kept = np.zeros_like(c0), np.zeros_like(c0)
    for t in reversed(range(len(opened))):
        i, f, new, o = np.split(opened[t], 4, axis=1)
        bent = np.tanh(out[1, t])
        hidden = g[0, t] + below
        cells[t] = g[1, t] + kept + hidden * o * (1 - bent**2)
        parts = [
            cells[t] * new * i * (1 - i),
            cells[t] * before(out[1], c0)[t] * f * (1 - f),
            cells[t] * i * (1 - new**2),
            hidden * bent * o * (1 - o),
        ]
        slopes[t] = np.concatenate(parts, axis=1)
        below, kept = slopes[t] @ weight, cells[t] * f
    return slopes, cells


def lstm_slopes(g: Any, weight: Any, c0: Any, out: Any, opened: Any) -> Any:
    """What reaches the four gates of each step."""
    return _lstm(g, weight, c0, out, opened)[0]


def cell_slopes(g: Any, weight: Any, c0: Any, out: Any, opened: Any) -> Any:
    """What reaches the cell state of each step."""
    return _lstm(g, weight, c0, out, opened)[1]


def forget_gate(opened: Any) -> Any:
    """How much of the cell state each step of an LSTM keeps."""
    return np.split(opened, 4, axis=2)[1]


def _gru(
    g: Any, weight: Any, h0: Any, out: Any, opened: Any, recalled: Any
) -> tuple[Any, Any, Any]:
    slopes, inside, hidden = np.zeros_like(opened), np.zeros_like(opened), np.zeros_like(out)
    below = np.zeros_like(h0)
    for t in reversed(range(len(out))):
        r, z, n = np.split(opened[t], 3, axis=1)
        hidden[t] = g[t] + below
        fresh = hidden[t] * (1 - z) * (1 - n**2)
        reset = fresh * recalled[t] * r * (1 - r)
        update = hidden[t] * (before(out, h0)[t] - n) * z * (1 - z)
        slopes[t] = np.concatenate([reset, update, fresh], axis=1)
        inside[t] = np.concatenate([reset, update, fresh * r], axis=1)
        below = hidden[t] * z + inside[t] @ weight
    return slopes, inside, hidden


def gru_slopes(g: Any, weight: Any, h0: Any, out: Any, opened: Any, recalled: Any) -> Any:
    """What reaches the three gates of each step."""
    return _gru(g, weight, h0, out, opened, recalled)[0]


def gru_slopes_inside(g: Any, weight: Any, h0: Any, out: Any, opened: Any, recalled: Any) -> Any:
    """The same behind the reset gate: what reaches the product with the weight."""
    return _gru(g, weight, h0, out, opened, recalled)[1]


def hidden_slopes(g: Any, weight: Any, h0: Any, out: Any, opened: Any, recalled: Any) -> Any:
    """What reaches the hidden state of each step."""
    return _gru(g, weight, h0, out, opened, recalled)[2]


def update_gate(opened: Any) -> Any:
    """How much of the hidden state each step of a GRU keeps."""
    return np.split(opened, 3, axis=2)[1]


def rnn_slopes(g: Any, weight: Any, out: Any, nonlinearity: str) -> Any:
    """What reaches the sum within each step."""
    slopes, below = np.zeros_like(out), np.zeros_like(g[:1].sum(0))
    for t in reversed(range(len(out))):
        slope = 1 - out[t] ** 2 if nonlinearity == "tanh" else np.sign(out[t])
        slopes[t] = (g[t] + below) * slope
        below = slopes[t] @ weight
    return slopes
