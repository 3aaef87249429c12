"""Containers: lists and dicts of modules and of parameters, and Sequential.

An entry is an attribute of the container, registered under its position, its name or its key: to
assign to the attribute is to replace the entry. Every child of a container of modules is an entry,
and every parameter of one of parameters. `ModuleList` and `ParameterList` have all methods of a
list, `ModuleDict` and `ParameterDict` all those of a dict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from itertools import groupby
from typing import Any, Self, TypeVar, cast, overload

from minigrad.autograd.events import tell
from minigrad.autograd.mode import version
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.module.registry import Kind
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

T = TypeVar("T")
Named = Mapping[str, Any] | Iterable[tuple[str, Any]]


class _Entries(Module):
    """What containers of modules share."""

    _kind: Kind = "module"

    def _names(self) -> list[str]:
        """The names of the entries, in order."""
        kinds = self._registered
        if [*kinds.values()].count(self._kind) == len(kinds):  # the usual case
            return [*kinds]
        return [name for name, kind in kinds.items() if kind == self._kind]

    def _checked(self, name: str, value: Any) -> Any:
        """What is stored for a value, or a TypeError."""
        if value is not None:
            self._check_child(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        entry = self._registered.get(name) == self._kind
        super().__setattr__(name, self._checked(name, value) if entry else value)

    def __len__(self) -> int:
        tell("entered", self)
        return [*self._registered.values()].count(self._kind)


class _Parameters(_Entries):
    """What containers of parameters share."""

    _kind = "parameter"

    def _checked(self, name: str, value: Any) -> Any:  # noqa: ARG002
        if value is None:
            return None
        if not isinstance(value, Tensor):
            kind, came = type(self).__name__, type(value).__name__
            raise TypeError(f"{kind}: a Parameter or Tensor expected, got {came}")
        return value if isinstance(value, Parameter) else Parameter(value)

    def _type_of(self, parameter: Parameter) -> Any:
        """What is shown as its type."""
        return parameter.dtype

    def extra_repr(self) -> str:
        lines = []
        for name in self._names():
            value = self.__dict__[name]
            if value is None:
                lines.append(f"  ({name}): Object of type: NoneType")
            else:
                kind, size = self._type_of(value), "x".join(map(str, value.shape))
                lines.append(f"  ({name}): Parameter containing: [{kind} of size {size}]")
        return "\n".join(lines)


class _Sequence(_Entries, MutableSequence[T]):
    """Entries in order: the name of each is its position, or given."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(values or ())

    def _named(self) -> list[tuple[str, Any]]:
        return [(name, self.__dict__[name]) for name in self._names()]

    def _become(self, named: list[tuple[str, Any]], *, numbered: bool = True) -> None:
        """Replace all entries; a name that is a number becomes the position, if `numbered`."""
        version.move()
        for name in self._names():
            self.__dict__.pop(name, None)
            del self._registered[name]
        for i, (given, value) in enumerate(named):
            name = str(i) if numbered and given.isdecimal() else given
            self.__dict__[name] = value
            self._registered[name] = self._kind

    def _empty(self) -> Self:
        """A container of the plain class without entries."""
        plain = next(kind for kind in type(self).__mro__ if kind.__module__ == __name__)
        return cast("Self", plain())

    def __iter__(self) -> Iterator[T]:
        tell("entered", self)
        own, wanted = self.__dict__, self._kind
        return iter([own[name] for name, kind in self._registered.items() if kind == wanted])

    def __contains__(self, value: object) -> bool:
        return any(entry is value for entry in self)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> T | Self:
        tell("entered", self)
        if isinstance(index, slice):
            part = self._empty()
            part._become(self._named()[index], numbered=not isinstance(self, Sequential))
            return part
        names = self._names()
        if index.__class__ is int and not -len(names) <= index < len(names):
            raise IndexError(f"{type(self).__name__}: index out of range, got {index}")
        return cast("T", self.__dict__[names[index]])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            named = self._named()
            named[index] = [("0", self._checked(str(i), each)) for i, each in enumerate(value)]
            self._become(named)
        else:
            setattr(self, self._names()[index], value)

    def __delitem__(self, index: int | slice) -> None:
        named = self._named()
        del named[index]
        self._become([("0", value) for _, value in named])  # names become numbers too

    def insert(self, index: int, value: T) -> Self:  # type: ignore[override]
        """Insert an entry before `index`, and return the container."""
        named = self._named()
        count = len(named)
        if not -count <= index <= count:
            kind = type(self).__name__
            raise IndexError(f"{kind}: insert before -{count} to {count} expected, got {index}")
        named.insert(index, ("0", self._checked(str(index), value)))
        self._become(named)
        return self

    def append(self, value: T) -> Self:  # type: ignore[override]
        """Append an entry, and return the container."""
        return self.extend([value])

    def extend(self, values: Iterable[T]) -> Self:  # type: ignore[override]
        """Append entries: all of them, or none if one does not fit. Return the container."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"{type(self).__name__}: a list expected, got {type(values).__name__}")
        named = [(str(i), value) for i, value in enumerate(values, len(self))]
        checked = [(name, self._checked(name, value)) for name, value in named]
        if not self._registered.keys().isdisjoint(dict(named)):  # of a slice, or a name given
            self._become(self._named())
        for name, value in checked:
            setattr(self, name, value)
            self._registered[name] = self._kind  # of None too
        return self

    def __add__(self, other: Iterable[T]) -> Self:
        return self._empty().extend(self).extend(other)


class Sequential(_Sequence[Module]):
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
            super().__init__()
            for name, module in first.items():
                self.add_module(name, self._checked(name, module))
        else:
            super().__init__(modules)

    def _checked(self, name: str, value: Any) -> Any:
        self._check_child(name, value)  # None cannot be called
        return value

    def __mul__(self, times: int) -> Self:
        check_size(type(self).__name__, "times", times)
        return self._empty().extend([*self] * times)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        return self.extend((self * times)[len(self) :])

    def forward(self, input: Any) -> Any:
        """Call the modules in order."""
        x = input
        for module in self:
            x = module(x)
        return x


class ModuleList(_Sequence[Module]):
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
        super().__init__(modules)

    def _shown_children(self) -> Iterator[tuple[str, str]]:
        """Numbered, whatever their names; a run of equal ones is one: ("0-5", "6 x Layer(...)")."""
        first = 0
        for text, run in groupby(map(repr, self._modules.values())):
            last = first + len([*run]) - 1
            many = f"{first}-{last}", f"{last - first + 1} x {text}"
            yield many if last > first else (f"{first}", text)
            first = last + 1


class ParameterList(_Parameters, _Sequence[Parameter]):
    """A list of parameters, called "0", "1" and so on. Tensors become parameters.

    Example:
        >>> from minigrad import nn, ones
        >>> scales = nn.ParameterList([ones(2), ones(3)]).append(ones(4))
        >>> [name for name, _ in scales.named_parameters()]
        ['0', '1', '2']
    """


class _Mapping(_Entries, MutableMapping[str, T]):
    """Entries by key. Keys are non-empty strings without a dot, and not names of methods."""

    __hash__ = Module.__hash__
    __eq__ = Module.__eq__

    def __init__(self, modules: Named | None = None) -> None:
        super().__init__()
        self.update(modules or ())

    def update(self, other: Named = (), /, **named: Any) -> None:  # type: ignore[override]
        """Set the entries of a mapping, or of pairs of a key and a value."""
        try:
            entries = dict(other, **named)
        except (TypeError, ValueError):
            wanted = f"a dict, or pairs of a key and a {self._kind}, expected"
            raise TypeError(f"{type(self).__name__}: {wanted}, got {other!r}") from None
        super().update(entries)

    def __getitem__(self, key: str) -> T:
        tell("entered", self)
        if self._registered.get(key) != self._kind:
            raise KeyError(f"{type(self).__name__}: no {self._kind} {key!r}; it has {list(self)}")
        return cast("T", self.__dict__[key])

    def __setitem__(self, key: str, value: Any) -> None:
        self._check_free(key, self._kind)
        setattr(self, key, self._checked(key, value))
        self._registered[key] = self._kind  # of None too

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __iter__(self) -> Iterator[str]:
        tell("entered", self)
        return iter(self._names())


class ModuleDict(_Mapping[Module]):
    """A dict of modules. Keys are non-empty strings without a dot, and not names of methods.

    Example:
        >>> from minigrad import nn
        >>> heads = nn.ModuleDict({"digits": nn.Linear(8, 10), "letters": nn.Linear(8, 26)})
        >>> sorted(heads.keys())
        ['digits', 'letters']
        >>> heads.digits is heads["digits"]
        True
    """


class ParameterDict(_Parameters, _Mapping[Parameter]):
    """A dict of parameters. Tensors become parameters. Keys are as in a `ModuleDict`.

    Example:
        >>> from minigrad import nn, ones
        >>> scales = nn.ParameterDict({"left": ones(2), "right": ones(3)})
        >>> list(scales), scales["right"].shape
        (['left', 'right'], minigrad.Size([3]))
    """

    def _type_of(self, parameter: Parameter) -> Any:
        return parameter.type()

    def __init__(self, parameters: Named | None = None) -> None:
        super().__init__(parameters)
