"""Updates in cache-sized blocks: small parameters are joined, large ones are split.

The overhead of a NumPy call equals the time for about a thousand numbers, and many parameters of a
transformer are smaller. A large parameter does not fit into the cache, so each call would load it
again. An elementwise update rule does not depend on where a parameter ends. It gets blocks: several
parameters, or a part of one.

Values and gradients are joined during a step. The state of parameters that are joined stays so: its
arrays are consecutive parts of one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.views import owner
from minigrad.ops._parallel import ALONE, block_of, in_passes

BLOCK = ALONE
"""The maximum number of elements in joined parameters: in float32, four arrays of it are 1 MB."""
SMALL = 16_384
"""Parameters with fewer elements are joined: for larger ones, copying costs more than a call."""

State = dict[str, Any]
Rule = Callable[[np.ndarray, np.ndarray, State], None]


class Part(NamedTuple):
    """One parameter: its values, its gradient and its optimizer state.

    Attributes:
        kind: What parameters in a block have in common: the dtype, and the numbers in their state.
    """

    data: np.ndarray
    grad: np.ndarray
    state: State
    kind: Any


class _Joined:
    """Arrays for several parameters: scratch memory, and their state.

    Args:
        memory: Two arrays, which blocks share.
        shapes: Those of the parameters.
    """

    def __init__(self, memory: np.ndarray, shapes: list[tuple[int, ...]]) -> None:
        self.shapes = shapes
        self.values, self.grads = memory[:, : sum(map(math.prod, shapes))]
        self.new_values = self.apart(self.values)
        self.state: dict[str, tuple[np.ndarray, list[np.ndarray]]] = {}

    def apart(self, flat: np.ndarray) -> list[np.ndarray]:
        """Split a flat array into consecutive views, one for each parameter."""
        ends = np.cumsum([*map(math.prod, self.shapes)])
        pieces = zip(np.split(flat, ends[:-1]), self.shapes, strict=True)
        return [piece.reshape(shape) for piece, shape in pieces]

    def keep(self, name: str, flat: np.ndarray, states: Sequence[State]) -> np.ndarray:
        """Make the parts of a flat array an entry of the state of each parameter."""
        pieces = self.apart(flat)
        for own, piece in zip(states, pieces, strict=True):
            own[name] = piece
        self.state[name] = flat, pieces
        return flat

    def of(self, name: str, states: Sequence[State]) -> np.ndarray:
        """An entry of the state of all parameters, joined; it is copied only if it was not yet."""
        arrays = [own[name] for own in states]
        flat, pieces = self.state.get(name, (None, ()))
        if flat is not None and all(map(is_, arrays, pieces)):
            return flat
        return self.keep(name, np.concatenate(arrays, axis=None), states)


class Blocks:
    """The joined small parameters, from one step to the next."""

    def __init__(self) -> None:
        self._memory: dict[np.dtype[Any], np.ndarray] = {}
        self._joined: dict[int, _Joined] = {}

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Blocks, ()  # must not share memory

    def update(self, parts: list[Part], rule: Rule) -> None:
        """Apply an elementwise rule to several parameters.

        It updates values and state arrays in place, and changes the numbers in the state in the
        same way in every block.
        """
        alike: dict[Any, list[Part]] = {}
        owners = set()
        for part in parts:
            memory = id(part.data if part.data.base is None else owner(part.data))
            if part.data.size < SMALL and memory not in owners:
                alike.setdefault(part.kind, []).append(part)
                owners.add(memory)
            else:  # large, or it may share memory with another
                _update_in_pieces(part, rule)
        for several in alike.values():
            for batch in _batches(several):
                if len(batch) == 1:
                    rule(*batch[0][:3])
                else:
                    self._update_joined(batch, rule)

    def _update_joined(self, parts: list[Part], rule: Rule) -> None:
        datas, grads, states, _ = zip(*parts, strict=True)
        shapes = [data.shape for data in datas]
        joined = self._joined.get(id(states[0]))
        if joined is None or joined.shapes != shapes or joined.values.dtype != datas[0].dtype:
            dtype = datas[0].dtype
            if len(self._joined) >= 256:  # of states that were deleted
                self._joined.clear()
            memory = self._memory.setdefault(dtype, np.empty((2, BLOCK), dtype))
            joined = self._joined[id(states[0])] = _Joined(memory, shapes)
        np.concatenate(datas, axis=None, out=joined.values)
        np.concatenate(grads, axis=None, out=joined.grads)
        state = {
            name: joined.of(name, states) if isinstance(value, np.ndarray) else value
            for name, value in states[0].items()
        }
        rule(joined.values, joined.grads, state)
        for data, value in zip(datas, joined.new_values, strict=True):
            data[...] = value
        for name, value in state.items():
            if not isinstance(value, np.ndarray):
                for own in states:
                    own[name] = value
            elif name not in states[0]:
                joined.keep(name, value, states)


def _update_in_pieces(part: Part, rule: Rule) -> None:
    arrays = [part.data, *(v for v in part.state.values() if isinstance(v, np.ndarray))]
    size = part.data.size
    block = block_of(size, 1)
    if size <= block or not all(array.flags.c_contiguous for array in arrays):
        rule(*part[:3])
        return
    data, grad = part.data.reshape(-1), part.grad.reshape(-1)
    state = {k: v.reshape(-1) if isinstance(v, np.ndarray) else v for k, v in part.state.items()}
    pieces: list[State] = [{} for _ in range(0, size, block)]

    def work(start: int, stop: int) -> None:
        here = slice(start, stop)
        piece = {k: v[here] if isinstance(v, np.ndarray) else v for k, v in state.items()}
        rule(data[here], grad[here], piece)
        pieces[start // block] = piece

    in_passes(size, 1, work)
    for name, value in pieces[-1].items():
        if not isinstance(value, np.ndarray):
            part.state[name] = value
        elif name not in state:
            whole = np.concatenate([piece[name] for piece in pieces])
            part.state[name] = whole.reshape(part.data.shape)


def _batches(parts: list[Part]) -> Iterator[list[Part]]:
    """Group parameters into lists that fit into one block."""
    batch: list[Part] = []
    size = 0
    for part in parts:
        if size + part.data.size > BLOCK:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += part.data.size
    yield batch
