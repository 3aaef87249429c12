"""Recurrent layers, RNN, LSTM and GRU, and their cells, which take one step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

import minigrad
from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, type_error, value_error
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.utils.rnn import PackedSequence, packing_of
from minigrad.support.checks import check_choice, check_flag, check_probability, check_size
from minigrad.tensors.creation import empty, zeros
from minigrad.tensors.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


S = TypeVar("S", Tensor, PackedSequence)
Weights = tuple[Tensor, Tensor, Tensor | None, Tensor | None]
"""weight_ih, weight_hh, bias_ih and bias_hh of one layer in one direction."""
Last = int | tuple[np.ndarray, np.ndarray]
"""The index of the last step of every sequence: -1, or steps and sequences."""


class _Recurrence(Module):
    """What layers and cells share. A step has `gates` times `hidden_size` pre-activations."""

    gates: ClassVar[int]
    hidden_size: int

    def _states(self, x: Tensor, first: Sequence[Tensor], weights: Weights) -> list[Tensor]:
        """The states of all steps, each (L, N, H), from x (L, N, I) and the first ones (N, H)."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Initialize all weights and biases again."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform(parameter, -bound, bound)


class _Elman(_Recurrence):
    gates = 1
    nonlinearity: Literal["tanh", "relu"]

    def _states(self, x: Tensor, first: Sequence[Tensor], weights: Weights) -> list[Tensor]:
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        read = ops.linear(x, weight_ih, _sum(bias_ih, bias_hh))
        return [ops.rnn(read, weight_hh, first[0], self.nonlinearity)]


class _LongShort(_Recurrence):
    gates = 4

    def _states(self, x: Tensor, first: Sequence[Tensor], weights: Weights) -> list[Tensor]:
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        read = ops.linear(x, weight_ih, _sum(bias_ih, bias_hh))
        return list(ops.lstm(read, weight_hh, *first))


class _Gated(_Recurrence):
    gates = 3

    def _states(self, x: Tensor, first: Sequence[Tensor], weights: Weights) -> list[Tensor]:
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        return [ops.gru(ops.linear(x, weight_ih, bias_ih), weight_hh, bias_hh, first[0])]


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    return None if one is None or other is None else one + other


class RNNBase(_Recurrence):
    """A stack of recurrences over a sequence, in one or both directions.

    Inside, time is the first axis.
    """

    states: ClassVar[tuple[str, ...]] = ("h_0",)

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.input_size = check_size(owner, "input_size", input_size)
        self.hidden_size = check_size(owner, "hidden_size", hidden_size)
        self.num_layers = check_size(owner, "num_layers", num_layers)
        self.proj_size = check_size(owner, "proj_size", proj_size, 0)
        if proj_size and ("c_0" not in self.states or proj_size >= hidden_size):
            raise ValueError(
                f"{owner}: proj_size is a size of LSTM below its hidden_size ({hidden_size}), "
                f"got {proj_size}"
            )
        self._out_size = proj_size or hidden_size
        self.bias = check_flag(owner, "bias", bias)
        self.batch_first = batch_first
        self.dropout = check_probability(owner, "dropout", dropout)
        if dropout and num_layers == 1:
            warnings.warn(
                f"{owner}: dropout is between layers, and there is one layer, so nothing is "
                f"dropped; take more layers, or put nn.Dropout({dropout}) behind it",
                stacklevel=3,
            )
        self.bidirectional = bidirectional
        self._directions = ("", "_reverse") if bidirectional else ("",)
        width = self.gates * hidden_size
        for layer in range(num_layers):
            read = input_size if layer == 0 else self._out_size * len(self._directions)
            for direction in self._directions:
                end = f"l{layer}{direction}"
                setattr(self, f"weight_ih_{end}", Parameter(empty((width, read))))
                setattr(self, f"weight_hh_{end}", Parameter(empty((width, self._out_size))))
                if bias:
                    setattr(self, f"bias_ih_{end}", Parameter(empty(width)))
                    setattr(self, f"bias_hh_{end}", Parameter(empty(width)))
                if proj_size:
                    setattr(self, f"weight_hr_{end}", Parameter(empty((proj_size, hidden_size))))
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        own = dict(self._own_parameters())
        ends = [f"l{layer}{way}" for layer in range(self.num_layers) for way in self._directions]
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [[own[f"{k}_{end}"] for k in kinds if f"{k}_{end}" in own] for end in ends]

    def flatten_parameters(self) -> None:
        """Do nothing: PyTorch lays the parameters out for a GPU here."""

    def _steps(
        self, x: Tensor, first: list[Tensor], end: str, last: Last
    ) -> tuple[Tensor, list[Tensor]]:
        """One layer in one direction: (L, N, I) -> (L, N, H), and the last states, (N, H) each."""
        found = self._states(x, first, self._weights(end))
        return found[0], [state[last] for state in found]

    def _weights(self, end: str) -> Any:
        """The parameters of a layer and direction."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(getattr(self, f"{name}_{end}", None) for name in names)

    def _read(
        self, input: Tensor | PackedSequence, given: tuple[Any, ...]
    ) -> tuple[Any, list[Tensor]]:
        """The outputs of the last layer, and the last states of all: (D · layers, N, H) each."""
        if isinstance(input, PackedSequence):
            return self._read_packed(input, given)
        owner, single = type(self).__name__, input.ndim == 2
        axes = "(N, L, I)" if self.batch_first else "(L, N, I)"
        refuse_shapes(
            input.ndim not in (2, 3) or input.shape[-1] != self.input_size, owner,
            f"an input of shape {axes} or (L, I) with I = {self.input_size}", input,
        )  # fmt: skip
        x = input[:, None] if single else input.swapaxes(0, 1) if self.batch_first else input
        if not x.shape[0]:
            raise value_error(f"{owner}: a sequence without steps, of {tuple(input.shape)}")
        states = self._first(x.shape[1], x.dtype, given, single)

        def along(x: Tensor, first: list[Tensor], end: str, reverse: bool) -> Any:
            out, ends = self._steps(ops.flip(x, 0) if reverse else x, first, end, -1)
            return ops.flip(out, 0) if reverse else out, ends

        x, finals = self._through_layers(x, states, along)
        if single:
            return x[:, 0], [state[:, 0] for state in finals]
        return x.swapaxes(0, 1) if self.batch_first else x, finals

    def _read_packed(
        self, packed: PackedSequence, given: tuple[Any, ...]
    ) -> tuple[PackedSequence, list[Tensor]]:
        """As `_read`. Sequences are padded; what lies behind the end of one reaches no output."""
        data = packed.data
        refuse_shapes(
            data.ndim != 2 or data.shape[1] != self.input_size, type(self).__name__,
            f"packed data of shape (elements, I) with I = {self.input_size}", data,
        )  # fmt: skip
        packing = packing_of(packed)
        end_of = (packing.lengths - 1, np.arange(packing.shape[1]))
        states = self._first(packing.shape[1], data.dtype, given, False)

        def along(x: Tensor, first: list[Tensor], end: str, reverse: bool) -> Any:
            steps = packing.backwards if reverse else packing.steps
            out, ends = self._steps(packing.spread(x, steps), first, end, end_of)
            return packing.gathered(out, steps), ends

        data, finals = self._through_layers(data, states, along)
        return packed._replace(data=data), finals

    def _through_layers(
        self, x: Tensor, states: list[Tensor], along: Callable[..., Any]
    ) -> tuple[Tensor, list[Tensor]]:
        """Read x in every layer and direction; `along` does it in one."""
        last: list[list[Tensor]] = []
        for layer in range(self.num_layers):
            if layer:
                x = F.dropout(x, self.dropout, self.training)
            outputs = []
            for direction in self._directions:
                first = [state[len(last)] for state in states]
                out, ends = along(x, first, f"l{layer}{direction}", bool(direction))
                outputs.append(out)
                last.append(ends)
            x = minigrad.concatenate(outputs, dim=-1) if self.bidirectional else outputs[0]
        return x, [minigrad.stack(list(state)) for state in zip(*last, strict=True)]

    def _first(self, batch: int, dtype: Any, given: tuple[Any, ...], single: bool) -> list[Tensor]:
        """The states before the first step, of shape (D · layers, N, H); zeros if not given."""
        count = self.num_layers * len(self._directions)
        shapes = [(count, batch, self._out_size), (count, batch, self.hidden_size)]
        if not given:
            return [zeros(shape, dtype=dtype) for shape in shapes[: len(self.states)]]
        for name, state, shape in zip(self.states, given, shapes, strict=False):
            expected = (shape[0], shape[2]) if single else shape
            if not hasattr(state, "shape"):
                came = type(state).__name__
                raise type_error(f"{type(self).__name__}: {name} must be a Tensor, got {came}")
            refuse_shapes(
                state.shape != expected, type(self).__name__,
                f"{name} of shape {expected} (layers times directions first, also where the input "
                f"is batch first)", state,
            )  # fmt: skip
        return [state[:, None] if single else state for state in given]

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False),
            ("dropout", 0.0), ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)


class _HiddenState(RNNBase):
    """A recurrence whose only state is the hidden state."""

    if TYPE_CHECKING:

        def __call__(self, input: S, hx: Tensor | None = None) -> tuple[S, Tensor]: ...

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Any, Tensor]:
        """Process a sequence.

        Args:
            input: Shape (L, N, I), with `batch_first` (N, L, I); or (L, I); or a
                `utils.rnn.PackedSequence`: then so are the outputs.
            hx: The hidden states before the first step, of shape (D · layers, N, H) with D
                directions, without N if the input has none; zeros by default.

        Returns:
            The outputs of the last layer, of shape (L, N, D · H), with `batch_first`
            (N, L, D · H), and the hidden states after the last step, of the shape of `hx`.
        """
        output, (h_n,) = self._read(input, () if hx is None else (hx,))
        return output, h_n


class RNN(_Elman, _HiddenState):
    r"""A multi-layer Elman RNN: :math:`h_t = \tanh(W x_t + b + U h_{t-1} + b')`.

    Weights and biases are initialized uniformly from ±1/√hidden_size and named as in PyTorch:
    `weight_ih_l0` (W), `weight_hh_l0` (U), `bias_ih_l0`, `bias_hh_l0`, then `..._l1`; the reverse
    direction is `..._l0_reverse`.

    Source: Elman, "Finding structure in time", 1990.

    Args:
        input_size: I, the size of the last axis of the input.
        hidden_size: H, the size of the last axis of the output.
        num_layers: The number of layers; each reads the outputs of the one below.
        nonlinearity: "tanh" or "relu".
        bias: Whether to add biases.
        batch_first: Whether input and output are (N, L, ...); by default (L, N, ...), time first.
        dropout: The dropout probability between layers.
        bidirectional: Whether each layer also reads from the end; outputs are concatenated.

    Example:
        >>> from minigrad import nn, ones
        >>> rnn = nn.RNN(4, 3, num_layers=2, batch_first=True)
        >>> output, h_n = rnn(ones((2, 5, 4)))
        >>> output.shape, h_n.shape
        (minigrad.Size([2, 5, 3]), minigrad.Size([2, 2, 3]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1,
        nonlinearity: Literal["tanh", "relu"] = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
            device, dtype,
        )  # fmt: skip
        check_choice("RNN", "nonlinearity", nonlinearity, ("tanh", "relu"))
        self.nonlinearity = nonlinearity


class LSTM(_LongShort, RNNBase):
    r"""A multi-layer LSTM (long short-term memory).

    The arguments are those of `RNN`, without nonlinearity; `proj_size` comes before `device`: the
    size to which the weights `weight_hr_l0` and so on project each hidden state, if it is not 0.

    .. math::
        i, f, o &= \sigma(W x_t + b + U h_{t-1} + b'), \quad g = \tanh(\dots) \\
        c_t &= f c_{t-1} + i g \qquad h_t = o \tanh c_t

    Each weight holds those of the four gates in the order i, f, g, o. Initialization and names are
    those of `RNN`.

    Source: Hochreiter and Schmidhuber, "Long short-term memory", 1997; the forget gate f: Gers,
    Schmidhuber and Cummins, "Learning to forget", 2000.

    Example:
        >>> from minigrad import nn, ones
        >>> lstm = nn.LSTM(4, 3, num_layers=2, batch_first=True)
        >>> output, (h_n, c_n) = lstm(ones((2, 5, 4)))
        >>> output.shape, h_n.shape, c_n.shape
        (minigrad.Size([2, 5, 3]), minigrad.Size([2, 2, 3]), minigrad.Size([2, 2, 3]))
    """

    states = ("h_0", "c_0")

    if TYPE_CHECKING:

        def __call__(
            self, input: S, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[S, tuple[Tensor, Tensor]]: ...

    def forward(
        self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Process a sequence as `RNN`, with a pair of states: the hidden and the cell states."""
        output, (h_n, c_n) = self._read(input, pair("LSTM", hx))
        return output, (h_n, c_n)

    def _steps(
        self, x: Tensor, first: list[Tensor], end: str, last: Last
    ) -> tuple[Tensor, list[Tensor]]:
        if not self.proj_size:
            return super()._steps(x, first, end, last)
        h, c = first
        out, cells = self._projected(x, h, c, end)
        return out, [out[last], cells[last]]

    def _projected(self, x: Tensor, h: Tensor, c: Tensor, end: str) -> tuple[Tensor, Tensor]:
        """The states of all steps, where each hidden state is projected."""
        weight_ih, weight_hh, bias_ih, bias_hh = self._weights(end)
        read = F.linear(x, weight_ih, bias_ih)
        outputs, cells = [], []
        for step in range(x.shape[0]):
            gates = read[step] + F.linear(h, weight_hh, bias_hh)
            i, f, g, o = ops.split(gates, 4, -1)
            c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
            h = F.linear(F.sigmoid(o) * F.tanh(c), getattr(self, f"weight_hr_{end}"))
            outputs.append(h)
            cells.append(c)
        return minigrad.stack(outputs), minigrad.stack(cells)


class GRU(_Gated, _HiddenState):
    r"""A multi-layer GRU (gated recurrent unit).

    The arguments are those of `RNN`, without nonlinearity.

    .. math::
        r, z &= \sigma(W x_t + b + U h_{t-1} + b') \\
        n &= \tanh(W x_t + b + r (U h_{t-1} + b')) \qquad h_t = (1 - z) n + z h_{t-1}

    Each weight holds those of the three gates in the order r, z, n. Initialization and names are
    those of `RNN`.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014.

    Example:
        >>> from minigrad import nn, ones
        >>> gru = nn.GRU(4, 3, bidirectional=True, batch_first=True)
        >>> output, h_n = gru(ones((2, 5, 4)))
        >>> output.shape, h_n.shape
        (minigrad.Size([2, 5, 6]), minigrad.Size([2, 2, 3]))
    """


def pair(owner: str, states: Any) -> tuple[Any, ...]:
    """Return the given hidden and cell state as a tuple, empty for None."""
    if states is None:
        return ()
    if not isinstance(states, (tuple, list)) or len(states) != 2:
        raise value_error(f"{owner}: the state is a pair (h_0, c_0), got {type(states).__name__}")
    return tuple(states)


class RNNCellBase(_Recurrence):
    """One step of a recurrence."""

    states: ClassVar[tuple[str, ...]] = ("h",)
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
            refuse_shapes(state.shape != expected, owner, f"{name} of shape {expected}", state)
        states = given or tuple(zeros(expected, dtype=input.dtype) for _ in self.states)
        if input.ndim == 1:
            return [state[0] for state in self._step(input[None], tuple(s[None] for s in states))]
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return [state[0] for state in self._states(input[None], states, weights)]

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}", *["bias=False"] * (self.bias is False)]
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            parts.append("nonlinearity=relu")
        return ", ".join(parts)


class _HiddenStateCell(RNNCellBase):
    """A cell whose only state is the hidden state."""

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Compute the state after a step, from an input (N, I) or (I,) and the state before."""
        return self._step(input, () if hx is None else (hx,))[0]


class RNNCell(_Elman, _HiddenStateCell):
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

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True,
        nonlinearity: Literal["tanh", "relu"] = "tanh", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        check_choice("RNNCell", "nonlinearity", nonlinearity, ("tanh", "relu"))
        self.nonlinearity = nonlinearity


class LSTMCell(_LongShort, RNNCellBase):
    """One step of `LSTM`.

    Arguments and attributes are those of `RNNCell`, without nonlinearity, and with 4 · H rows in
    each weight.

    Example:
        >>> from minigrad import nn, ones
        >>> h, c = nn.LSTMCell(4, 3)(ones((2, 4)))
        >>> h.shape, c.shape
        (minigrad.Size([2, 3]), minigrad.Size([2, 3]))
    """

    states = ("h", "c")

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute the hidden and the cell state after a step, from the input and both before."""
        h, c = self._step(input, pair("LSTMCell", hx))
        return h, c


class GRUCell(_Gated, _HiddenStateCell):
    """One step of `GRU`.

    Arguments and attributes are those of `RNNCell`, without nonlinearity, and with 3 · H rows in
    each weight.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.GRUCell(4, 3)(ones((2, 4))).shape
        minigrad.Size([2, 3])
    """
