"""Containers of modules: Sequential, ModuleList and ModuleDict.

`ModuleList` and `ModuleDict` have all methods of list and dict. They cannot be called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self, cast, overload

from minigrad.autograd.mode import version
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_size

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Container(Module):
    """A module whose entries are children, under their positions, names or keys.

    An entry is an attribute too: to assign to it is to replace the entry.
    """

    def _key(self, name: str) -> Any:
        """The position or key of the entry with this name, or None."""
        raise NotImplementedError

    def _check_name(self, name: str, value: Any) -> None:
        super()._check_name(name, value)
        if self._key(name) is not None:
            raise ValueError(f"{type(self).__name__}: it has another module called {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        plain = name in self.__dict__ or hasattr(type(self), name)
        key = None if plain and not isinstance(value, Module) else self._key(name)
        if key is None:
            super().__setattr__(name, value)
        else:
            self[key] = value  # type: ignore[index]

    def __delattr__(self, name: str) -> None:
        key = None if name in self.__dict__ else self._key(name)
        if key is None:
            super().__delattr__(name)
        else:
            del self[key]  # type: ignore[attr-defined]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            key = self._key(name)
            if key is not None:
                return self[key]
            return super().__getattr__(name)


class _ModuleSequence(_Container, MutableSequence[Module]):
    """Modules in order; the name of each is given, or its position."""

    _entries: list[tuple[str | None, Any]] = cast("list[tuple[str | None, Any]]", ())

    def __init__(self, entries: Iterable[tuple[str | None, Module]]) -> None:
        super().__init__()
        self._entries = []
        for name, module in entries:
            self._append(name, module)

    def _append(self, name: Any, module: Any) -> None:
        """Append a module under a name; None and the next position mean the position."""
        if name == str(len(self)):
            name = None
        if name is not None:
            self._check_name(name, module)
            if self.__dict__.get(name) is not None:
                raise ValueError(f"{type(self).__name__}: it has another attribute {name!r}")
        self._entries.append((name, self._checked(module)))
        self.__dict__.pop(name, None)

    def _checked(self, module: Any) -> Module:
        self._check_child(str(len(self._entries)), module)
        return module

    def _check_name(self, name: str, value: Any) -> None:
        if not isinstance(name, str) or name.isdecimal():
            raise ValueError(
                f"{type(self).__name__}: {name!r} cannot be a name: numbers are positions, and "
                f"the next one is {len(self)}"
            )
        super()._check_name(name, value)

    def _key(self, name: str) -> int | None:
        entries = self._entries
        if not name.isdecimal():
            return next((i for i, entry in enumerate(entries) if entry[0] == name), None)
        position = int(name)
        if position < len(entries) and entries[position][0] is None and str(position) == name:
            return position
        return None

    def _child(self, name: str) -> Module | None:
        if name.isdecimal() and int(name) < len(self._entries):  # every call of an entry asks
            own, module = self._entries[int(name)]
            return module if own is None else None
        key = self._key(name)
        return self._entries[key][1] if key is not None else super()._child(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Module) and name == str(len(self._entries)):
            self.append(value)
        else:
            super().__setattr__(name, value)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over (name, module); the name is the position unless given."""
        for i, (name, module) in enumerate(list(self._entries)):
            if module is not None:
                yield str(i) if name is None else name, module
        yield from super().named_children()  # a subclass may have modules besides

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Module]:
        return (module for _, module in list(self._entries))

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            part = self._empty()
            part._entries = self._entries[index]
            return part
        return self._entries[self._position(index)][1]

    def __setitem__(self, index: Any, module: Any) -> None:
        version.move()
        if isinstance(index, slice):
            self._entries[index] = [(None, self._checked(each)) for each in module]
        else:
            position = self._position(index)
            self._entries[position] = (self._entries[position][0], self._checked(module))

    def add_module(self, name: str, module: Module | None) -> None:
        """Put a module in the place of that name, or append it; None adds nothing."""
        if module is None:
            return
        version.move()
        key = self._key(name) if isinstance(name, str) else None
        if key is None:
            self._append(name, module)
        else:
            self[key] = module

    def __delitem__(self, index: int | slice) -> None:
        version.move()
        del self._entries[index if isinstance(index, slice) else self._position(index)]

    def insert(self, index: int, value: Module) -> None:
        """Insert a module before `index`."""
        version.move()
        self._entries.insert(index, (None, self._checked(value)))

    def append(self, value: Module) -> Self:  # type: ignore[override]
        """Append a module, and return the container."""
        return self.extend([value])

    def extend(self, values: Iterable[Module]) -> Self:  # type: ignore[override]
        """Append modules: all of them, or none if one is not a module. Return the container."""
        version.move()
        self._entries.extend([(None, self._checked(value)) for value in values])
        return self

    def __add__(self, other: Iterable[Module]) -> Self:
        if not isinstance(other, _ModuleSequence):
            raise TypeError(
                f"{type(self).__name__}: + joins it with modules in order, got "
                f"{type(other).__name__}"
            )
        return self._empty().extend(self).extend(other)

    def __mul__(self, times: int) -> Self:
        check_size(type(self).__name__, "times", times)
        return self._empty().extend(list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        check_size(type(self).__name__, "times", times)
        return self.extend(list(self) * (times - 1))

    def _position(self, index: Any) -> int:
        kind, length = type(self).__name__, len(self)
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"{kind}: an int or a slice expected as index, got {index!r}")
        position = index.__index__()
        if not -length <= position < length:
            raise IndexError(f"{kind}: index {position} is out of range for {length} modules")
        return int(position)

    def _empty(self) -> Self:
        raise NotImplementedError


class Sequential(_ModuleSequence):
    """A chain of modules: each is called with the output of the one before.

    A module that is assigned to an attribute takes the place of that name, or is appended.

    Args:
        *modules: The modules in order, or one dict of named modules.

    Example:
        >>> from minigrad import nn, ones
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> model(ones((5, 4))).shape
        minigrad.Size([5, 2])
        >>> model[:2]
        Sequential(
          (0): Linear(in_features=4, out_features=8, bias=True)
          (1): ReLU()
        )
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        first = modules[0] if len(modules) == 1 else None
        if isinstance(first, Mapping) and not isinstance(first, Module):
            super().__init__(first.items())
        else:
            super().__init__((None, module) for module in modules)  # type: ignore[misc]

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Module) and "_entries" in self.__dict__:
            self.add_module(name, value)
        else:
            super().__setattr__(name, value)

    def forward(self, input: Any) -> Any:
        """Call the modules in order."""
        x = input
        for _, module in self._entries:
            x = module(x)
        return x

    def _empty(self) -> Self:
        return Sequential()  # type: ignore[return-value]


class ModuleList(_ModuleSequence):
    """A list of modules, registered as children "0", "1" and so on; None keeps a place free.

    ``setattr(layers, "0", layer)`` is the same as ``layers[0] = layer``.

    Example:
        >>> from minigrad import nn
        >>> layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))
        >>> del layers[0]
        >>> [name for name, _ in layers.named_children()]
        ['0', '1', '2']
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__((None, module) for module in modules or ())

    def _checked(self, module: Any) -> Any:
        return None if module is None else super()._checked(module)

    def _shown_children(self) -> Iterator[tuple[str, str]]:
        """A run of equal ones is one: ("0-5", "6 x Layer(...)")."""
        children = super()._shown_children()
        for (text, numbered), run in groupby(children, key=lambda c: (c[1], c[0].isdigit())):
            names = [name for name, _ in run]
            if numbered and len(names) > 1:
                yield f"{names[0]}-{names[-1]}", f"{len(names)} x {text}"
            else:
                yield from ((name, text) for name in names)

    def _empty(self) -> Self:
        return ModuleList()  # type: ignore[return-value]


class ModuleDict(_Container, MutableMapping[str, Module]):
    """A dict of modules. Keys are non-empty strings without a dot.

    Example:
        >>> from minigrad import nn
        >>> heads = nn.ModuleDict({"digits": nn.Linear(8, 10), "letters": nn.Linear(8, 26)})
        >>> sorted(heads.keys())
        ['digits', 'letters']
        >>> heads.digits is heads["digits"]
        True
    """

    _entries: dict[str, Module] = cast("dict[str, Module]", ())
    __hash__ = Module.__hash__
    __eq__ = Module.__eq__

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        super().__init__()
        self._entries = {}
        self.update(modules or ())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over (key, module)."""
        yield from list(self._entries.items())
        yield from super().named_children()  # a subclass may have modules besides

    def _key(self, name: str) -> str | None:
        return name if name in self._entries else None

    def _child(self, name: str) -> Module | None:
        return self._entries[name] if name in self._entries else super()._child(name)

    def __getitem__(self, key: str) -> Module:
        if key not in self._entries:
            raise KeyError(f"{type(self).__name__}: no module {key!r}; it has {list(self)}")
        return self._entries[key]

    def __setitem__(self, key: str, module: Module) -> None:
        if not isinstance(key, str) or not key or "." in key:
            raise ValueError(
                f"{type(self).__name__}: a key must be a string, not empty and without a dot, "
                f"got {key!r}"
            )
        self._check_child(key, module)
        if key in self._registered:
            raise ValueError(f"{type(self).__name__}: it has another attribute {key!r}")
        version.move()
        self._entries[key] = module

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a key, or with None nothing: ``modules[name] = module``."""
        if module is not None:
            self[name] = module

    def __delitem__(self, key: str) -> None:
        self[key]
        version.move()
        del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
