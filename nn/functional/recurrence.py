"""One layer of a recurrence in one direction: x (L, N, I), states (N, H).

The products of the input with its weight are computed for all steps at once.
"""

from __future__ import annotations

from typing import Literal

from minigrad import ops
from minigrad.tensors.tensor import Tensor


def rnn_steps(
    x: Tensor, h: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor | None,
    bias_hh: Tensor | None, nonlinearity: Literal["tanh", "relu"],
) -> Tensor:  # fmt: skip
    """The hidden states of all steps: (L, N, H)."""
    return ops.rnn(ops.linear(x, weight_ih, _sum(bias_ih, bias_hh)), weight_hh, h, nonlinearity)


def lstm_steps(
    x: Tensor, h: Tensor, c: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor | None,
    bias_hh: Tensor | None,
) -> Tensor:  # fmt: skip
    """The hidden states and the cell states of all steps: (2, L, N, H)."""
    return ops.lstm(ops.linear(x, weight_ih, _sum(bias_ih, bias_hh)), weight_hh, h, c)


def gru_steps(
    x: Tensor, h: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor | None,
    bias_hh: Tensor | None,
) -> Tensor:  # fmt: skip
    """The hidden states of all steps: (L, N, H)."""
    return ops.gru(ops.linear(x, weight_ih, bias_ih), weight_hh, bias_hh, h)


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    return None if one is None or other is None else one + other
