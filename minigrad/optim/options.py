"""The options of a group of parameters: a dict whose numbers a captured step reads anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.autograd.events import effect, reading
from minigrad.autograd.mode import state


class Options(dict[str, Any]):
    """A group of parameters and its options; observers are told of each read and write."""

    is_a_leaf = True  # of a structure, see `support.tree`

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if value.__class__ is float and state.get().observers:
            return _read(self, name)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        _set(self, name, float(value) if isinstance(value, Option) else value)

    def get(self, name: str, default: Any = None) -> Any:
        """The option, or the default."""
        return self[name] if name in self else default  # noqa: SIM401

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several options."""
        for name, value in dict(*args, **kwargs).items():
            self[name] = value


class Option(float):
    """A number that was read while somebody observes: they are told if Python computes with it."""

    origin: tuple[Options, str]


@reading
def _read(options: Options, name: str) -> float:
    value: float = dict.__getitem__(options, name)
    if not state.get().observers:
        return value
    number = Option(value)
    number.origin = options, name
    return number


@effect
def _set(options: Options, name: str, value: Any) -> None:
    dict.__setitem__(options, name, value)


@reading
def compute_with(options: Options, name: str) -> None:
    """Python computes with an option, or compares it; what comes of it is not known."""


def _computing(name: str) -> Callable[..., Any]:
    function = getattr(float, name)

    def method(self: Option, *args: Any) -> Any:
        result = function(self, *args)
        if result is not NotImplemented:
            compute_with(*self.origin)
        return result

    return method


for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv",
    "mod", "rmod", "pow", "rpow", "neg", "pos", "abs", "lt", "le", "gt", "ge", "eq", "ne", "bool",
    "int", "float", "round", "trunc", "format", "repr",
):  # fmt: skip
    setattr(Option, f"__{_name}__", _computing(f"__{_name}__"))
Option.__hash__ = float.__hash__  # type: ignore[method-assign]
