"""RNNCell, LSTMCell and GRUCell: one step of a recurrence."""

from __future__ import annotations

import math
from typing import Any, Literal

from minigrad.autograd.errors import value_error
from minigrad.nn import init
from minigrad.nn.functional.recurrence import gru_steps, lstm_steps, rnn_steps
from minigrad.nn.layers.recurrence import check_nonlinearity, pair
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_flag, check_size
from minigrad.tensors.creation import empty, zeros
from minigrad.tensors.tensor import Tensor

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class RNNCellBase(Module):
    """One step of a recurrence."""

    gates: int
    states: tuple[str, ...] = ("h",)
    nonlinearity: Literal["tanh", "relu"] = "tanh"
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.input_size = check_size(owner, "input_size", input_size)
        self.hidden_size = check_size(owner, "hidden_size", hidden_size)
        self.bias = check_flag(owner, "bias", bias)
        width = self.gates * hidden_size
        self.weight_ih = Parameter(empty((width, input_size)))
        self.weight_hh = Parameter(empty((width, hidden_size)))
        self.bias_ih = Parameter(empty(width)) if bias else None
        self.bias_hh = Parameter(empty(width)) if bias else None
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    def reset_parameters(self) -> None:
        """Initialize all weights and biases again."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform(parameter, -bound, bound)

    def _step(self, input: Tensor, given: tuple[Any, ...]) -> list[Tensor]:
        """Return the states after the step, each of shape (N, H), or (H,) without a batch."""
        owner = type(self).__name__
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise value_error(
                f"{owner}: an input of shape (N, I) or (I,) with I = {self.input_size} "
                f"expected, got {tuple(input.shape)}; nn.{owner.removesuffix('Cell')} reads "
                "sequences"
            )
        expected = (*input.shape[:-1], self.hidden_size)
        for name, state in zip(self.states, given, strict=bool(given)):
            if state.shape != expected:
                raise value_error(
                    f"{owner}: {name} must have shape {expected} for an input of shape "
                    f"{tuple(input.shape)}, got {tuple(state.shape)}"
                )
        states = given or tuple(zeros(expected, dtype=input.dtype) for _ in self.states)
        if input.ndim == 2:
            return self._stepped(input[None], *states)
        return [part[0] for part in self._stepped(input[None, None], *(s[None] for s in states))]

    def _stepped(self, x: Tensor, *states: Tensor) -> list[Tensor]:
        """The states after a step, from x of shape (1, N, I) and states of shape (N, H)."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}", *["bias=False"] * (self.bias is False)]
        if self.nonlinearity != "tanh":
            parts.append(f"nonlinearity={self.nonlinearity}")
        return ", ".join(parts)


class _HiddenStateCell(RNNCellBase):
    """A cell whose only state is the hidden state."""

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Compute the state after a step, from an input (N, I) or (I,) and the state before."""
        return self._step(input, () if hx is None else (hx,))[0]


class RNNCell(_HiddenStateCell):
    """One step of `RNN`, whose arguments it takes.

    Attributes:
        weight_ih: The weight of the input, of shape (H, I).
        weight_hh: The weight of the state, of shape (H, H).
        bias_ih: Shape (H,), or None.
        bias_hh: Shape (H,), or None.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.RNNCell(4, 3)(ones((2, 4))).shape
        minigrad.Size([2, 3])
    """

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True,
        nonlinearity: Literal["tanh", "relu"] = "tanh", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = check_nonlinearity("RNNCell", nonlinearity)

    def _stepped(self, x: Tensor, *states: Tensor) -> list[Tensor]:
        (h,) = states
        out = rnn_steps(
            x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, self.nonlinearity
        )
        return [out[0]]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`.

    Arguments and attributes are those of `RNNCell`, without nonlinearity, and with 4 · H rows in
    each weight.

    Example:
        >>> from minigrad import nn, ones
        >>> h, c = nn.LSTMCell(4, 3)(ones((2, 4)))
        >>> h.shape, c.shape
        (minigrad.Size([2, 3]), minigrad.Size([2, 3]))
    """

    gates = 4
    states = ("h", "c")

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute the hidden and the cell state after a step, from the input and both before."""
        h, c = self._step(input, pair("LSTMCell", hx))
        return h, c

    def _stepped(self, x: Tensor, *states: Tensor) -> list[Tensor]:
        h, c = states
        out = lstm_steps(x, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return [out[0, 0], out[1, 0]]


class GRUCell(_HiddenStateCell):
    """One step of `GRU`.

    Arguments and attributes are those of `RNNCell`, without nonlinearity, and with 3 · H rows in
    each weight.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.GRUCell(4, 3)(ones((2, 4))).shape
        minigrad.Size([2, 3])
    """

    gates = 3

    def _stepped(self, x: Tensor, *states: Tensor) -> list[Tensor]:
        (h,) = states
        out = gru_steps(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return [out[0]]
