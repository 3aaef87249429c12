"""The memory that a graph keeps alive until its backward pass, by op."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.mutation import history, owner
from minigrad.autograd.node import Leaf, Node, node_of
from minigrad.autograd.primitive import Primitive

__all__ = ["GraphMemory", "OpMemory", "arrays", "graph_memory", "readable"]


@dataclass(frozen=True)
class OpMemory:
    """The memory that the nodes of one op keep alive.

    Attributes:
        name: The op.
        nodes: The number of its nodes in the graph.
        nbytes: The bytes that they saved and that no earlier node had saved.

    Example:
        >>> from minigrad.autograd import OpMemory
        >>> OpMemory("multiply", nodes=2, nbytes=800).nbytes
        800
    """

    name: str
    nodes: int
    nbytes: int


@dataclass(frozen=True)
class GraphMemory:
    """The memory that a graph keeps alive; printed as a table.

    Attributes:
        ops: One entry for each op, the largest first.
        leaf_nbytes: The bytes of saved leaves, which stay alive without the graph too.

    Example:
        >>> from minigrad.autograd import GraphMemory, OpMemory
        >>> print(GraphMemory((OpMemory("exp", 1, 2048),), leaf_nbytes=16))
        op        nodes         bytes
        exp           1       2.0 KiB
        in all        1       2.0 KiB
        leaves                   16 B
    """

    ops: tuple[OpMemory, ...]
    leaf_nbytes: int

    @property
    def nbytes(self) -> int:
        """The bytes that are freed with the graph; leaves are not counted."""
        return sum(op.nbytes for op in self.ops)

    def __str__(self) -> str:
        rows = [(op.name, str(op.nodes), readable(op.nbytes)) for op in self.ops]
        rows.append(("in all", str(sum(op.nodes for op in self.ops)), readable(self.nbytes)))
        rows.append(("leaves", "", readable(self.leaf_nbytes)))
        width = max(len(name) for name, _, _ in rows)
        lines = [f"{'op':{width}}{'nodes':>9}{'bytes':>14}"]
        lines += [f"{name:{width}}{nodes:>9}{size:>14}" for name, nodes, size in rows]
        return "\n".join(lines)


def graph_memory(*outputs: Any) -> GraphMemory:
    """Count the bytes that the graph of some tensors keeps alive, by op.

    Memory that several nodes share is counted once, for the oldest node. For a view, the whole
    array behind it is counted. The outputs are counted only if a node saved them.

    Args:
        *outputs: Tensors with a history.

    Returns:
        The bytes by op; those of leaves are counted separately.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import graph_memory
        >>> x = minigrad.ones(1000, requires_grad=True)
        >>> loss = (minigrad.exp(x) * 2.0).sum()
        >>> graph_memory(loss).nbytes  # exp saved its output; multiply and sum saved no array
        4000
        >>> loss.backward()
        >>> graph_memory(loss).nbytes
        0
    """
    nodes, leaves = _walk([history(output) for output in outputs])
    of_leaves = {id(owner(leaf.tensor._data)) for leaf in leaves if leaf.tensor is not None}
    seen: dict[int, np.ndarray] = {}  # kept alive, so that no address is used twice
    leaf_nbytes = 0
    tallies: dict[Primitive, list[int]] = {}
    for node in sorted(nodes, key=lambda node: node.stamp):
        tally = tallies.setdefault(node.plan.op, [0, 0])
        tally[0] += 1
        for array in () if node.freed else arrays(node.saved):
            memory = owner(array)
            if id(memory) in seen:
                continue
            seen[id(memory)] = memory
            if id(memory) in of_leaves:
                leaf_nbytes += memory.nbytes
            else:
                tally[1] += memory.nbytes
    ops = [OpMemory(op.name, count, size) for op, (count, size) in tallies.items()]
    ops.sort(key=lambda op: (-op.nbytes, op.name))
    return GraphMemory(tuple(ops), leaf_nbytes)


def _walk(sources: list[Any]) -> tuple[list[Node], list[Leaf]]:
    seen: dict[Node | Leaf, None] = {}
    stack = [node_of(source) for source in sources if source is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack.extend(node.parents if isinstance(node, Node) else ())
    return (
        [node for node in seen if isinstance(node, Node)],
        [node for node in seen if isinstance(node, Leaf)],
    )


def arrays(saved: Any) -> Iterator[np.ndarray]:
    """The arrays in what a node saved; an object that holds some lists them as `arrays`."""
    if isinstance(saved, np.ndarray):
        yield saved
    elif isinstance(saved, tuple | list):
        for value in saved:
            yield from arrays(value)
    else:
        yield from getattr(saved, "arrays", ())


def readable(nbytes: int) -> str:
    """A number of bytes with its unit: ``2.0 KiB``."""
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
