"""Modules in files: what a file may name, and how an object is made of it.

An object is its class, by its import path, and its attributes. It is made by ``object.__new__`` and
gets the attributes at once: no code of its class runs, and none of the file. The class must be a
subclass of Module, Distribution or Transform (or a method of pruning) that the program has
imported. Functions are those of `minigrad.nn.functional`, which compute and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from minigrad.autograd.node import Leaf, clock
from minigrad.distributions import Distribution, Transform
from minigrad.io.errors import LoadError
from minigrad.nn import Module, functional
from minigrad.nn.module.registry import HOOKS, KINDS
from minigrad.nn.utils.prune import BasePruningMethod

SAVED = (Module, BasePruningMethod, Distribution, Transform)
FUNCTIONS = {name: getattr(functional, name) for name in vars(functional)["__all__"]}


def attributes(value: Module | BasePruningMethod | Distribution | Transform) -> dict[str, Any]:
    """What is saved of an object."""
    kind = type(value)
    if "_parametrized" in vars(kind):
        remedy = "remove the parametrizations or normalizations first, or save its state_dict()"
        raise TypeError(f"{kind.__name__} has computed parameters, which are code: {remedy}")
    return {name: part for name, part in vars(value).items() if name not in HOOKS or part}


def made(where: str, name: str, state: Any) -> Any:
    """An object of the class of that name in that module, with these attributes."""
    known = [kind for root in SAVED for kind in _subclasses(root)]
    kind = next((k for k in known[::-1] if (k.__module__, k.__qualname__) == (where, name)), None)
    if kind is None:
        what = "which is not a subclass of Module that this program has imported or defined"
        raise LoadError(f"it holds an object of class {where}.{name}, {what}: do that first")
    if hasattr(kind, "__del__"):
        raise LoadError(f"{where}.{name} has __del__, which would run: save its state_dict()")
    if type(state) is not dict or not all(type(key) is str for key in state):
        raise LoadError(f"damaged: the attributes of a {name} are not a dict")
    if issubclass(kind, Module):
        registered = state.get("_registered")
        if type(registered) is not dict or not {*registered.values()} <= KINDS:
            raise LoadError(f"damaged: a {name} does not say what its parts are")
        tables = {table: state.get(table, {}) for table in HOOKS}
        if not all(type(hooks) is dict for hooks in tables.values()):
            raise LoadError(f"damaged: the hooks of a {name} are not dicts")
        # The keys count the hooks of a process.
        state |= {t: {next(clock): hook for hook in tables[t].values()} for t in HOOKS}
    value: Any = object.__new__(kind)
    vars(value).update(state)
    return value


def name_leaves(module: Module) -> None:
    """Tell the leaves of a module's parameters their names, as an assignment does."""
    for name, parameter in module._own_parameters():
        if isinstance(parameter._node, Leaf):
            parameter._node.name = name


def _subclasses(kind: type) -> Iterator[Any]:
    """A class and those made of it, older ones first; without those of parametrized modules."""
    if "_parametrized" not in vars(kind):
        yield kind
        yield from chain.from_iterable(map(_subclasses, type.__subclasses__(kind)))
