"""How the arrays of a step's values lie in memory: whose it is, in which layout, who sees it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minigrad.tracing import Value
from minigrad.tracing.identity import Identity

__all__ = ["Layout", "Memories"]


class Layout(NamedTuple):
    """How the array of a value lies in memory.

    Attributes:
        memory: The number of its memory.
        fresh: Whether it has the memory to itself, which was made with it.
        strides: Its strides.
    """

    memory: int
    fresh: bool
    strides: tuple[int, ...]


class Memories:
    """The memories of a step, by number.

    Args:
        identity: What knows which memory an array reads.

    Attributes:
        layouts: How the array of each value lies in memory.
        shared: The memories that something outside of the step sees.
        fixed: The memories of arrays from outside.
    """

    def __init__(self, identity: Identity) -> None:
        self.layouts: dict[Value, Layout] = {}
        self.shared: set[int] = set()
        self.fixed: set[int] = set()
        self._identity = identity
        self._joined: dict[int, int] = {}

    def note(self, value: Value, array: np.ndarray) -> None:
        """Note the layout of a new value."""
        memory = self._identity.memory(array)
        fresh = array.base is None and not memory.values and not memory.writes
        self.layouts[value] = Layout(memory.number, fresh, array.strides)

    def number(self, thing: Any) -> int:
        """The number of the memory of a tensor or an array."""
        return self._identity.memory(thing).number

    def kind(self, value: Value) -> tuple[Any, ...]:
        """The shape, the dtype and the strides of a value."""
        layout = self.layouts.get(value)
        return value.shape, value.dtype, layout and layout.strides

    def join(self, value: Value, thing: Any) -> None:
        """A tensor holds a value after a local write: its memory and the value's are one."""
        ours, other = (self.one(each) for each in (self.number(thing), self.layouts[value].memory))
        if ours != other:
            self._joined[other] = ours

    def one(self, number: int) -> int:
        """The number of a memory; one for all in which a tensor was, by local writes."""
        while number in self._joined:
            number = self._joined[number]
        return number

    def share(self, *values: Value) -> None:
        """Something outside of the step may see the memory of these values from now on."""
        self.shared.update([self.layouts[v].memory for v in values if v in self.layouts])
