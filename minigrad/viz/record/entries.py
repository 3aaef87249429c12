"""Entries, of which a diagram is made, and how they are read from the engine's nodes.

Only this file knows how the engine records an op: its arguments and edges, shapes and dtypes, time
stamps, the module call, and the saved arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.node import FREED, Edge, Leaf, Node, Output, Variable, nodes_behind
from minigrad.autograd.primitives import REQUIRED, Primitive
from minigrad.autograd.scope import Frame, FunctionCall, Scope, module_call, samples_of
from minigrad.debugging.memory import saved_arrays
from minigrad.distributed.communicators import Call
from minigrad.viz.record.held import Held
from minigrad.viz.record.model import NOT_KEPT, Cause, Kind, Saved
from minigrad.viz.record.model import Node as Box
from minigrad.viz.record.ranks import call_notes
from minigrad.viz.record.steps import summary
from minigrad.viz.record.writing import argument_text


class Input(NamedTuple):
    """An input of an entry."""

    source: Entry  # the entry that it is the output of
    slot: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    place: int  # of several outputs of the source, which one


@dataclass(eq=False)
class Entry:
    """One op that ran, or a tensor that came from outside."""

    box: Box  # how it is drawn; its id and group are not known yet
    frame: Frame | None = None  # the call that it was made in, of a module or of a function
    leaf: Leaf | None = None  # the leaf of a tensor that requires a gradient
    inputs: list[Input] = field(default_factory=list)  # what an op read
    first: Entry | None = None  # of a tensor that is drawn again: its first entry

    @property
    def scope(self) -> Scope | None:
        """The module call that it was made in, None outside of modules."""
        return module_call(self.frame)

    def change(self, **fields: Any) -> None:
        """Change fields of the box."""
        self.box = replace(self.box, **fields)

    def note(self, text: str) -> None:
        """Add a note to the box, unless it has it."""
        self.change(notes=tuple(dict.fromkeys((*self.box.notes, text))))

    def read(self, source: Entry, slot: int, name: str, tensor: Any, place: int = 0) -> None:
        """Add an input with the shape and dtype of a tensor."""
        self.inputs.append(Input(source, slot, name, tensor.shape, tensor.dtype.name, place))


def new_entry(
    kind: Kind, label: str, tensor: Any, frame: Frame | None = None, cause: Cause = "", **more: Any
) -> Entry:
    """Make an entry of a tensor's shape and dtype; `more` are further fields of its box."""
    more["cause"] = cause if kind == "op" else "given"
    return Entry(Box("", kind, label, tensor.shape, tensor.dtype.name, **more), frame)


def leaf_entry(leaf: Leaf) -> Entry:
    """Make an entry of a leaf that requires a gradient."""
    cause: Cause = "frozen" if is_frozen(leaf) else ""
    return Entry(Box("", "input", "", leaf.shape, leaf.dtype.name, cause=cause), leaf=leaf)


def is_frozen(leaf: Leaf) -> bool:
    """Whether the tensor of a leaf requires no gradient any more: a pass drops what it gets."""
    return leaf.tensor is not None and leaf.tensor._node is None


def edges_of(node: Node) -> list[tuple[Edge, int, str]]:
    """The edges of a node: where an argument came from, its position, and its name."""
    return list(zip(node.edges, node.plan.slots, node.plan.slot_names, strict=True))


def read(
    sources: Iterable[Edge],
    known: Mapping[Any, Entry] = MappingProxyType({}),
    integers: Sequence[tuple[np.ndarray, str]] = (),
) -> dict[Edge, Entry]:
    """Read the ops that the engine recorded above some edges, oldest first, but not the `known`.

    `integers` are inputs without a gradient, such as token ids and masks, and their names. Ops may
    have saved copies of them. The outputs of an op share an entry.
    """
    entries: dict[Any, Entry] = {}
    constants: dict[int, Entry] = {}
    records = sorted(nodes_behind(*sources, known=known), key=lambda record: record.stamp)
    frames = _frames(records)
    for record in records:
        if isinstance(record, Leaf):
            entries[record] = leaf_entry(record)
            continue
        op, frame = record.plan.op, frames[record]
        notes, given = _other_arguments(record)
        freed = record.saved is FREED and bool(record.plan.saved_names)
        entry = new_entry(
            "op", op.name, record, frame,
            notes=notes, saved=saved_by(record), freed=freed, primitive=op,
        )  # fmt: skip
        for slot, name, array in given:
            constant = constants.get(id(array))
            if constant is None:
                inputs = [n for one, n in integers if np.array_equal(one.ravel(), array.ravel())]
                kind: Kind = "input" if inputs else "constant"
                constant = new_entry(kind, (*inputs, name)[0], array, frame)
                constant.change(value=summary(array))
                constants[id(array)] = entries[constant] = constant
            entry.read(constant, slot, name, array)
        for source, slot, name in edges_of(record):
            place = source.number if isinstance(source, Output) else 0
            entry.read(entries.get(source) or known[source], slot, name, source, place)
        entry.inputs.sort(key=lambda one: one.slot)
        entries.update(dict.fromkeys((record, *record.outputs), entry))
    return entries


def _frames(records: Sequence[Node | Leaf]) -> dict[Node, Frame | None]:
    """The innermost call of each node, also of functions, which mark only what they returned.

    A function ran what led to its result since its call began, within the same module call. In a
    mapped function, each node knows all calls around it.
    """
    mapped = {record for record in records if isinstance(record, Node) and samples_of(record.frame)}
    frames: dict[Node, Frame | None] = {
        record: record.frame if record in mapped else record.scope
        for record in records if isinstance(record, Node)
    }  # fmt: skip
    for result in reversed([node for node in frames if node not in mapped]):
        scope, known = result.scope, {start for _, start in _functions(frames[result])}
        for name, start in sorted(_functions(result.frame), key=lambda one: one[1]):
            if start in known:
                continue
            call = FunctionCall(name, start, frames[result])
            seen, stack = {result}, [result]
            while stack:
                node = stack.pop()
                if node.scope is scope and node not in mapped:
                    frames[node] = call
                new = {one for one in node.parents if one in frames and one.stamp > start} - seen
                seen |= new
                stack += new
    return frames


def _functions(frame: Frame | None) -> Iterator[tuple[str, int]]:
    """The name of each function around the innermost module call, and when its call began."""
    while isinstance(frame, FunctionCall):
        yield frame.name, frame.began
        frame = frame.around


def _other_arguments(node: Node) -> tuple[tuple[str, ...], list[tuple[int, str, np.ndarray]]]:
    """The arguments that require no gradient, as far as known: as notes, and the arrays."""
    op, plan = node.plan.op, node.plan
    saved = {} if node.saved is FREED else dict(zip(plan.saved_names, node.saved, strict=True))
    if op.variadic:
        recorded = {op.params[0]}
        gaps = sorted({*range(max(plan.slots, default=0))} - {*plan.slots})
        missing = [f"{op.params[0]}[{slot}]" for slot in gaps]
    else:
        recorded = {op.params[slot] for slot in plan.slots}
        needed = zip(op.params[: op.arrays], op.defaults, strict=False)
        required = [name for name, default in needed if default is REQUIRED]
        missing = [name for name in required if name not in recorded and name not in saved]
    given = {n: value for n, value in saved.items() if n in op.params and n not in recorded}
    found = [
        (op.places[name], name, value)
        for name, value in given.items()
        if isinstance(value, np.ndarray) and value.ndim
    ]
    return (*argument_notes(op, given), *(name + NOT_KEPT for name in missing)), found


def argument_notes(op: Primitive, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The numbers and static arguments that are not the defaults, such as ``axis = 1``."""
    written: list[str] = []
    for name, default in zip(op.params, op.defaults, strict=True):
        value = arguments.get(name)
        if (op.variadic and name == op.params[0]) or value is None or isinstance(value, Variable):
            continue
        if isinstance(value, Call):
            written += call_notes(op, value, arguments)
            continue
        if name in op.random_keys:
            continue  # its number says nothing
        if isinstance(value, np.ndarray):
            if value.ndim:
                continue
            value = value[()]
        if value is not default and value != default:
            fields = getattr(value, "_asdict", None)
            parts = fields() if fields else {name: value}
            texts = {part: argument_text(one) for part, one in parts.items()}
            written += [
                f"{part} = {text if len(text) <= 32 else text[:31] + '…'}"
                for part, text in texts.items()
                if not text.startswith("<")  # an object that says nothing
            ]
    return tuple(written)


def known_arrays(
    entries: Mapping[Any, Entry], sources: Mapping[Any, Entry]
) -> Iterator[tuple[Entry, np.ndarray]]:
    """The arrays that are still known of entries: of leaves, and what ops saved of `sources`."""
    for one, entry in entries.items():
        if isinstance(one, Leaf) and one.tensor is not None:
            yield entry, one.tensor._data
        elif isinstance(one, Node) and one.saved is not FREED:
            named = {name: sources[edge] for edge, _, name in edges_of(one)} | {"out": entry}
            for name, saved in zip(one.plan.saved_names, one.saved, strict=True):
                if name in named and isinstance(saved, np.ndarray | np.generic):
                    yield named[name], np.asarray(saved)


def note_scalars(entries: Mapping[Any, Entry], results: Iterable[Any]) -> None:
    """Note the numbers that are still known of a graph; the arrays would be too many."""
    computed = [(entries[tensor._node], tensor._data) for tensor in results]
    for entry, array in (*known_arrays(entries, entries), *computed):
        if entry.box.shape == ():
            leaf = entry.leaf.tensor if entry.leaf is not None else None
            known = None if leaf is None else leaf.grad
            grads = () if known is None else (Held("", summary(known._data)),)
            entry.change(value=summary(array), grads=grads)


def saved_by(node: Node, numbers: bool = False) -> tuple[Saved, ...]:
    """The arrays that a node keeps for its backward step; none once it has run.

    Constants come with their numbers: nothing else in a graph tells two of them apart.
    """
    made = {"out", *node.plan.op.residuals, *node.plan.slot_names}
    return tuple(
        Saved(
            shown, array.shape, array.dtype.name, array.nbytes,
            numbers=summary(array) if numbers or shown.partition("[")[0] not in made else None,
        )
        for shown, array in saved_arrays(node)
    )  # fmt: skip


def note_kept(entry: Entry, passes: Sequence[Sequence[int] | None]) -> None:
    """Note what an op keeps for each backward pass: bytes for each saved array, if it is in it."""
    last = max((i for i, sizes in enumerate(passes, 1) if sizes), default=0)
    entry.change(saved=tuple(
        replace(one, kept=tuple(sizes[i] if sizes else 0 for sizes in passes[:last]))
        for i, one in enumerate(entry.box.saved)
    ))  # fmt: skip
