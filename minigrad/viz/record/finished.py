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

from minigrad.autograd.node import FREED, Edge, Leaf, Node, Variable, node_of
from minigrad.autograd.primitive import REQUIRED, Primitive
from minigrad.debugging.memory import arrays
from minigrad.viz.record.assembly import Entry, Input
from minigrad.viz.record.model import UNKNOWN, Saved
from minigrad.viz.record.steps import summary

__all__ = ["notes", "read", "saved_by"]

EMPTY: Mapping[Any, Entry] = MappingProxyType({})


def read(sources: Iterable[Edge], known: Mapping[Any, Entry] = EMPTY) -> dict[Edge, Entry]:
    """Read what the engine recorded.

    Args:
        sources: Where the outputs come from.
        known: What was read before; it is not read again.

    Returns:
        An entry for everything else above them, oldest first; the outputs of one op share one.
    """
    entries: dict[Any, Entry] = {}
    constants: dict[int, Entry] = {}
    for record in _walk(list(sources), known):
        if isinstance(record, Leaf):
            entries[record] = Entry("input", "", record.shape, record.dtype.name, leaf=record)
            continue
        plan = record.plan
        entry = Entry(
            "op", plan.op.name, record.shape, record.dtype.name, record.scope,
            saved=saved_by(record), primitive=plan.op,
        )  # fmt: skip
        entry.freed = record.saved is FREED and bool(plan.saved_names)
        entry.notes, given = _others(record)
        for slot, name, array in given:
            constant = constants.get(id(array))
            if constant is None:
                constant = Entry("constant", name, array.shape, array.dtype.name, record.scope)
                constants[id(array)] = entries[constant] = constant
            entry.inputs.append(Input(constant, slot, name, array.shape, array.dtype.name))
        for source, slot, name in zip(record.edges, plan.slots, plan.slot_names, strict=True):
            above = entries.get(source) or known[source]
            entry.inputs.append(Input(above, slot, name, source.shape, source.dtype.name))
        entry.inputs.sort(key=lambda one: one.slot)
        entries.update(dict.fromkeys((record, *record.outputs), entry))
    return entries


def _others(node: Node) -> tuple[tuple[str, ...], list[tuple[int, str, np.ndarray]]]:
    """What is known of the arguments that require no gradient: in notes, and the arrays."""
    op, plan = node.plan.op, node.plan
    saved = {} if node.saved is FREED else dict(zip(plan.saved_names, node.saved, strict=True))
    if op.variadic:
        gaps = sorted({*range(max(plan.slots, default=0))} - {*plan.slots})
        missing = [f"{op.params[0]}[{slot}]" for slot in gaps]
        given = {name: value for name, value in saved.items() if name in op.params[1:]}
    else:
        recorded = {op.params[slot] for slot in plan.slots}
        needed = zip(op.params[: op.arrays], op.defaults, strict=False)
        missing = [
            name
            for name, default in needed
            if default is REQUIRED and name not in recorded and name not in saved
        ]
        given = {n: value for n, value in saved.items() if n in op.params and n not in recorded}
    arrays = [
        (op.places[name], name, value)
        for name, value in given.items()
        if isinstance(value, np.ndarray) and value.ndim
    ]
    return (*notes(op, given), *(name + UNKNOWN for name in missing)), arrays


def notes(op: Primitive, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The numbers and static arguments that are not the defaults, one a line."""
    written = []
    for name, default in zip(op.params, op.defaults, strict=True):
        value = arguments.get(name)
        if (op.variadic and name == op.params[0]) or value is None or isinstance(value, Variable):
            continue
        if name.endswith("key"):
            continue  # of a random stream: a number that says nothing
        if isinstance(value, np.ndarray):
            if value.ndim:
                continue
            value = value[()]
        if value is not default and value != default:
            text = str(value) if isinstance(value, np.generic) else repr(value)
            written.append(f"{name} = {text if len(text) <= 32 else text[:31] + '…'}")
    return tuple(written)


def saved_by(node: Node, numbers: bool = False) -> tuple[Saved, ...]:
    """The arrays that a node keeps for its backward step; none once it has run.

    Constants come with their numbers: nothing else in a graph tells two of them apart.
    """
    if node.saved is FREED:
        return ()
    made = {"out", *node.plan.op.residuals, *node.plan.slot_names}
    return tuple(
        Saved(
            name,
            array.shape,
            array.dtype.name,
            array.nbytes,
            summary(array) if numbers or name not in made else None,
        )
        for name, value in zip(node.plan.saved_names, node.saved, strict=True)
        for array in arrays(np.asarray(value) if isinstance(value, np.generic) else value)
    )


def _walk(sources: Sequence[Edge], known: Mapping[Any, Entry]) -> list[Node | Leaf]:
    """Everything above the outputs, oldest first."""
    found = dict.fromkeys(node_of(source) for source in sources if source not in known)
    stack = list(found)
    while stack:
        record = stack.pop()
        if isinstance(record, Node):
            for source in record.parents:
                if source not in found and source not in known:
                    found[source] = None
                    stack.append(source)
    return sorted(found, key=lambda record: record.stamp)
