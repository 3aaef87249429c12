"""Hooks: functions that see, and may replace, a gradient; and gradients that are retained."""

import weakref
from collections.abc import Callable
from typing import Any, Self

from minigrad.autograd.engine import hooked, watch_of
from minigrad.autograd.mode import version
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Leaf, Node, Output, Variable, clock


class Removable:
    """A handle of a registered hook; calling it, or its ``remove``, takes the hook away.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2, requires_grad=True)
        >>> handle = x.register_hook(print)
        >>> x.sum().backward()
        tensor([1., 1.])
        >>> handle.remove()
        >>> x.sum().backward()
        >>> with x.register_hook(print):  # for a block
        ...     x.sum().backward()
        tensor([1., 1.])
    """

    def __init__(self, hooks_dict: dict[int, Any]) -> None:
        self._hooks = hooks_dict
        self.id = next(clock)  # never used again, so that removing twice is harmless

    def remove(self) -> None:
        """Take the hook away; harmless if it is gone already."""
        self._hooks.pop(self.id, None)
        version.move()

    __call__ = remove

    def hooks_dict_ref(self) -> dict[int, Any]:
        """Return the table of the hook; PyTorch's name."""
        return self._hooks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register(hooks: dict[int, Any], hook: Any, prepend: bool = False) -> Removable:
    """Put a hook into a table, behind the others or before them."""
    handle = Removable(hooks)
    others = list(hooks.items()) if prepend else []
    for key, _ in others:
        del hooks[key]
    hooks[handle.id] = hook
    hooks.update(others)
    version.move()
    return handle


def add_hook(edge: Edge, hook: Callable[[Any], Any]) -> Removable:
    """Show `hook` the full cotangent of a leaf or an output, once per pass, as a tensor.

    What it returns, unless None, takes the cotangent's place.
    """
    if isinstance(edge, Leaf):
        hooked.add(edge)
        return register(edge.hooks, hook)
    return register(watch_of(edge).hooks, hook)


def add_post_hook(leaf: Leaf, hook: Callable[[Any], Any]) -> Removable:
    """Call `hook` with a leaf's tensor as soon as a backward pass has written its ``.grad``."""
    hooked.add(leaf)
    return register(leaf.post_hooks, hook)


def retain(tensor: Variable) -> None:
    """Have backward passes store the full cotangent of an interior tensor in its ``.grad``."""
    edge = history(tensor)
    if isinstance(edge, Node | Output):
        watch_of(edge).retained = weakref.ref(tensor)
