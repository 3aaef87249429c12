"""The record that the forward pass leaves: nodes, leaves, and the clock that orders them."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from minigrad.autograd.mode import Scope
    from minigrad.autograd.plan import Plan

__all__ = ["FREED", "Leaf", "Node", "Variable", "clock"]

clock = itertools.count(1)
"""One clock stamps nodes and in-place writes, so that "older than" has one meaning."""


class _Freed:
    """What stands in `Node.saved` once a backward pass has used the node up."""

    def __repr__(self) -> str:
        return "FREED"


FREED: Final = _Freed()


class Variable:
    """An array with a place in the graph; `minigrad.Tensor` is built on it.

    The subclass declared with ``results=True`` is the class of everything that ops return.
    Nothing below `_tensor.py` needs to import it.

    Example:
        >>> import minigrad
        >>> isinstance(minigrad.ones(3), minigrad.autograd.Variable)
        True
    """

    _data: np.ndarray
    _node: Node | Leaf | None = None
    _grad: Any = None
    _base: Variable | None = None  # the tensor whose memory this one views, if an op made the view
    _current: float = 0  # without a history: the time up to which it knows of recorded writes

    result_class: type[Variable]

    def __init_subclass__(cls, results: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if results:
            Variable.result_class = cls

    def _read_again(self) -> None:
        """Take the history that a view has after a recorded write to its base."""
        raise NotImplementedError


class Node:
    """One recorded call of an op.

    Attributes:
        plan: The op's plan: its name, its rules, what `saved` holds.
        edges: For each argument that needs a gradient, the node or leaf it came from.
        saved: What the rules asked for, and nothing else; `FREED` after a backward pass.
        shape: The shape of the output.
        dtype: The dtype of the output.
        stamp: The time of the call. Inputs are always older than outputs.
        scope: The module call that the op was made in, None outside of modules.
        hooks: Functions that see the full cotangent; unset until the first is registered.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> node = (3 * x)._node
        >>> node.plan.op.name, node.plan.slot_names, node.shape
        ('multiply', ('b',), (2,))
        >>> node.plan.saved_names, node.saved
        (('a',), (3,))
    """

    __slots__ = (
        "__weakref__", "dtype", "edges", "hooks", "plan", "saved", "scope", "shape", "stamp",
    )  # fmt: skip

    plan: Plan
    edges: tuple[Node | Leaf, ...]
    saved: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stamp: int
    scope: Scope | None
    hooks: dict[int, Any]

    @property
    def freed(self) -> bool:
        """Whether a backward pass has already used this node up."""
        return self.saved is FREED

    def __repr__(self) -> str:
        return f"Node({self.plan.op.name}, shape={self.shape}, stamp={self.stamp})"


class Leaf:
    """The end of a path: where the gradient of a tensor that the user made arrives.

    Args:
        tensor: The tensor; held weakly, since it holds its leaf.

    Attributes:
        name: What the module that registered the tensor calls it, if any did.
        shape: The shape of the tensor.
        dtype: The dtype of the tensor.
        stamp: The time at which the leaf was made.
        hooks: Functions that see, and may replace, the full gradient.

    Example:
        >>> from minigrad import nn
        >>> nn.Linear(2, 3).weight._node
        Leaf(weight, shape=(3, 2))
    """

    __slots__ = ("__weakref__", "_tensor", "dtype", "hooks", "name", "shape", "stamp")

    def __init__(self, tensor: Variable) -> None:
        self._tensor = weakref.ref(tensor)
        self.name: str | None = None
        self.shape: tuple[int, ...] = tensor._data.shape
        self.dtype: np.dtype[Any] = tensor._data.dtype
        self.stamp = next(clock)
        self.hooks: dict[int, Any] = {}

    @property
    def tensor(self) -> Any | None:
        """The tensor, or None once it is gone."""
        return self._tensor()

    def __repr__(self) -> str:
        return f"Leaf({self.name or 'unnamed'}, shape={self.shape})"
