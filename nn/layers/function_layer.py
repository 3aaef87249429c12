"""Layers without parameters: they store arguments, and call a function with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from minigrad.nn.module.base import Module
from minigrad.tensors.tensor import Tensor

L = TypeVar("L", bound="FunctionLayer")


def unusual(layer: Module, **usual: Any) -> list[str]:
    """The options of a layer that are not the usual ones (along any axis), for its repr."""
    shown = []
    for name, expected in usual.items():
        value = getattr(layer, name, expected)
        if value != expected and not (isinstance(value, tuple) and set(value) == {expected}):
            shown.append(f"{name}={value}")
    return shown


class FunctionLayer(Module):
    """A layer whose fields are arguments of its function, which checks them: see `layer_of`."""

    function: ClassVar[Callable[..., Tensor]]
    fields: ClassVar[tuple[str, ...]] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        layer = super().__new__(cls, *args, **kwargs)
        Module.__init__(layer)  # before the constructor of the dataclass stores the fields
        return layer

    def __post_init__(self) -> None:
        own = self.__dict__
        given = [name for name in self.fields if getattr(own[name], "ndim", 0)]  # seldom any
        for each in fields(self) if given else ():  # type: ignore[arg-type]
            owner, name, value = type(self).__name__, each.name, self.__dict__[each.name]
            if getattr(value, "ndim", 0) and each.type not in ("Any", "Tensor | None"):
                raise TypeError(f"{owner}: {name} must not be a Tensor; write {owner}(...)(x)")

    def _result(self, *inputs: Any, **options: Any) -> Tensor:
        """Call the function with inputs, the fields and other options."""
        own = self.__dict__
        return self.function(*inputs, **{name: own[name] for name in self.fields}, **options)

    def extra_repr(self) -> str:
        return super().extra_repr().removesuffix("inplace=False").removesuffix(", ")


class UnaryLayer(FunctionLayer):
    """A layer with one input."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return self._result(input)


@dataclass(eq=False, repr=False)
class InPlaceLayer(UnaryLayer):
    """A layer whose only argument is whether its input is overwritten."""

    inplace: bool = False


@dataclass_transform(eq_default=False)
def layer_of(function: Callable[..., Tensor]) -> Callable[[type[L]], type[L]]:
    """Make a class a dataclass whose layers call `function` with the fields as keywords."""

    def decorate(cls: type[L]) -> type[L]:
        made = dataclass(eq=False, repr=False)(cls)
        made.function = staticmethod(function)
        made.fields = tuple(each.name for each in fields(made))  # type: ignore[arg-type]
        named = tuple(name for name in made.fields if name not in made.repr_sizes)
        made.repr_fields = made.repr_fields or named
        return made

    return decorate
