"""What a step holds in Python: numbers, modules, tensors in variables and attributes.

A program has them as they were. So before each replay they are compared, and when one has changed
the step is written down anew.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from types import CellType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from minigrad._checks import module_of
from minigrad.autograd.node import Leaf

__all__ = ["Held", "Snapshot", "State", "held_by"]

_LOST = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_BASE = {*sys.stdlib_module_names, "minigrad", "numpy"}
_HINTS = ("_name",)  # attributes of a module that say nothing of what it computes


class Held(NamedTuple):
    """What a variable or an attribute holds.

    Attributes:
        place: The cell of a variable, the dict of an object or a module of Python, a class, an
            object with slots, or a container.
        key: The name, or the index.
        value: The object.
        within: Its entries, of a container; the bytes of an array.
        of: What the place belongs to, for an error.
    """

    place: Any
    key: Any
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
        names: dict[int, tuple[Mapping[Any, Any], list[Any]]] = {}
        looks: list[Callable[[], Iterable[Any]]] = []
        self._empty: list[Any] = []
        for each in self._held:
            if not isinstance(each, Held) or not isinstance(each.place, (dict, type)):
                self._others.append(each)
                continue
            place = vars(each.place) if isinstance(each.place, type) else each.place
            names.setdefault(id(each.place), (place, []))[1].append(each.key)
            if isinstance(each.value, (dict, list)) and not each.value:
                self._empty.append(each.value)
            elif isinstance(each.value, dict):
                looks += [each.value.keys, each.value.values]
            elif isinstance(each.value, (list, tuple)):
                looks.append(each.value.__iter__)
            elif each.within is not None:
                self._others.append(each)
        looks += [partial(map, place.get, keys, repeat(_LOST)) for place, keys in names.values()]
        self._fast = [(look, [*map(id, look())]) for look in looks]

    def valid(self) -> bool:
        """Whether the step still holds the same."""
        if any(self._empty):
            return not self.changed()
        for look, ids in self._fast:
            if [*map(id, look())] != ids:
                return not self.changed()
        return all([each.valid() for each in self._others])  # noqa: C419 (twice as fast)

    def changed(self) -> str:
        """What is not as it was."""
        return ", ".join([str(each) for each in self._held if not each.valid()])


def held_by(step: Any, modules: Iterable[Any], arguments: list[Any]) -> list[Held]:
    """What a step, the functions that it calls, its modules and its arguments hold."""
    owner = getattr(step, "__self__", None)
    if owner is None and not isinstance(step, (FunctionType, partial)):
        owner = step
    wholes = [each for each in (owner, *modules) if each is not None]
    search = _Search({_package(step), *map(_package, map(type, wholes))})
    search.look(step, "")
    for number, argument in enumerate(arguments):
        if not isinstance(argument, _PLAIN):
            search.hold(arguments, number, "the arguments")
    for each in wholes:
        search.everything(each)
    search.finish()
    return list(search.found.values())


class _Search:
    """Looks for what a step holds: by the names in its code, and in the functions that it calls.

    It reads the code of the user, not that of Python and of libraries. So of an object of a library
    it holds all attributes.

    Args:
        packages: Those of the step and its modules: they are the user's, even if installed.

    Attributes:
        found: What was found, by the place and the key.
    """

    def __init__(self, packages: set[str]) -> None:
        self.found: dict[tuple[int, Any], Held] = {}
        self._packages = packages
        self._names = {"forward"}  # it stands in no code: a module is called
        self._functions: set[int] = set()
        self._objects: dict[int, Any] = {}
        self._pending: list[tuple[Any, str]] = []

    def hold(self, place: Any, key: Any, of: str) -> None:
        """Add what a place holds, and what that holds in turn."""
        value = _now(place, key)
        if (id(place), key) not in self.found and value is not _LOST:
            self.found[id(place), key] = Held(place, key, value, _within(value), of)
            self.look(value, f"{key} of {of}")

    def look(self, value: Any, name: str) -> None:
        """Look into a value later."""
        if not isinstance(value, _PLAIN):
            self._pending.append((value, name))

    def everything(self, value: Any) -> None:
        """Hold all attributes of an object, whatever names the code has."""
        self._objects[id(value)] = value
        for key in _own(value):
            if key not in _HINTS:
                self.hold(_own(value), key, type(value).__name__)

    def finish(self) -> None:
        """Hold the attributes of all objects that are named anywhere."""
        done = None
        while done != (done := (len(self._names), len(self._objects))):
            while self._pending:
                self._look(*self._pending.pop())
            for each in list(self._objects.values()):
                self._attributes(each)

    def _look(self, value: Any, name: str) -> None:
        """Look into a function or a container; note an object, of which names are attributes."""
        if isinstance(value, FunctionType):
            self._read(value)
        elif isinstance(value, (MethodType, classmethod, staticmethod)):
            self.look(value.__func__, name)
            self.look(getattr(value, "__self__", None), name)
        elif isinstance(value, partial):
            for part in (value.func, value.args, value.keywords):
                self.look(part, name)
        elif isinstance(value, (dict, list, tuple)):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(part, tuple) or _within(part) is None:
                    self.look(part, name)
                else:
                    self.hold(value, key, name)
        elif isinstance(wrapped := _own(value).get("__wrapped__"), FunctionType):
            self._read(wrapped)  # the function is cached, or captured
        elif not _changes_by_effects(value):
            self._objects[id(value)] = value

    def _read(self, function: FunctionType) -> None:
        if id(function) in self._functions or self._foreign(function):
            return
        self._functions.add(id(function))
        self._objects[id(function)] = function
        code = function.__code__
        for key, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.hold(cell, key, code.co_name)
        for value in (function.__defaults__, function.__kwdefaults__):
            self.look(value, code.co_name)
        for key in _names(code):
            self._names.add(key)
            self.hold(function.__globals__, key, function.__module__)

    def _attributes(self, value: Any) -> None:
        if isinstance(value, ModuleType):
            if _package(value) not in _BASE:
                for key in self._names & vars(value).keys():
                    self.hold(vars(value), key, value.__name__)
            return
        its_class = value if isinstance(value, type) else type(value)
        of_library = self._foreign(its_class) and _package(its_class) not in _BASE
        own = _own(value)
        name = value.__name__ if isinstance(value, FunctionType) else its_class.__name__
        for key in own if of_library else self._names & own.keys():
            self.hold(own, key, name)
        for kind in its_class.__mro__:
            foreign = self._foreign(kind)
            for key, part in [*vars(kind).items()]:
                operator = key.startswith("__") and isinstance(part, FunctionType)
                if not (of_library if foreign else operator or key in self._names):
                    continue
                if isinstance(part, MemberDescriptorType):
                    self.hold(value, key, name)
                elif isinstance(part, property):
                    self.look(part.fget, name)
                elif not foreign:
                    self.hold(kind, key, kind.__name__)

    def _foreign(self, thing: Any) -> bool:
        """Whether a function or a class is not the user's."""
        package = _package(thing)
        return package in _BASE or (package not in self._packages and _installed(package))


def _package(thing: Any) -> str:
    """The package of a function, a class or a module."""
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", "")
    return str(name).partition(".")[0]


@cache
def _installed(package: str) -> bool:
    """Whether a package is a library, and not the user's files."""
    module = sys.modules.get(package)
    files = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any({"site-packages", "dist-packages"} & {*Path(file).parts} for file in files)


def _own(value: Any) -> dict[str, Any]:
    """The attributes that an object itself has."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else {}


def _changes_by_effects(value: Any) -> bool:
    """Whether an object is a tensor, an optimizer ...: what changes it stands in the program."""
    return any(
        module_of(kind).startswith("minigrad.") and not module_of(kind).startswith("minigrad.nn.")
        for kind in type(value).__mro__
    )


def _names(code: Any) -> Iterator[str]:
    """The global names and attributes in a function, and in the functions defined within it.

    Strings too: ``getattr(options, "scale")``.
    """
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from _names(constant)
        elif isinstance(constant, str):
            yield constant


def _now(place: Any, key: Any) -> Any:
    if place.__class__ is CellType:
        try:
            return place.cell_contents
        except ValueError:  # a variable without a value
            return _LOST
    if isinstance(place, (list, tuple)):
        return place[key] if key < len(place) else _LOST
    if isinstance(place, type):
        place = vars(place)
    elif not isinstance(place, dict):  # an object with slots
        return getattr(place, key, _LOST)
    return place.get(key, _LOST)


def _within(value: Any) -> Any:
    """What is compared of a container or an array besides its identity."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, deque)):
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
