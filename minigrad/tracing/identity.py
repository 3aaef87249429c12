"""Which value a tensor or an array holds: the one table of identity.

A tensor with a history is known by its node, or its leaf. Everything else is known by its array,
and by the place in memory that the array reads. A write makes all that is known of its memory old.
References are weak, so that the table keeps no array alive.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.mutation import history
from minigrad.autograd.node import Output, Variable, clock, data_of
from minigrad.autograd.views import Place, owner
from minigrad.tracing.steps import Value


class Content(NamedTuple):
    """A value, and since when a tensor or an array holds it."""

    value: Value
    stamp: int


class Write(NamedTuple):
    """A value that was written, to which part of a memory, and when."""

    place: Place
    value: Value
    stamp: int


class _Memory:
    """The known values of a memory by place, and the writes to it, the latest last."""

    def __init__(self, owner: np.ndarray) -> None:
        self.number = next(clock)
        self.owner = weakref.ref(owner)
        self.values: dict[Place, Content] = {}
        self.writes: list[Write] = []


class Identity:
    """The values of tensors and arrays."""

    def __init__(self) -> None:
        self._edges = weakref.WeakKeyDictionary[Any, dict[int, Content]]()
        self._arrays: dict[int, tuple[weakref.ref[np.ndarray], Content]] = {}
        self._memories: dict[int, _Memory] = {}
        self._room = 1024  # how many arrays are noted before those that are gone are let go

    def know(self, thing: Any, value: Value) -> None:
        """From now on a tensor or an array holds a value."""
        known = Content(value, next(clock))
        node, number = _edge(thing)
        if node is not None:
            self._edges.setdefault(node, {})[number] = known
        array = data_of(thing)
        self._arrays[id(array)] = weakref.ref(array), known
        self.memory(array).values[Place.of_array(array)] = known
        if len(self._arrays) > self._room:
            self._let_go()

    def write(self, thing: Any, value: Value) -> None:
        """A tensor was overwritten with a value: the known values of its memory are old."""
        place = Place.of_array(data_of(thing))
        self.memory(thing).writes.append(Write(place, value, next(clock)))
        self.know(thing, value)

    def by_history(self, thing: Any) -> Content | None:
        """What a tensor with a history held when an op or a recorded write made it."""
        node, number = _edge(thing)
        return None if node is None else self._edges.get(node, {}).get(number)

    def find(self, thing: Any) -> tuple[Value | None, list[Write]]:
        """The last known value of a tensor or an array, and the writes since."""
        array, known = data_of(thing), self.by_history(thing)
        if known is None:
            reference, known = self._arrays.get(id(array), (None, None))
            known = known if reference is not None and reference() is array else None
        memory = self.memory(array)
        if known is not None and (not memory.writes or memory.writes[-1].stamp < known.stamp):
            return known.value, []
        by_place = memory.values.get(Place.of_array(array))
        if by_place is not None:
            known = by_place
        if known is None:
            return None, memory.writes
        return known.value, [write for write in memory.writes if write.stamp > known.stamp]

    def memory(self, thing: Any) -> _Memory:
        """The record of the memory that a tensor or an array reads."""
        whole = owner(data_of(thing))
        memory = self._memories.get(id(whole))
        if memory is None or memory.owner() is not whole:  # another array had this id
            memory = self._memories[id(whole)] = _Memory(whole)
        return memory

    def _let_go(self) -> None:
        """Forget arrays that are gone: a callback of a weak reference would swallow a Ctrl-C."""
        self._arrays = {key: one for key, one in self._arrays.items() if one[0]() is not None}
        memories = self._memories.items()
        self._memories = {key: one for key, one in memories if one.owner() is not None}
        self._room = 2 * len(self._arrays) + 1024


def _edge(thing: Any) -> tuple[Any, int]:
    """The node or leaf of a tensor with a history, and which of its outputs it is."""
    edge = history(thing) if isinstance(thing, Variable) else None
    return edge if isinstance(edge, Output) else (edge, 0)
