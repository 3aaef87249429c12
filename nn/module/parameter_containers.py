"""Containers of parameters: ParameterList and ParameterDict.

Each parameter is an attribute of the container, under its position or its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any, overload

from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.tensors.tensor import Tensor

__all__ = ["ParameterDict", "ParameterList"]


class _Parameters(Module):
    """A module that holds parameters, and has no `forward`."""

    def _checked(self, value: Any) -> Parameter:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{type(self).__name__}: a Parameter or Tensor expected, got {type(value).__name__}"
            )
        return value if isinstance(value, Parameter) else Parameter(value)

    def extra_repr(self) -> str:
        shown = [f"{name}: {p._data.dtype} of {p.shape}" for name, p in self._own_parameters()]
        return ", ".join(shown)


class ParameterList(_Parameters, MutableSequence[Parameter]):
    """A list of parameters, called "0", "1" and so on. It has all methods of a list.

    Tensors become parameters.

    Example:
        >>> from minigrad import nn, ones
        >>> scales = nn.ParameterList([ones(2), ones(3)])
        >>> scales.append(ones(4))
        >>> [name for name, _ in scales.named_parameters()]
        ['0', '1', '2']
    """

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(values or ())  # type: ignore[arg-type]

    def _values(self) -> list[Parameter]:
        return [value for name, value in self._own_parameters() if name.isdecimal()]

    def _become(self, values: list[Parameter]) -> None:
        checked = [self._checked(value) for value in values]
        for i in range(len(self)):
            super().__delattr__(str(i))
        for i, value in enumerate(checked):
            super().__setattr__(str(i), value)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.isdecimal():
            super().__setattr__(name, value)
        elif name == str(len(self)):
            self.append(value)
        else:
            self[self._position(name)] = value

    def __delattr__(self, name: str) -> None:
        if name.isdecimal():
            del self[self._position(name)]
        else:
            super().__delattr__(name)

    def _position(self, name: str) -> int:
        """The position of a name such as "0"."""
        if name not in self._registered:
            raise AttributeError(
                f"{type(self).__name__}: {name!r} is not the name of one of {len(self)} parameters"
            )
        return int(name)

    def __len__(self) -> int:
        return len(self._values())

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._values())

    def __contains__(self, value: object) -> bool:
        return any(parameter is value for parameter in self)

    @overload
    def __getitem__(self, index: int) -> Parameter: ...
    @overload
    def __getitem__(self, index: slice) -> ParameterList: ...
    def __getitem__(self, index: int | slice) -> Parameter | ParameterList:
        found = self._at(self._values(), index)
        return ParameterList(found) if isinstance(index, slice) else found

    def _at(self, values: list[Parameter], index: Any) -> Any:
        try:
            return values[index]
        except (IndexError, TypeError):
            raise IndexError(
                f"{type(self).__name__}: index {index!r} is not one of {len(values)} parameters"
            ) from None

    def __setitem__(self, index: Any, value: Any) -> None:
        values = self._values()
        self._at(values, index)
        values[index] = value
        self._become(values)

    def __delitem__(self, index: int | slice) -> None:
        values = self._values()
        self._at(values, index)
        del values[index]
        self._become(values)

    def insert(self, index: int, value: Tensor) -> None:
        """Insert a parameter before `index`."""
        values = self._values()
        values.insert(index, self._checked(value))
        self._become(values)


class ParameterDict(_Parameters, MutableMapping[str, Parameter]):
    """A dict of parameters. Keys are non-empty strings without a dot, and no names of methods.

    Tensors become parameters.

    Example:
        >>> from minigrad import nn, ones
        >>> scales = nn.ParameterDict({"left": ones(2), "right": ones(3)})
        >>> list(scales), scales["right"].shape
        (['left', 'right'], minigrad.Size([3]))
    """

    __hash__ = Module.__hash__
    __eq__ = Module.__eq__

    def __init__(
        self, parameters: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | None = None
    ) -> None:
        super().__init__()
        self.update(parameters or ())  # type: ignore[arg-type]

    def __getitem__(self, key: str) -> Parameter:
        own = dict(self._own_parameters())
        if key not in own:
            raise KeyError(f"{type(self).__name__}: no parameter {key!r}; it has {list(own)}")
        return own[key]

    def __setitem__(self, key: str, value: Tensor) -> None:
        kind = self._registered.get(key) if isinstance(key, str) else None
        if not isinstance(key, str) or (key in self.__dict__ and kind != "parameter"):
            raise ValueError(
                f"{type(self).__name__}: {key!r} cannot be a key: expected a string that is not "
                f"one of its attributes"
            )
        setattr(self, key, self._checked(value))

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._own_parameters())

    def __len__(self) -> int:
        return sum(1 for _ in self._own_parameters())
