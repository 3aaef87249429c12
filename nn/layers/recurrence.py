"""Recurrent layers, RNN, LSTM and GRU, and their cells, which take one step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

import minigrad
from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, type_error, value_error
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.function_layer import unusual
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.utils.rnn import PackedSequence, packing_of
from minigrad.support.checks import check_choice, check_flag, check_probability, check_size
from minigrad.tensors.creation import empty, zeros
from minigrad.tensors.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


S = TypeVar("S", Tensor, PackedSequence)
H = TypeVar("H")
"""The states: one, or a pair."""
KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
Weights = tuple[Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]
"""Those of one layer in one direction, by kind."""


class _Recurrence(Module):
    """What layers and cells share. A step has `gates` times `hidden_size` pre-activations."""

    gates: ClassVar[int]
    states: ClassVar[tuple[str, ...]] = ("h",)
    hidden_size: int

    def _add_weights(self, end: str, read: int, back: int, bias: bool) -> None:
        """Make the weights and biases of one layer in one direction."""
        width = self.gates * self.hidden_size
        setattr(self, f"weight_ih{end}", Parameter(empty((width, read))))
        setattr(self, f"weight_hh{end}", Parameter(empty((width, back))))
        if bias:
            setattr(self, f"bias_ih{end}", Parameter(empty(width)))
            setattr(self, f"bias_hh{end}", Parameter(empty(width)))

    def _weights(self, end: str) -> Any:
        """The weights of one layer in one direction, None in the place of those it has not."""
        return tuple(getattr(self, f"{kind}{end}", None) for kind in KINDS)

    def _given(self, hx: Any) -> tuple[Any, ...]:
        """The given states as a tuple, empty for None."""
        if hx is None or len(self.states) == 1:
            return () if hx is None else (hx,)
        if not isinstance(hx, (tuple, list)) or len(hx) != 2:
            owner, came = type(self).__name__, type(hx).__name__
            raise value_error(f"{owner}: the state is a pair (h_0, c_0), got {came}")
        return tuple(hx)

    def _returned(self, states: list[Tensor]) -> Any:
        """The state, or the pair of states."""
        return states[0] if len(states) == 1 else tuple(states)

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
        weight_ih, weight_hh, bias_ih, bias_hh, _ = weights
        read = ops.linear(x, weight_ih, _sum(bias_ih, bias_hh))
        return [ops.rnn(read, weight_hh, first[0], self.nonlinearity)]


class _LongShort(_Recurrence):
    gates = 4
    states = ("h", "c")

    def _states(self, x: Tensor, first: Sequence[Tensor], weights: Weights) -> list[Tensor]:
        weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = weights
        read = ops.linear(x, weight_ih, _sum(bias_ih, bias_hh))
        if weight_hr is None:
            return list(ops.lstm(read, weight_hh, *first))
        h, c = first
        outputs, cells = [], []
        for step in range(len(x)):
            i, f, g, o = ops.split(read[step] + ops.linear(h, weight_hh, None), 4, -1)
            c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
            h = ops.linear(F.sigmoid(o) * F.tanh(c), weight_hr, None)
            outputs.append(h)
            cells.append(c)
        return [minigrad.stack(outputs), minigrad.stack(cells)]


class _Gated(_Recurrence):
    gates = 3

    def _states(self, x: Tensor, first: Sequence[Tensor], weights: Weights) -> list[Tensor]:
        weight_ih, weight_hh, bias_ih, bias_hh, _ = weights
        return [ops.gru(ops.linear(x, weight_ih, bias_ih), weight_hh, bias_hh, first[0])]


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    return None if one is None or other is None else one + other


def _turned(x: Tensor, reverse: bool) -> Tensor:
    return ops.flip(x, 0) if reverse else x


class RNNBase(_Recurrence, Generic[H]):
    """A stack of recurrences over a sequence, in one or both directions.

    Inside, time is the first axis.
    """

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
        if proj_size and (len(self.states) == 1 or proj_size >= hidden_size):
            raise ValueError(f"{owner}: proj_size is for LSTM, below hidden_size, got {proj_size}")
        self._out_size = proj_size or hidden_size
        self.bias = check_flag(owner, "bias", bias)
        self.batch_first = batch_first
        self.dropout = check_probability(owner, "dropout", dropout)
        if dropout and num_layers == 1:
            remedy = f"take more layers, or put nn.Dropout({dropout}) behind it"
            what = f"{owner}: dropout is between layers, and there is one layer; {remedy}"
            warnings.warn(what, stacklevel=3)
        self.bidirectional = bidirectional
        self._directions = ("", "_reverse") if bidirectional else ("",)
        for layer in range(num_layers):
            read = input_size if layer == 0 else self._out_size * len(self._directions)
            for direction in self._directions:
                end = f"_l{layer}{direction}"
                self._add_weights(end, read, self._out_size, bias)
                if proj_size:
                    setattr(self, f"weight_hr{end}", Parameter(empty((proj_size, hidden_size))))
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    @property
    def _all_weights(self) -> list[list[str]]:
        """The names of the parameters of each layer and direction."""
        ends = [f"_l{layer}{way}" for layer in range(self.num_layers) for way in self._directions]
        return [[kind + end for kind in KINDS if hasattr(self, kind + end)] for end in ends]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        """The names of the parameters."""
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        """The parameters."""
        return [getattr(self, name) for name in self._flat_weights_names]

    def flatten_parameters(self) -> None:
        """Do nothing: PyTorch lays the parameters out for a GPU here."""

    if TYPE_CHECKING:

        def __call__(self, input: S, hx: H | None = None) -> tuple[S, H]: ...

    def forward(self, input: Tensor | PackedSequence, hx: H | None = None) -> tuple[Any, H]:
        """Process a sequence.

        Args:
            input: Shape (L, N, I), with `batch_first` (N, L, I); or (L, I); or a
                `utils.rnn.PackedSequence`: then so are the outputs.
            hx: The hidden states before the first step, of shape (D · layers, N, H) with D
                directions, without N if the input has none; zeros by default. For `LSTM` a pair
                of the hidden and the cell states.

        Returns:
            The outputs of the last layer, of shape (L, N, D · H), with `batch_first`
            (N, L, D · H), and the states after the last step, as `hx`.
        """
        read: Any = self._read_packed if isinstance(input, PackedSequence) else self._read
        output, states = read(input, self._given(hx))
        return output, self._returned(states)

    def _read(self, input: Tensor, given: tuple[Any, ...]) -> tuple[Tensor, list[Tensor]]:
        """The outputs of the last layer, and the last states of all: (D · layers, N, H) each."""
        owner, single = type(self).__name__, input.ndim == 2
        axes = "(N, L, I)" if self.batch_first else "(L, N, I)"
        wrong = input.ndim not in (2, 3) or input.shape[-1] != self.input_size
        wanted = f"an input of shape {axes} or (L, I) with I = {self.input_size}"
        refuse_shapes(wrong, owner, wanted, input)
        x = input[:, None] if single else input.swapaxes(0, 1) if self.batch_first else input
        refuse_shapes(not x.shape[0], owner, "a sequence with steps", input)
        states = self._first(x.shape[1], x.dtype, given, single)

        x, finals = self._through_layers(x, states, _turned, _turned, -1)
        if single:
            return x[:, 0], [state[:, 0] for state in finals]
        return x.swapaxes(0, 1) if self.batch_first else x, finals

    def _read_packed(
        self, packed: PackedSequence, given: tuple[Any, ...]
    ) -> tuple[PackedSequence, list[Tensor]]:
        """As `_read`. Sequences are padded; what lies behind the end of one reaches no output."""
        data = packed.data
        wrong = data.ndim != 2 or data.shape[1] != self.input_size
        wanted = f"packed data of shape (elements, I) with I = {self.input_size}"
        refuse_shapes(wrong, type(self).__name__, wanted, data)
        packing = packing_of(packed)
        end_of = (packing.lengths - 1, np.arange(packing.shape[1]))
        states = self._first(packing.shape[1], data.dtype, given, False)

        ways = (packing.steps, packing.backwards)
        data, finals = self._through_layers(
            data, states, lambda x, reverse: packing.spread(x, ways[reverse]),
            lambda x, reverse: packing.gathered(x, ways[reverse]), end_of,
        )  # fmt: skip
        return packed._replace(data=data), finals

    def _through_layers(
        self, x: Tensor, states: list[Tensor], spread: Callable[[Tensor, bool], Tensor],
        gathered: Callable[[Tensor, bool], Tensor], end: Any,
    ) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
        """Read x in every layer and direction.

        `spread` makes steps (L, N, I) of x, in reverse or not, `gathered` undoes it, and `end` is
        the index of the last step of every sequence.
        """
        last: list[list[Tensor]] = []
        for layer in range(self.num_layers):
            if layer:
                x = F.dropout(x, self.dropout, self.training)
            outputs = []
            for direction in self._directions:
                first, reverse = [state[len(last)] for state in states], bool(direction)
                weights = self._weights(f"_l{layer}{direction}")
                found = self._states(spread(x, reverse), first, weights)
                outputs.append(gathered(found[0], reverse))
                last.append([state[end] for state in found])
            x = minigrad.concatenate(outputs, dim=-1) if self.bidirectional else outputs[0]
        return x, [minigrad.stack(list(state)) for state in zip(*last, strict=True)]

    def _first(self, batch: int, dtype: Any, given: tuple[Any, ...], single: bool) -> list[Tensor]:
        """The states before the first step, of shape (D · layers, N, H); zeros if not given."""
        count = self.num_layers * len(self._directions)
        shapes = [(count, batch, self._out_size), (count, batch, self.hidden_size)]
        if not given:
            return [zeros(shape, dtype=dtype) for shape in shapes[: len(self.states)]]
        owner = type(self).__name__
        for name, state, shape in zip(self.states, given, shapes, strict=False):
            expected = (shape[0], shape[2]) if single else shape
            if not hasattr(state, "shape"):
                raise type_error(f"{owner}: {name}_0 must be a Tensor, got {type(state).__name__}")
            wanted = f"{name}_0 of shape {expected} (layers · directions first, always)"
            refuse_shapes(state.shape != expected, owner, wanted, state)
        return [state[:, None] if single else state for state in given]

    def extra_repr(self) -> str:
        options = unusual(self, proj_size=0, num_layers=1, bias=True, batch_first=False)
        options += unusual(self, dropout=0.0, bidirectional=False)
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *options])


class RNN(_Elman, RNNBase[Tensor]):
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
        options = num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        super().__init__(input_size, hidden_size, *options)
        self.nonlinearity = check_choice("RNN", "nonlinearity", nonlinearity, ("tanh", "relu"))


class LSTM(_LongShort, RNNBase[tuple[Tensor, Tensor]]):
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


class GRU(_Gated, RNNBase[Tensor]):
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


class RNNCellBase(_Recurrence, Generic[H]):
    """One step of a recurrence."""

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None = None
    bias_hh: Parameter | None = None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.input_size = check_size(owner, "input_size", input_size)
        self.hidden_size = check_size(owner, "hidden_size", hidden_size)
        self.bias = check_flag(owner, "bias", bias)
        self._add_weights("", input_size, hidden_size, bias)
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    def forward(self, input: Tensor, hx: H | None = None) -> H:
        """Compute the state after a step, from an input (N, I) or (I,) and the state before.

        The state of `LSTMCell` is a pair of the hidden and the cell state.
        """
        return self._returned(self._step(input, self._given(hx)))

    def _step(self, input: Tensor, given: tuple[Any, ...]) -> list[Tensor]:
        """Return the states after the step, each of shape (N, H), or (H,) without a batch."""
        owner = type(self).__name__
        wrong = input.ndim not in (1, 2) or input.shape[-1] != self.input_size
        wanted = f"one step (N, I) or (I,) with I = {self.input_size} (see nn.{owner[:-4]})"
        refuse_shapes(wrong, owner, wanted, input)
        expected = (*input.shape[:-1], self.hidden_size)
        for name, state in zip(self.states, given, strict=bool(given)):
            refuse_shapes(state.shape != expected, owner, f"{name} of shape {expected}", state)
        states = given or tuple(zeros(expected, dtype=input.dtype) for _ in self.states)
        if input.ndim == 1:
            return [state[0] for state in self._step(input[None], tuple(s[None] for s in states))]
        return [state[0] for state in self._states(input[None], states, self._weights(""))]

    def extra_repr(self) -> str:
        sizes = f"{self.input_size}, {self.hidden_size}"
        return ", ".join([sizes, *unusual(self, bias=True, nonlinearity="tanh")])


class RNNCell(_Elman, RNNCellBase[Tensor]):
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
        self.nonlinearity = check_choice("RNNCell", "nonlinearity", nonlinearity, ("tanh", "relu"))


class LSTMCell(_LongShort, RNNCellBase[tuple[Tensor, Tensor]]):
    """One step of `LSTM`.

    Arguments and attributes are those of `RNNCell`, without nonlinearity, and with 4 · H rows in
    each weight.

    Example:
        >>> from minigrad import nn, ones
        >>> h, c = nn.LSTMCell(4, 3)(ones((2, 4)))
        >>> h.shape, c.shape
        (minigrad.Size([2, 3]), minigrad.Size([2, 3]))
    """


class GRUCell(_Gated, RNNCellBase[Tensor]):
    """One step of `GRU`.

    Arguments and attributes are those of `RNNCell`, without nonlinearity, and with 3 · H rows in
    each weight.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.GRUCell(4, 3)(ones((2, 4))).shape
        minigrad.Size([2, 3])
    """
