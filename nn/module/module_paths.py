"""Paths in the tree of modules: joining names, walking, and the path by which a call is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minigrad.nn.module.base import Module


def join(prefix: str, name: str) -> str:
    """`prefix.name`, or the one of the two that is not empty."""
    return f"{prefix}.{name}" if prefix and name else prefix or name


def walk(module: Module, prefix: str = "") -> Iterator[tuple[str, Module]]:
    """Every path of the tree, parents first; a module that is shared comes once for each path."""
    yield prefix, module
    for name, child in module.named_children():
        yield from walk(child, join(prefix, name))


def path_to(caller: Module, module: Module) -> str:
    """The path by which `caller` knows a module that it calls, such as "linear1" or "layers.0".

    Each module keeps the last path it was found under as a hint. The hint is checked, not trusted:
    a shared module has a path in each of its parents, and positions in a list shift.
    """
    hint: str = module._name
    if caller.__dict__.get(hint) is module or caller._child(hint) is module:  # mostly
        return hint
    holder: Module | None = caller
    for name in hint.split("."):
        holder = None if holder is None else holder._child(name)
    if holder is module:
        return hint
    return _search(caller, module) or type(module).__name__


def _search(caller: Module, module: Module) -> str | None:
    """The shortest path from one module down to another; None if there is none."""
    level = [("", caller)]
    while level:
        level = [
            (join(path, name), child)
            for path, holder in level
            for name, child in holder.named_children()
        ]
        for path, child in reversed(level):  # so that of several paths the first one stays
            child._name = path
        if any(child is module for _, child in level):
            return module._name
    return None
