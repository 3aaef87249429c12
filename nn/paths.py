"""Paths in the tree of modules: joining names, walking, and the path by which a call is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minigrad.nn.module import Module


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

    The module keeps the last name it was found under as a hint. The hint is checked, not trusted: a
    shared module has a name in each of its parents, and positions in a list shift.
    """
    if caller._child(module._name) is module:
        return module._name
    path = _path_through_lists(caller, module)
    if path is None:  # called from further up than its parent, or no part of the caller at all
        found = (path for path, below in walk(caller) if below is module and path)
        path = next(found, type(module).__name__)
    return path


def _path_through_lists(holder: Module, module: Module) -> str | None:
    """The path to a child, or to a child of a list or dict of modules, which is never called."""
    for name, child in holder.named_children():
        if child is module:
            module._name = name
            return name
        if not child._is_called:
            if child._child(module._name) is module:
                return f"{name}.{module._name}"
            below = _path_through_lists(child, module)
            if below is not None:
                return f"{name}.{below}"
    return None
