"""The memory that a graph keeps alive until its backward pass, by op."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Node, Variable, nodes_behind
from minigrad.autograd.primitives import Primitive
from minigrad.autograd.views import owner
from minigrad.support.tree import leaves


@dataclass(frozen=True)
class GraphMemory:
    """The memory that a graph keeps alive; printed as a table.

    Attributes:
        ops: For each op its name, the number of its nodes, and the bytes that they saved and that
            no earlier node had saved; the largest first.
        leaf_nbytes: The bytes of saved leaves, which stay alive without the graph too.

    Example:
        >>> from minigrad.autograd import GraphMemory
        >>> print(GraphMemory((("exp", 1, 2048),), leaf_nbytes=16))
        op        nodes         bytes
        exp           1       2.0 KiB
        in all        1       2.0 KiB
        leaves                   16 B
    """

    ops: tuple[tuple[str, int, int], ...]
    leaf_nbytes: int

    @property
    def nbytes(self) -> int:
        """The bytes that are freed with the graph; leaves are not counted."""
        return sum(nbytes for _, _, nbytes in self.ops)

    def __str__(self) -> str:
        nodes = sum(count for _, count, _ in self.ops)
        rows = [
            ("op", "nodes", "bytes"),
            *[(op, str(count), readable(nbytes)) for op, count, nbytes in self.ops],
            ("in all", str(nodes), readable(self.nbytes)),
            ("leaves", "", readable(self.leaf_nbytes)),
        ]
        width = max(len(name) for name, _, _ in rows)
        return "\n".join([f"{name:{width}}{n:>9}{size:>14}" for name, n, size in rows])


def graph_memory(*outputs: Any) -> GraphMemory:
    """Count the bytes that the graph of some tensors keeps alive, by op.

    Memory that several nodes share is counted once, for the oldest node. For a view, the whole
    array behind it is counted. The outputs are counted only if a node saved them.

    Args:
        *outputs: Tensors with a history.

    Returns:
        The bytes by op; those of leaves are counted separately. `minigrad.debugging.Profile` counts
        the bytes by module and by line, too.

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
    for output in outputs:
        if not isinstance(output, Variable):
            raise TypeError(f"graph_memory: tensors expected, got {type(output).__name__}")
    kept, tallies = KeptMemory(), dict[Primitive, list[int]]()
    for node, sizes in kept.add(*map(history, outputs)):
        tally = tallies.setdefault(node.plan.op, [0, 0])
        tally[0] += 1
        tally[1] += sum(sizes)
    ops = [(op.name, count, nbytes) for op, (count, nbytes) in tallies.items()]
    return GraphMemory(tuple(sorted(ops, key=lambda op: (-op[2], op[0]))), kept.leaf_nbytes)


class KeptMemory:
    """The memory that some graphs keep alive: each array once, for the oldest node that saved it.

    `saved` gives the arrays that a node counts for.
    """

    def __init__(self, saved: Callable[[Node], Iterable[Any]] | None = None) -> None:
        self.leaf_nbytes = 0
        self._saved = saved or (lambda node: [array for _, array in saved_arrays(node)])
        self._nodes: set[Node | Leaf] = set()
        self._seen: dict[int, Any] = {}  # kept alive, so that no address is used twice
        self._of_leaves: set[int] = set()

    def add(self, *edges: Any) -> Iterator[tuple[Node, list[int]]]:
        """The nodes behind some edges that are new here, and the new bytes of each saved array."""
        behind = [*nodes_behind(*edges, known=self._nodes)]
        self._nodes.update(behind)
        tensors = [node.tensor for node in behind if isinstance(node, Leaf)]
        self._of_leaves |= {id(owner(tensor._data)) for tensor in tensors if tensor is not None}
        nodes = [node for node in behind if isinstance(node, Node)]
        for node in sorted(nodes, key=lambda node: node.stamp):
            yield node, [self._new(array) for array in self._saved(node)]

    def _new(self, array: Any) -> int:
        """The bytes of the memory of an array, if that is new here, and of no leaf."""
        memory = owner(array) if isinstance(array, np.ndarray) else array
        if id(memory) in self._seen:
            return 0
        self._seen[id(memory)] = memory
        if id(memory) not in self._of_leaves:
            return memory.nbytes
        self.leaf_nbytes += memory.nbytes
        return 0


def saved_arrays(node: Node) -> Iterator[tuple[str, Any]]:
    """The arrays and NumPy's numbers that a node keeps, with names; none once its step has run.

    The arrays of a tuple are numbered: ``mean[0]``, ``mean[1]``.
    """
    if node.freed:
        return
    for name, value in zip(node.plan.saved_names, node.saved, strict=True):
        several = [value] if isinstance(value, np.generic) else [*arrays(value)]
        for i, array in enumerate(several):
            yield f"{name}[{i}]" if len(several) > 1 else name, array


def arrays(saved: Any) -> Iterator[np.ndarray]:
    """The arrays in what a node saved; an object that holds some lists them as `arrays`."""
    for leaf in leaves(saved):
        yield from (leaf,) if isinstance(leaf, np.ndarray) else getattr(leaf, "arrays", ())


def readable(nbytes: int) -> str:
    """A number of bytes with its unit: ``2.0 KiB``."""
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
