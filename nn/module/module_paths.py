"""Paths of modules such as "encoder.layers.0": walking, replacing, finding one for a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minigrad.nn.module.base import Module


def join(prefix: str, name: str) -> str:
    """`prefix.name`, or the one of the two that is not empty."""
    return f"{prefix}.{name}" if prefix and name else prefix or name


def walk(module: Module, prefix: str = "") -> Iterator[tuple[str, Module]]:
    """Iterate over (path, module), parents first; a shared module once for each path."""
    yield prefix, module
    for name, child in module.named_children():
        yield from walk(child, join(prefix, name))


def replaced(model: Module, parts: Mapping[int, Module]) -> Module:
    """Put parts in the place of the modules with their ids, also of the model itself."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if id(child) in parts:
                setattr(parent, name, parts[id(child)])
    return parts.get(id(model), model)


def path_to(caller: Module, module: Module) -> str:
    """The path from `caller` to a module that it calls, such as "linear1" or "layers.0".

    Each module stores its last path as a hint. The hint is checked, because a shared module has
    several paths, and positions in a list can change.
    """
    hint: str = module._name
    if caller.__dict__.get(hint) is module or caller._child(hint) is module:  # the usual case
        return hint
    holder: Module | None = caller
    for name in hint.split("."):
        holder = None if holder is None else holder._child(name)
    if holder is module:
        return hint
    return _search(caller, module) or type(module).__name__


def _search(caller: Module, module: Module) -> str | None:
    """The shortest path from one module down to another (breadth first), or None."""
    level = [("", caller)]
    while level:
        level = [
            (join(path, name), child)
            for path, holder in level
            for name, child in holder.named_children()
        ]
        for path, child in reversed(level):  # the first of several paths is stored last
            child._name = path
        if any(child is module for _, child in level):
            return module._name
    return None
