"""The record of the forward pass: nodes, leaves, the edges between them, and the clock."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from minigrad.autograd.scope import Frame, Scope, module_call

if TYPE_CHECKING:
    from minigrad.autograd.plan import Plan

clock = itertools.count(1)
"""One clock stamps nodes and in-place writes, so that "older than" has one meaning."""


class FREED:
    """The mark in `Node.saved` after a backward pass."""


class Variable:
    """An array with a place in the graph; the results of ops are of its subclass `result_class`.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.node import Variable
        >>> isinstance(minigrad.ones(3), Variable)
        True
    """

    _data: np.ndarray
    _node: Edge | None = None  # the output of an op that it is, or its leaf
    _grad: Any = None
    _base: Variable | None = None  # the tensor whose memory this one views, if an op made the view
    _current: float = 0  # without a history: the time up to which it knows of recorded writes

    result_class: type[Variable]  # what the results of ops are
    of_module = False  # whether it is a parameter or a buffer, which lives without a graph

    def _read_again(self) -> None:
        """Take the history that a view has after a recorded write to its base."""
        raise NotImplementedError


class Node:
    """One recorded call of an op.

    Attributes:
        plan: The op's plan: its name, its rules, what `saved` holds.
        edges: For each argument that needs a gradient, the node, `Output` or leaf it came from.
        saved: What the rules asked for, and nothing else; a pass leaves `FREED` in place of arrays.
        shape: The shape of the output, of the first one if there are several.
        dtype: The dtype of the output, of the first one if there are several.
        types: Shape and dtype of each output; unset unless the op has several.
        stamp: The time of the call. Inputs are always older than outputs.
        frame: The call that the op was made in, of a module or of a function, or that returned it.
        watches: For an output, its hooks and who retains its gradient; unset until there is one.

    Example:
        >>> import minigrad
        >>> node = (3 * minigrad.ones(2, requires_grad=True))._node
        >>> node.plan.op.name, node.plan.slot_names, node.plan.saved_names, node.saved
        ('multiply', ('b',), ('a',), (3,))
    """

    __slots__ = (
        "__weakref__", "dtype", "edges", "frame", "plan", "saved", "shape", "stamp", "types",
        "watches",
    )  # fmt: skip

    plan: Plan
    edges: tuple[Edge, ...]
    saved: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    types: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
    stamp: int
    frame: Frame | None
    watches: dict[int, Watch]

    @property
    def scope(self) -> Scope | None:
        """The module call that the op was made in, None outside of modules."""
        return module_call(self.frame)

    @property
    def freed(self) -> bool:
        """Whether a backward pass has freed what it saved."""
        return self.saved is FREED

    @property
    def parents(self) -> tuple[Node | Leaf, ...]:
        """The nodes and leaves behind the edges."""
        return tuple([node_of(edge) for edge in self.edges])

    @property
    def outputs(self) -> tuple[Edge, ...]:
        """Its outputs as edges name them: the node itself if it has one."""
        if not self.plan.op.multiple_outputs:
            return (self,)
        return tuple([Output(self, number) for number in range(len(self.types))])

    def __repr__(self) -> str:
        return f"Node({self.plan.op.name}, shape={self.shape}, stamp={self.stamp})"


@dataclass
class Watch:
    """Who asked to see the cotangent of an interior output: hooks, and a tensor that retains it."""

    hooks: dict[int, Any] = field(default_factory=dict)
    retained: weakref.ref[Variable] | None = None


class Output(NamedTuple):
    """One output of a node that has several; `Node.outputs` makes them, and equal ones are one.

    Example:
        >>> import minigrad
        >>> sign, logdet = minigrad.linalg.slogdet(minigrad.ones(1, 1, requires_grad=True))
        >>> logdet._node.number, logdet._node.node.plan.op.name
        (1, 'slogdet')
    """

    node: Node
    number: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return self.node.types[self.number][0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the output."""
        return self.node.types[self.number][1]

    @property
    def stamp(self) -> int:
        """The time of the call."""
        return self.node.stamp


class Leaf:
    """The end of a path: where the gradient of a tensor that the user made arrives.

    Attributes:
        tensor: The tensor, None once it is gone: it is held weakly, since it holds its leaf.
        name: What the module that registered the tensor calls it, if any did.
        shape: The shape of the tensor.
        dtype: The dtype of the tensor.
        stamp: The time at which the leaf was made.
        hooks: Functions that see, and may replace, the full gradient.
        post_hooks: Functions that are called with the tensor once its ``.grad`` is written.

    Example:
        >>> from minigrad import nn
        >>> nn.Linear(2, 3).weight._node
        Leaf(weight, shape=(3, 2))
    """

    __slots__ = ("__weakref__", "_tensor", "dtype", "hooks", "name", "post_hooks", "shape", "stamp")

    def __init__(self, tensor: Variable) -> None:
        self._tensor = weakref.ref(tensor)
        self.name: str | None = None
        self.shape: tuple[int, ...] = tensor._data.shape
        self.dtype: np.dtype[Any] = tensor._data.dtype
        self.stamp = next(clock)
        self.hooks: dict[int, Any] = {}
        self.post_hooks: dict[int, Any] = {}

    @property
    def tensor(self) -> Any | None:
        """The tensor, or None once it is gone."""
        return self._tensor()

    def is_changed_since(self, stamp: int) -> bool:
        """Test whether it was made, or given a hook that it has, after a time."""
        return max((self.stamp, *self.hooks, *self.post_hooks)) > stamp

    def __repr__(self) -> str:
        return f"Leaf({self.name or 'unnamed'}, shape={self.shape})"


Edge: TypeAlias = Node | Leaf | Output
"""The origin of an argument."""


def node_of(edge: Any) -> Any:
    """The node behind an edge; a leaf, and None, is itself."""
    return edge.node if isinstance(edge, Output) else edge


def data_of(thing: Any) -> Any:
    """The array of a tensor; anything else is itself."""
    return thing._data if isinstance(thing, Variable) else thing


def nodes_behind(*edges: Any, since: int = 0, known: Container[Any] = ()) -> Iterator[Node | Leaf]:
    """All nodes and leaves behind some edges, each once, those first that are reached first.

    It does not go on at nodes older than `since`, and leaves out those that are `known`.
    """
    seen: set[Node | Leaf] = set()
    stack = [node_of(edge) for edge in edges if edge is not None]
    while stack:
        node = stack.pop()
        if node not in seen and node not in known:
            seen.add(node)
            yield node
            if isinstance(node, Node) and node.stamp >= since:
                stack.extend(node.parents)
