"""Which value of a program each array stands for, while a step is recorded.

Arrays are known by identity, through weak references: a recording keeps none of them, so that it
needs no more memory than the step.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from minigrad._views import owner
from minigrad.compiler.program import Value

__all__ = ["Arrays"]

T = TypeVar("T")


class Arrays:
    """The arrays that are known, and who may see their memory."""

    def __init__(self) -> None:
        self._numbers, self._owners = itertools.count(), itertools.count(1)
        self._values: dict[int, tuple[weakref.ref[np.ndarray], Value]] = {}
        self._layouts: dict[Any, tuple[weakref.ref[np.ndarray], Value]] = {}
        self._memories: dict[int, tuple[weakref.ref[np.ndarray], int]] = {}
        self._made: set[int] = set()
        self._described: list[Value] = []

    def value(self, array: np.ndarray | None = None) -> Value:
        """A new value; it stands for the array, if there is one."""
        value = Value(next(self._numbers))
        if array is not None:
            self.describe(value, array)
            self.know(array, value)
        return value

    def like(self, value: Value, shape: tuple[int, ...], dtype: Any) -> Value:
        """A new value in memory of its own, with the layout of another one."""
        number = next(self._numbers)
        made = Value(number, shape, np.dtype(dtype), -number, True)
        strides = value.strides if value.shape == shape else None
        made.strides = np.empty(shape, dtype).strides
        if strides is not None and value.dtype is not None:
            known = np.lib.stride_tricks.as_strided(np.empty(1, value.dtype), shape, strides)
            made.strides = np.empty_like(known, dtype).strides
        return made

    def outside(self, array: np.ndarray) -> Value:
        """A new value for an array that no instruction made."""
        value = self.value(array)
        value.fresh = False
        assert value.memory is not None
        self._made.discard(value.memory)
        return value

    def know(self, array: np.ndarray, value: Value) -> None:
        """Let an array stand for a value from now on."""
        self._values[id(array)] = weakref.ref(array), value
        self._layouts[_layout(array)] = weakref.ref(owner(array)), value

    def forget(self, array: np.ndarray) -> None:
        """Let an array stand for nothing."""
        self._values.pop(id(array), None)
        self._layouts.pop(_layout(array), None)

    def known(self, array: np.ndarray) -> Value | None:
        """The value of an array; None if unknown."""
        return _alive(self._values.get(id(array)), array)

    def seen(self, array: np.ndarray) -> Value | None:
        """The value of an array, or of a view of all of it as `detach` gives; None if unknown."""
        layout = self._layouts.get(_layout(array))
        return self.known(array) or _alive(layout, owner(array))

    def part_of_made(self, array: np.ndarray) -> bool:
        """Whether an instruction made the memory of an array."""
        return self._memory(array)[0] in self._made

    def describe(self, value: Value, array: np.ndarray) -> None:
        """Note shape, dtype and memory; it is fresh if its memory was not seen before."""
        value.memory, new = self._memory(array)
        value.shape, value.dtype, value.strides = array.shape, array.dtype, array.strides
        value.held = owner(array).nbytes
        value.fresh = array.base is None and new
        self._described.append(value)
        if value.fresh:
            self._made.add(value.memory)

    def borrow(self, array: np.ndarray) -> None:
        """Know the memory of an array, so that a value in it is not taken for a fresh one."""
        self._memory(array)

    def let_go(self, memories: Iterable[int | None]) -> None:
        """Something outside of the program may see these memories from now on."""
        seen = {*memories}
        for value in self._described:
            if value.memory in seen:
                value.fresh = False

    def alone(self, array: np.ndarray, value: Value) -> bool:
        """Whether no other value lies in the memory of an array, or in that of its value."""
        shared = (self._memory(array)[0], value.memory)
        others = [v for _, v in self._values.values() if v.memory in shared and v is not value]
        return not others

    def _memory(self, array: np.ndarray) -> tuple[int, bool]:
        """The number of a memory, and whether it is a new one."""
        memory = owner(array)
        number = _alive(self._memories.get(id(memory)), memory)
        if number is not None:
            return number, False
        number = next(self._owners)
        self._memories[id(memory)] = weakref.ref(memory), number
        return number, True


def _alive(entry: tuple[weakref.ref[np.ndarray], T] | None, array: np.ndarray) -> T | None:
    """What is noted of an array, unless it was another one that had its id."""
    return entry[1] if entry is not None and entry[0]() is array else None


def _layout(array: np.ndarray) -> Any:
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype
