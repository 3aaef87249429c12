"""Attributes of one module that are computed whenever they are read, such as normalized weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.tensors.tensor import Tensor

M = TypeVar("M", bound=Module)
Computation = Callable[[Any], Tensor]


def computed(module: Module) -> dict[str, Computation]:
    """The functions of the module that compute its attributes, by name."""
    return getattr(type(module), "_computed", {})


def set_computed(module: Module, functions: dict[str, Computation]) -> None:
    """Give a module a class of its own, whose attributes of these names are properties."""
    plain = next(kind for kind in type(module).__mro__ if "_computed" not in vars(kind))
    copied = {name: getattr(plain, name) for name in ("__doc__", "__module__", "__qualname__")}
    own = {name: property(function) for name, function in functions.items()}
    body = {**copied, **own, "_computed": functions, "__reduce__": _reduced}
    module.__class__ = type(plain.__name__, (plain,), body) if functions else plain


def fix(module: Module, name: str, value: Tensor, parts: Iterable[str]) -> None:
    """Make a parameter with a value of a computed attribute; what it was computed of goes."""
    for part in parts:
        delattr(module, f"{name}_{part}")
    others = {other: function for other, function in computed(module).items() if other != name}
    set_computed(module, others)
    setattr(module, name, Parameter(value))


def _reduced(module: Module) -> tuple[Any, ...]:
    """How `copy` and `pickle` make the module anew: its class has no name to be found by."""
    return _made, (type(module).__base__, computed(module)), module.__dict__


def _made(plain: type[M], functions: dict[str, Computation]) -> M:
    module = object.__new__(plain)
    set_computed(module, functions)
    return module
