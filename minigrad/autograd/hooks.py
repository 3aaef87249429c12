"""Hooks and retained gradients: who else wants to see a cotangent when it has fully arrived.

Hardly any node has either, so a pass asks once whether any exist.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from minigrad.autograd.node import Leaf, Node, Variable, clock
from minigrad.autograd.results import wrap

__all__ = ["Removable", "add_hook", "hooked_nodes", "rebind", "retain", "retained_nodes",
           "run_hooks"]  # fmt: skip

hooked_nodes: weakref.WeakSet[Node] = weakref.WeakSet()
"""Interior nodes with hooks; leaves have theirs with them."""

retained_nodes: weakref.WeakKeyDictionary[Node, weakref.ref[Variable]] = weakref.WeakKeyDictionary()
"""Interior nodes whose tensor asked for its gradient."""


class Removable:
    """What registering a hook returns: call it, or its ``remove``, to take the hook away.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2, requires_grad=True)
        >>> handle = x.register_hook(print)
        >>> x.sum().backward()
        Tensor([1., 1.], dtype=float32)
        >>> handle.remove()
        >>> x.sum().backward()
    """

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks = hooks
        self._key = next(clock)  # never used again, so that removing twice is harmless
        hooks[self._key] = hook

    def remove(self) -> None:
        """Take the hook away; harmless if it is gone already."""
        self._hooks.pop(self._key, None)

    __call__ = remove


def add_hook(node: Node | Leaf, hook: Callable[[Any], Any]) -> Removable:
    """Have `hook` see, and perhaps replace, the full cotangent of a node, once per pass.

    Args:
        node: A node or leaf.
        hook: Gets a tensor; what it returns, unless None, takes its place.

    Returns:
        A callable that removes the hook again.

    Raises:
        TypeError: The hook cannot be called.
    """
    if not callable(hook):
        raise TypeError(f"register_hook: a function expected, got {type(hook).__name__}")
    if isinstance(node, Node) and node not in hooked_nodes:
        node.hooks = {}
        hooked_nodes.add(node)
    return Removable(node.hooks, hook)


def retain(tensor: Variable) -> None:
    """Have backward passes store the full cotangent of an interior tensor in its ``.grad``."""
    if isinstance(tensor._node, Node):
        retained_nodes[tensor._node] = weakref.ref(tensor)


def rebind(tensor: Variable, node: Node) -> None:
    """Have a tensor stand for another node after an in-place op; what it retains goes with it."""
    before, tensor._node = tensor._node, node
    if isinstance(before, Node) and retained_nodes.pop(before, None) is not None:
        retain(tensor)


def run_hooks(hooks: dict[int, Callable[[Any], Any]], arrival: Any) -> None:
    """Show the hooks a cotangent that has fully arrived; what they return takes its place."""
    recorded = isinstance(arrival._data, Variable)
    for hook in list(hooks.values()):
        seen = arrival._data if recorded else wrap(arrival._data)
        replaced = hook(seen)
        if replaced is None:
            continue
        if not isinstance(replaced, Variable) or replaced._data.shape != arrival.target.shape:
            raise ValueError(
                f"a gradient hook returned {type(replaced).__name__} "
                f"{getattr(replaced, 'shape', '')}; None or a Tensor of shape "
                f"{arrival.target.shape} was expected"
            )
        replaced = replaced.astype(arrival.target.dtype)  # type: ignore[attr-defined]
        arrival._data = replaced if recorded else replaced._data
