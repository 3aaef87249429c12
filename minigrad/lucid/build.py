"""Makes Lucid 3's functions and classes of PyTorch's door, and refuses the others."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from minigrad.lucid.classes import adopting
from minigrad.lucid.table import ABSENT
from minigrad.torch.build import made

_NOT_NAMES = {
    "Any", "Device", "LINES", "Tensor", "adopt", "adopt_module", "annotations", "made", "ops",
    "ours", "Parameter", "Buffer", "Module",
}  # fmt: skip
_FILES = ("minigrad.lucid.einops",)  # needs a package


def exported(module: ModuleType, kind_of: Callable[[type], type] | None = None) -> dict[str, Any]:
    """The names of a module of PyTorch's door, as Lucid's.

    Args:
        module: The module.
        kind_of: What a class is here; the class itself if None.
    """
    found = {}
    for name, value in vars(module).items():
        if name.startswith("_") or name in _NOT_NAMES or isinstance(value, ModuleType):
            continue
        if isinstance(value, FunctionType):
            value = adopting(_with_x(value))
        elif isinstance(value, type) and kind_of is not None:
            value = kind_of(value)
        found[name] = value
    return found


def _with_x(function: Any) -> Any:
    """The function, whose first argument is called x by Lucid, and input by PyTorch."""
    if "input" not in inspect.signature(function).parameters:
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        if "x" in kwargs:
            kwargs["input"] = kwargs.pop("x")
        return function(*args, **kwargs)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def lines(table: str, names: Mapping[str, Any], module: str) -> dict[str, Any]:
    """The functions that the lines of a table define, by name."""
    functions = [made(line, names, module) for line in table.strip().splitlines()]
    return {function.__name__: adopting(function) for function in functions}


def only(**options: Any) -> dict[str, Any]:
    """Nothing: options of Lucid 3 that are not here, which must be left out."""
    for name, value in options.items():
        if value not in (None, False, 0):
            remedy = ABSENT.get(name, "leave it out")
            raise NotImplementedError(f"minigrad.lucid: {name}={value!r} is not here: {remedy}")
    return {}


def constructors(table: str, **names: Any) -> dict[str, Any]:
    """Constructors with Lucid's arguments: ``RMSNorm(size, eps=1e-8) => size, eps``, by name.

    The right side is the arguments of PyTorch's constructor; after ``;`` comes the next action.
    """
    found = {}
    for line in table.strip().splitlines():
        call, _, given = line.partition(" => ")
        name, _, parameters = call.removesuffix(")").partition("(")
        given, _, then = given.partition("; ")
        own: dict[str, Any] = {}
        source = f"def __init__(self, {parameters}, **rest):\n"
        source += f"    super(kind(), self).__init__({given}, **rest)\n    {then or 'pass'}"
        scope: dict[str, Any] = {**names, "only": only}
        exec(source, scope, own)
        own["__init__"].scope = scope
        found[name] = own["__init__"]
    return found


def subclass(base: type, bases: tuple[type, ...], init: Any, module: str, **own: Any) -> type:
    """A class that is the base with Lucid's constructor, if that differs."""
    members: dict[str, Any] = {"__doc__": base.__doc__, "__module__": module, **own}
    if init is not None:
        members["__init__"] = init
    new = type(base.__name__, bases, members)
    if init is not None:
        init.scope["kind"] = lambda: new
    return new


def missing(name: str, under: ModuleType) -> Callable[[str], Any]:
    """A module's ``__getattr__``: what PyTorch's door makes on demand, or why it is not here."""

    def get(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        if f"{name}.{attribute}" in _FILES:
            return importlib.import_module(f"{name}.{attribute}")
        if attribute not in ABSENT:
            try:
                value = getattr(under, attribute)
            except AttributeError:
                pass
            else:
                return adopting(value) if isinstance(value, FunctionType) else value
        reason = ABSENT.get(attribute, "see minigrad.torch and minigrad for similar names")
        raise AttributeError(f"{name} has no {attribute!r}: {reason}")

    return get


def view(path: str, **own: Any) -> ModuleType:
    """A module of Lucid's that is one of PyTorch's door, but for some names of its own.

    Args:
        path: Its name below `lucid`, such as ``"nn.functional"``.
        **own: The names that differ from PyTorch's door.
    """
    name, under = f"minigrad.lucid.{path}", importlib.import_module(f"minigrad.torch.{path}")
    module = ModuleType(name, f"`lucid.{path}`: as in PyTorch's door, but for Lucid 3's own names.")
    vars(module).update(exported(under))
    vars(module).update(own)
    module.__getattr__ = missing(name, under)  # type: ignore[method-assign]
    sys.modules[name] = module
    return module
