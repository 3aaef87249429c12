"""From what happened, in order, to a diagram: ids, names, and the module calls around it all.

Both ways to a diagram end here: reading a finished graph (record.py) and watching one being made
(trace.py). What happened is a list of entries that refer to one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.autograd.mode import Scope
from minigrad.autograd.node import Leaf
from minigrad.autograd.primitive import Primitive
from minigrad.nn.module.parameter import Parameter
from minigrad.viz.record.model import Diagram, Edge, Group, Kind, Node, Saved

__all__ = ["Entry", "Input", "assemble"]


@dataclass(frozen=True)
class Input:
    """What an entry read: which other entry, and as which argument."""

    source: Entry
    slot: int
    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(eq=False)
class Entry:
    """One op that ran, or a tensor that came from outside.

    Attributes:
        kind: ``"op"``, ``"parameter"``, ``"buffer"``, ``"input"`` or ``"constant"``.
        label: The op's name, or what the tensor is called.
        shape: The shape of what comes out.
        dtype: Its dtype.
        scope: The module call it was made in.
        leaf: The leaf of a tensor that requires a gradient.
        inputs: What an op read.
        seconds: How long it took, if that was asked for.
        freed: Whether a backward pass has let go of what it saved.
        primitive: The op itself.
        meaning: Of a fused op, the composed ops that say what it means.
    """

    kind: Kind
    label: str
    shape: tuple[int, ...]
    dtype: str
    scope: Scope | None = None
    leaf: Leaf | None = None
    inputs: list[Input] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    line: str = ""
    recorded: bool = True
    saved: tuple[Saved, ...] = ()
    error: str = ""
    seconds: float | None = None
    freed: bool = False
    primitive: Primitive | None = None
    decomposition: list[Entry] = field(default_factory=list)
    result: Entry | None = None  # within the meaning, what comes out of it


def assemble(
    entries: Sequence[Entry],
    outputs: Sequence[tuple[str, Entry]],
    names: Mapping[Any, str],
    dtype: np.dtype[Any],
) -> tuple[Diagram, dict[Entry, str]]:
    """Number the entries, name the tensors among them, and put each into its module call.

    Args:
        entries: What happened, each after what it reads.
        outputs: The name of each output, and the entry that it comes out of.
        names: What to call leaves, beside the names that parameters have of themselves.
        dtype: The dtype that goes without saying.

    Returns:
        The diagram, nothing closed, and the id of each entry: of a fused op with a meaning, the
        id of that group.
    """
    calls = _Calls(entries)
    readers = _readers(entries)
    parameters = _parameter_names(readers)
    inputs = _input_names(entries, names, parameters)
    ids: dict[Entry, str] = {}
    boxes: dict[Entry, str] = {}  # the box where the tensor of an entry comes out
    nodes: list[Node] = []
    edges: list[Edge] = []
    groups = list(calls.groups)

    def add(entry: Entry, home: str | None) -> None:
        label = entry.label
        if entry.leaf is not None:
            label = names.get(entry.leaf) or parameters.get(entry.leaf) or inputs[entry.leaf]
        node = Node(
            f"n{len(nodes)}", _kind(entry, parameters), label, entry.shape, entry.dtype, home,
            entry.notes, entry.line, entry.recorded, entry.saved, entry.error,
            entry.seconds, entry.freed, entry.primitive,
        )  # fmt: skip
        ids[entry] = boxes[entry] = node.id
        nodes.append(node)
        for read in entry.inputs:
            source = boxes[read.source]
            edges.append(Edge(source, node.id, read.slot, read.name, read.shape, read.dtype))

    for entry in entries:
        scope = entry.scope
        if entry.kind != "op":  # what is owned stands by its readers, what is given at the top
            given = _kind(entry, parameters) == "input" or entry not in readers
            scope = None if given else _common(readers[entry])
        home = calls.group(scope)
        if not entry.decomposition:
            add(entry, home)
            continue
        group = f"g{len(groups)}"
        closed = Node(
            group, "fused", entry.label, entry.shape, entry.dtype, home,
            entry.notes, entry.line, entry.recorded, entry.saved, "", entry.seconds,
            entry.freed, entry.primitive,
        )  # fmt: skip
        path = next((g.path for g in groups if g.id == home), "")
        groups.append(Group(group, entry.label, path, "", home, op=closed))
        for inner in entry.decomposition:
            add(inner, group)
        ids[entry] = group
        boxes[entry] = boxes[entry.result or entry.decomposition[-1]]
    for label, entry in outputs:
        tensor = (entry.shape, entry.dtype)
        nodes.append(Node(f"n{len(nodes)}", "output", label, *tensor))
        edges.append(Edge(boxes[entry], nodes[-1].id, 0, "", *tensor))
    return Diagram(tuple(nodes), tuple(edges), tuple(groups), dtype.name), ids


def _kind(entry: Entry, parameters: Mapping[Leaf, str]) -> Kind:
    if entry.leaf is None:
        return entry.kind
    return "parameter" if entry.leaf in parameters else "input"


class _Calls:
    """The module calls that ops were made in, numbered, as groups."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._ids: dict[Scope, str] = {}
        scopes: list[Scope] = []
        for entry in entries:
            scope = entry.scope
            new = []
            while scope is not None and scope not in self._ids:
                new.append(scope)
                scope = scope.parent
            for scope in reversed(new):
                self._ids[scope] = f"g{len(scopes)}"
                scopes.append(scope)
        # Of a module that is gone we cannot tell two calls from two modules: each is its own.
        keys = [id(scope if scope.module is None else scope.module) for scope in scopes]
        calls = Counter(keys)
        seen: Counter[int] = Counter()
        groups = []
        for scope, key in zip(scopes, keys, strict=True):
            seen[key] += 1
            name = "" if scope.parent is None else scope.name
            size = None if scope.module is None else scope.module.count_parameters()
            place = (self._ids[scope], name, scope.path, scope.kind, self.group(scope.parent))
            groups.append(Group(*place, size, seen[key], calls[key]))
        self.groups = tuple(groups)

    def group(self, scope: Scope | None) -> str | None:
        return None if scope is None else self._ids[scope]


def _readers(entries: Sequence[Entry]) -> dict[Entry, list[Scope | None]]:
    """For each tensor from outside, the module calls that read it."""
    readers: dict[Entry, dict[Scope | None, None]] = {}
    for entry in entries:
        for one in (entry, *entry.decomposition):
            for read in one.inputs:
                if read.source.kind != "op":
                    readers.setdefault(read.source, {})[entry.scope] = None
    return {source: list(scopes) for source, scopes in readers.items()}


def _common(scopes: Sequence[Scope | None]) -> Scope | None:
    """The innermost module call around all of these: a shared weight stands outside its users."""
    common = _ancestry(scopes[0])
    for scope in scopes[1:]:
        held = set(common)
        common = [outer for outer in _ancestry(scope) if outer in held]
    return common[0] if common else None


def _ancestry(scope: Scope | None) -> list[Scope]:
    """The call and those around it, innermost first."""
    found = []
    while scope is not None:
        found.append(scope)
        scope = scope.parent
    return found


def _parameter_names(readers: Mapping[Entry, Sequence[Scope | None]]) -> dict[Leaf, str]:
    """The full name of every parameter, as the outermost module knows it."""
    tables: dict[Scope, dict[int, str]] = {}
    names: dict[Leaf, str] = {}
    for entry, scopes in readers.items():
        leaf = entry.leaf
        if leaf is None:
            continue
        for scope in scopes:
            if scope is None or leaf in names:
                continue
            top = _ancestry(scope)[-1]
            if top not in tables:
                owned = [] if top.module is None else top.module.named_parameters()
                tables[top] = {id(parameter): name for name, parameter in owned}
            if id(leaf.tensor) in tables[top]:
                names[leaf] = tables[top][id(leaf.tensor)]
        if leaf not in names and (leaf.name or isinstance(leaf.tensor, Parameter)):
            names[leaf] = leaf.name or "parameter"  # its module is gone, or it has none
    return names


def _input_names(
    entries: Sequence[Entry], given: Mapping[Any, str], parameters: Mapping[Leaf, str]
) -> dict[Leaf, str]:
    """What was given, and for the others ``input``, numbered where there are several."""
    inputs = [e.leaf for e in entries if e.leaf is not None and e.leaf not in parameters]
    unnamed = [leaf for leaf in inputs if leaf not in given]
    single = {unnamed[0]: "input"} if len(unnamed) == 1 else {}
    numbered = {leaf: f"input {index}" for index, leaf in enumerate(unnamed)}
    named = {leaf: name for leaf, name in given.items() if isinstance(leaf, Leaf)}
    return numbered | single | named
