"""Updates in cache-sized blocks: small parameters are joined, large ones are split.

The overhead of a NumPy call equals the time for about a thousand numbers, and many parameters of a
transformer are smaller. A large parameter does not fit into the cache, so each call would load it
again. An elementwise update rule does not depend on where a parameter ends. It gets blocks: several
parameters, or a part of one.

Blocks exist only during a step. The state of each parameter is kept in its own arrays.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad._views import owner

BLOCK = 65_536
"""The maximum number of elements in a block: in float32, four arrays of it are 1 MB."""
SMALL = 16_384
"""Parameters with fewer elements are joined: for larger ones, copying costs more than a call."""

State = dict[str, Any]
Rule = Callable[[np.ndarray, np.ndarray, State], None]


class Part(NamedTuple):
    """One parameter: its values, its gradient and its optimizer state."""

    data: np.ndarray
    grad: np.ndarray
    state: State


class Blocks:
    """A buffer that joins parameters, with copies into it and back."""

    def __init__(self) -> None:
        self._memory: dict[tuple[int, np.dtype[Any]], np.ndarray] = {}
        self._places: dict[Any, list[tuple[np.ndarray, list[np.ndarray]]]] = {}

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
            memory = id(owner(part.data))
            if part.data.size < SMALL and memory not in owners:
                alike.setdefault(_kind(part), []).append(part)
                owners.add(memory)
            else:  # large, or it may share memory with another
                _update_in_pieces(part, rule)
        for several in alike.values():
            for batch in _batches(several):
                if len(batch) == 1:
                    rule(*batch[0])
                else:
                    self._update_joined(batch, rule)

    def _update_joined(self, parts: list[Part], rule: Rule) -> None:
        datas, grads, states = zip(*parts, strict=True)
        dtype, shapes = datas[0].dtype, tuple([data.shape for data in datas])
        if len(self._places) >= 64:  # for callers whose parameters change in every step
            self._places.clear()
        places = self._places.setdefault((dtype, shapes), [])

        def join(i: int, arrays: Any) -> tuple[np.ndarray, list[np.ndarray]]:
            """A flat array that concatenates arrays, and views of it in their shapes."""
            if i == len(places):
                memory = self._memory.setdefault((i, dtype), np.empty(BLOCK, dtype))
                flat = memory[: sum(data.size for data in datas)]
                places.append((flat, _apart(flat, shapes)))
            flat, pieces = places[i]
            np.concatenate(arrays, axis=None, out=flat)
            return flat, pieces

        data, new_values = join(0, datas)
        grad, _ = join(1, grads)
        state: State = {}
        joined: dict[str, tuple[list[np.ndarray], list[np.ndarray]]] = {}
        for name, value in states[0].items():
            if isinstance(value, np.ndarray):
                arrays = [own[name] for own in states]
                value, pieces = join(2 + len(joined), arrays)
                joined[name] = arrays, pieces
            state[name] = value
        rule(data, grad, state)
        _overwrite(datas, new_values)
        for name, value in state.items():
            if name in joined:
                _overwrite(*joined[name])
            elif isinstance(value, np.ndarray):
                for own, piece in zip(states, _apart(value, shapes), strict=True):
                    own[name] = piece.copy()
            else:
                for own in states:
                    own[name] = value


def _apart(flat: np.ndarray, shapes: Any) -> list[np.ndarray]:
    """Split a flat array into consecutive views of the given shapes."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    pieces = zip(np.split(flat, ends[:-1]), shapes, strict=True)
    return [piece.reshape(shape) for piece, shape in pieces]


def _overwrite(arrays: Any, values: list[np.ndarray]) -> None:
    for array, value in zip(arrays, values, strict=True):
        array[...] = value


def _update_in_pieces(part: Part, rule: Rule) -> None:
    arrays = [part.data, *(v for v in part.state.values() if isinstance(v, np.ndarray))]
    if part.data.size <= BLOCK or not all(array.flags.c_contiguous for array in arrays):
        rule(*part)
        return
    data, grad = part.data.reshape(-1), part.grad.reshape(-1)
    state = {k: v.reshape(-1) if isinstance(v, np.ndarray) else v for k, v in part.state.items()}
    pieces = []
    for start in range(0, data.size, BLOCK):
        here = slice(start, start + BLOCK)
        piece = {k: v[here] if isinstance(v, np.ndarray) else v for k, v in state.items()}
        rule(data[here], grad[here], piece)
        pieces.append(piece)
    for name, value in pieces[-1].items():
        if not isinstance(value, np.ndarray):
            part.state[name] = value
        elif name not in state:
            whole = np.concatenate([piece[name] for piece in pieces])
            part.state[name] = whole.reshape(part.data.shape)


def _kind(part: Part) -> Any:
    """What joined parameters must have in common: the dtype and the numbers in their state."""
    kept = part.state.items()
    return part.data.dtype.char, *[k if isinstance(v, np.ndarray) else (k, v) for k, v in kept]


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
