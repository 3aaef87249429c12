"""The memory that a graph keeps alive until its backward pass: by op, module and line."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Node, Variable, node_of
from minigrad.autograd.views import owner
from minigrad.support.tree import leaves
from minigrad.tracing.lines import Lines, lines_of_nodes


@dataclass(frozen=True)
class OpMemory:
    """The memory that the nodes of one op keep alive; or those of one module, or line.

    Attributes:
        name: The op; the path of the module; or the line.
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
    """The memory that a graph keeps alive; printed as a table, with modules if lines are known.

    Attributes:
        ops: One entry for each op, the largest first.
        leaf_nbytes: The bytes of saved leaves, which stay alive without the graph too.
        modules: The same bytes by the innermost module; empty if no op ran in a module.
        lines: The same bytes by line, as far as a debugging block saw the nodes made.

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
    modules: tuple[OpMemory, ...] = ()
    lines: tuple[OpMemory, ...] = ()

    @property
    def nbytes(self) -> int:
        """The bytes that are freed with the graph; leaves are not counted."""
        return sum(op.nbytes for op in self.ops)

    def __str__(self) -> str:
        rows = [*_rows("op", self.ops), ("in all", str(self._nodes), readable(self.nbytes))]
        rows.append(("leaves", "", readable(self.leaf_nbytes)))
        if self.lines:
            for what, parts in (("module", self.modules), ("line", self.lines)):
                rows += [("", "", ""), *_rows(what, parts)] if parts else []
        width = max(len(name) for name, _, _ in rows)
        return "\n".join(f"{name:{width}}{n:>9}{size:>14}".rstrip() for name, n, size in rows)

    @property
    def _nodes(self) -> int:
        return sum(op.nodes for op in self.ops)


def _rows(what: str, parts: tuple[OpMemory, ...]) -> list[tuple[str, str, str]]:
    return [(what, "nodes", "bytes"), *((p.name, str(p.nodes), readable(p.nbytes)) for p in parts)]


def graph_memory(*outputs: Any) -> GraphMemory:
    """Count the bytes that the graph of some tensors keeps alive, by op.

    Memory that several nodes share is counted once, for the oldest node. For a view, the whole
    array behind it is counted. The outputs are counted only if a node saved them.

    Args:
        *outputs: Tensors with a history. Or functions without arguments that compute them: they are
            run once, and the lines of the program are named too. So they are for tensors that were
            computed in a block of `detect_anomaly`.

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
    with Lines():
        results = [value for output in outputs for value in _tensors(output)]
    behind = nodes_behind(*map(history, results))
    leaves = [node for node in behind if isinstance(node, Leaf)]
    nodes = [node for node in behind if isinstance(node, Node)]
    of_leaves = {id(owner(leaf.tensor._data)) for leaf in leaves if leaf.tensor is not None}
    seen: dict[int, np.ndarray] = {}  # kept alive, so that no address is used twice
    leaf_nbytes = 0
    tables: tuple[dict[Any, list[int]], ...] = ({}, {}, {})
    for node in sorted(nodes, key=lambda node: node.stamp):
        nbytes = 0
        for array in () if node.freed else arrays(node.saved):
            memory = owner(array)
            if id(memory) in seen:
                continue
            seen[id(memory)] = memory
            if id(memory) in of_leaves:
                leaf_nbytes += memory.nbytes
            else:
                nbytes += memory.nbytes
        scope = node.scope and (node.scope.path or node.scope.kind)
        for table, key in zip(tables, (node.plan.op, scope, lines_of_nodes.get(node)), strict=True):
            if key is not None:
                tally = table.setdefault(key, [0, 0])
                tally[0] += 1
                tally[1] += nbytes
    ops, modules, lines = map(_sorted, tables)
    return GraphMemory(ops, leaf_nbytes, modules, lines)


def _tensors(output: Any) -> Iterable[Any]:
    """The tensors that an output of `graph_memory` contains."""
    value = output() if callable(output) else output
    values = value if isinstance(value, tuple | list) else (value,)
    for one in values:
        if not isinstance(one, Variable):
            raise TypeError(
                f"graph_memory: tensors, or functions that compute them, expected, got "
                f"{type(one).__name__}"
            )
    return values


def _sorted(table: dict[Any, list[int]]) -> tuple[OpMemory, ...]:
    parts = [OpMemory(getattr(key, "name", key), *tally) for key, tally in table.items()]
    return tuple(sorted(parts, key=lambda part: (-part.nbytes, part.name)))


def nodes_behind(*sources: Any, known: Container[Any] = ()) -> dict[Node | Leaf, None]:
    """All nodes and leaves behind some edges, those first that are reached first.

    It does not go on at those that are `known`.
    """
    seen: dict[Node | Leaf, None] = {}
    stack = [node_of(source) for source in sources if source is not None]
    while stack:
        node = stack.pop()
        if node not in seen and node not in known:
            seen[node] = None
            stack.extend(node.parents if isinstance(node, Node) else ())
    return seen


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
