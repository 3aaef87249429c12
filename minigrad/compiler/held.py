"""What a step holds in Python: numbers, modules, tensors in variables and attributes.

A program has them as they were. So before each replay they are compared, and when one has changed
the step is written down anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import repeat
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.node import Leaf

__all__ = ["Held", "Snapshot", "State", "held_by"]

_LOST = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_HINTS = ("_name",)  # attributes of a module that say nothing of what it computes


class Held(NamedTuple):
    """What a variable or an attribute holds.

    Attributes:
        place: The cell of a variable, or the dict of an object or a module of Python.
        key: The name.
        value: The object.
        within: Its entries, of a container; the bytes of an array.
        of: What the place belongs to, for an error.
    """

    place: Any
    key: str
    value: Any
    within: Any
    of: str

    def valid(self) -> bool:
        """Whether it still holds the same."""
        now = _now(self.place, self.key)
        if now is self.value:
            return self.within is None or _same(_within(now), self.within)
        return now.__class__ is self.value.__class__ and isinstance(now, _PLAIN) and (
            repr(now) == repr(self.value)
        )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.key} of {self.of}"


class State(NamedTuple):
    """A tensor that a program reads: a weight, a buffer, a variable.

    Attributes:
        tensor: The tensor.
        edge: Its leaf, None if it needs no gradient.
        array: Its array.
        kind: The shape, dtype and layout of the array.
    """

    tensor: Any
    edge: Any
    array: Any
    kind: Any

    @classmethod
    def of_tensor(cls, tensor: Any) -> State:
        """The state as it is."""
        array = tensor._data
        return cls(tensor, tensor._node, array, (array.shape, array.dtype, array.strides))

    def valid(self) -> bool:
        """Whether only its numbers may have changed."""
        edge, array = self.tensor._node, self.tensor._data
        if edge.__class__ is Leaf and (edge.hooks or edge.post_hooks):
            return False
        alike = array is self.array or (array.shape, array.dtype, array.strides) == self.kind
        return edge is self.edge and alike

    def __str__(self) -> str:
        return f"a tensor of shape {self.kind[0]}"


class Snapshot:
    """What a step held when it was written down.

    Args:
        held: All of it.
    """

    def __init__(self, held: Iterable[Held | State]) -> None:
        self._held = [*held]
        # Dicts and containers are compared as a whole, by the ids of what they hold: that is fast.
        self._others: list[Held | State] = []
        names: dict[int, tuple[dict[str, Any], list[str]]] = {}
        looks: list[Callable[[], Iterable[Any]]] = []
        for each in self._held:
            if not isinstance(each, Held) or not isinstance(each.place, dict):
                self._others.append(each)
                continue
            names.setdefault(id(each.place), (each.place, []))[1].append(each.key)
            if isinstance(each.value, dict):
                looks += [each.value.keys, each.value.values]
            elif isinstance(each.value, (list, tuple)):
                looks.append(each.value.__iter__)
            elif each.within is not None:
                self._others.append(each)
        looks += [partial(map, place.get, keys, repeat(_LOST)) for place, keys in names.values()]
        self._fast = [(look, [*map(id, look())]) for look in looks]

    def valid(self) -> bool:
        """Whether the step still holds the same."""
        for look, ids in self._fast:
            if [*map(id, look())] != ids:
                return not self.changed()
        return all([each.valid() for each in self._others])  # noqa: C419 (twice as fast)

    def changed(self) -> str:
        """What is not as it was."""
        return ", ".join([str(each) for each in self._held if not each.valid()])


def held_by(step: Any, modules: Iterable[Any]) -> list[Held]:
    """What a step, the functions that it calls, and its modules hold."""
    found: dict[tuple[int, str], Held] = {}
    functions: set[int] = set()

    def hold(place: Any, key: str, of: str) -> None:
        value = _now(place, key)
        if (id(place), key) not in found and value is not _LOST:
            found[id(place), key] = Held(place, key, value, _within(value), of)
            follow(value)

    def follow(function: Any) -> None:
        if isinstance(function, partial):
            follow(function.func)
            return
        function = getattr(function, "__wrapped__", function)
        function = getattr(function, "__func__", function)
        if not isinstance(function, FunctionType) or id(function) in functions:
            return
        if function.__module__.partition(".")[0] in ("minigrad", "numpy"):
            return
        functions.add(id(function))
        code = function.__code__
        for key, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            hold(cell, key, code.co_name)
        for key in _names(code):
            hold(function.__globals__, key, function.__module__)

    follow(step)
    owner = getattr(step, "__self__", None)
    if owner is None and not isinstance(step, (FunctionType, partial)):
        owner = step
    for each in (owner, *modules):
        if each is None or not hasattr(each, "__dict__"):
            continue
        name = type(each).__name__
        for method in ("forward", "__call__"):
            follow(getattr(type(each), method, None))
        for key in vars(each):
            if key not in _HINTS:
                hold(vars(each), key, name)
    return list(found.values())


def _names(code: Any) -> Iterator[str]:
    """The global names and attributes in a function, and in the functions defined within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from _names(constant)


def _now(place: Any, key: str) -> Any:
    if place.__class__ is CellType:
        try:
            return place.cell_contents
        except ValueError:  # a variable without a value
            return _LOST
    return place.get(key, _LOST)


def _within(value: Any) -> Any:
    """What is compared of a container or an array besides its identity."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return set(value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return repr(value.bit_generator.state) if isinstance(value, np.random.Generator) else None


def _same(now: Any, before: Any) -> bool:
    if isinstance(before, list):
        return len(now) == len(before) and all(
            a is b or (isinstance(a, _PLAIN) and type(a) is type(b) and repr(a) == repr(b))
            for a, b in zip(now, before, strict=True)
        )
    return bool(now == before)
