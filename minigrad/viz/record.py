"""From the engine's record, a finished graph, to what a diagram is made of.

What is read here is all that viz knows of the record: an op's name and arguments, the edges of a
node, shapes, dtypes, stamps, the module call, what was saved, and the tensor and name of a leaf.
Every walk is a loop, and sees each node once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad.autograd.memory import arrays
from minigrad.autograd.node import FREED, Leaf, Node
from minigrad.autograd.results import pick
from minigrad.viz.assemble import Entry, Input
from minigrad.viz.model import Saved
from minigrad.viz.tape import summary

__all__ = ["read", "saved_by"]

EMPTY: Mapping[Any, Entry] = MappingProxyType({})


def read(
    sources: Iterable[Node | Leaf], known: Mapping[Any, Entry] = EMPTY
) -> dict[Node | Leaf, Entry]:
    """Read what the engine recorded.

    Args:
        sources: Where the outputs come from.
        known: What was read before; it is not read again.

    Returns:
        An entry for everything else above them, oldest first; the outputs of one op share one.
    """
    entries: dict[Node | Leaf, Entry] = {}
    for record in _walk(list(sources), known):
        if isinstance(record, Leaf):
            entries[record] = Entry("input", "", record.shape, record.dtype.name, leaf=record)
            continue
        plan = record.plan
        if plan.op is pick:  # one output of an op that has several: the op stands for all
            entries[record] = entries.get(record.edges[0]) or known[record.edges[0]]
            continue
        shape: Any = record.shape
        dtype: Any = record.dtype
        if plan.op.several:
            shape, dtype = shape[0], dtype[0]
        entry = Entry("op", plan.op.name, shape, dtype.name, record.scope, saved=saved_by(record))
        entry.freed = record.saved is FREED and bool(plan.saved_names)
        for source, slot, name in zip(record.edges, plan.slots, plan.slot_names, strict=True):
            above = entries.get(source) or known[source]
            entry.inputs.append(Input(above, slot, name, source.shape, source.dtype.name))
        entries[record] = entry
    return entries


def saved_by(node: Node, numbers: bool = False) -> tuple[Saved, ...]:
    """The arrays that a node keeps for its backward step; none once it has run."""
    if node.saved is FREED:
        return ()
    return tuple(
        Saved(
            name, array.shape, array.dtype.name, array.nbytes, summary(array) if numbers else None
        )
        for name, value in zip(node.plan.saved_names, node.saved, strict=True)
        for array in arrays(np.asarray(value) if isinstance(value, np.generic) else value)
    )


def _walk(sources: Sequence[Node | Leaf], known: Mapping[Any, Entry]) -> list[Node | Leaf]:
    """Everything above the outputs, oldest first."""
    found = dict.fromkeys(source for source in sources if source not in known)
    stack = list(found)
    while stack:
        record = stack.pop()
        if isinstance(record, Node):
            for source in record.edges:
                if source not in found and source not in known:
                    found[source] = None
                    stack.append(source)
    return sorted(found, key=lambda record: record.stamp)
