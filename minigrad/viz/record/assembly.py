"""From entries, of a finished graph or of a trace, to a diagram: ids, names, and calls."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.node import Leaf
from minigrad.autograd.scope import Frame, FunctionCall, Scope, ancestry, module_call, samples_of
from minigrad.nn import Parameter
from minigrad.viz.record.entries import Entry, Input
from minigrad.viz.record.graph import Graph
from minigrad.viz.record.model import Edge, Group, Kind, Node
from minigrad.viz.record.roles import name_masks

Readers = dict[Entry, dict[Frame | None, None]]


def assemble(
    entries: Iterable[Entry], outputs: Iterable[tuple[str, Entry]], names: Mapping[Any, str],
    kept: Mapping[Frame, tuple[int, ...]] = MappingProxyType({}),
) -> tuple[Graph, dict[Entry, str]]:  # fmt: skip
    """Number the entries, name the tensors among them, and put each into the call around it.

    Each entry comes after what it reads, and may come again. `names` gives names to leaves; they
    replace the names of parameters. `kept` are the bytes that fused ops keep that were opened.
    """
    entries = list(dict.fromkeys(entries))
    dtype = get_default_dtype().name
    readers = _readers(entries)
    parameters = _parameter_names(readers)
    labels = _input_names(entries, names, parameters) | parameters
    labels |= {leaf: names[leaf] for leaf in labels if names.get(leaf)}
    groups, home_of = _calls(entries, kept)
    nodes, edges = list[Node](), list[Edge]()
    ids: dict[Entry, str] = {}

    def add(entry: Entry, home: str | None) -> None:
        again = "" if entry.first is None else ids[entry.first]
        box = replace(
            entry.box, id=f"n{len(nodes)}", group=home, samples=samples(entry), again=again
        )
        if entry.leaf is not None:
            kind: Kind = "parameter" if entry.leaf in parameters else "input"
            box = replace(box, kind=kind, label=labels[entry.leaf])
        nodes.append(box)
        ids[entry] = box.id
        for read in entry.inputs:
            source, tensor = read.source, (read.name, read.shape, read.dtype)
            more: Any = {"samples": samples(source), "place": read.place}
            edges.append(Edge(ids[source], box.id, read.slot, *tensor, **more))

    def samples(entry: Entry) -> int:
        """How many of the first axes of a computed tensor count samples."""
        sizes = samples_of(entry.frame) if entry.box.kind in ("op", "output") else ()
        shape, count = entry.box.shape, 0
        for size in sizes:
            count += shape[count : count + 1] == (size,)
        return count

    for entry in entries:
        frame = entry.frame
        if entry.box.kind != "op":  # an input is at the top, other tensors by their readers
            made_within = bool(entry.inputs)  # as x.detach().requires_grad_() is
            given = entry.box.kind == "input" and not (made_within or entry.leaf in parameters)
            frame = None if given or entry not in readers else _common([*readers[entry]])
            if frame is not None and entry.box.kind != "constant":
                frame = module_call(frame)  # a function owns no parameters: they are its arguments
        add(entry, home_of[frame])
    for label, entry in outputs:
        tensor = (entry.box.shape, entry.box.dtype)
        box = Node("", "output", label, *tensor, value=entry.box.value)
        frame = entry.frame if entry.box.kind == "op" else None
        add(Entry(box, frame, inputs=[Input(entry, 0, "", *tensor, 0)]), None)
    return name_masks(Graph(tuple(nodes), tuple(edges), groups, dtype)), ids


def _calls(
    entries: Sequence[Entry], kept: Mapping[Frame, tuple[int, ...]]
) -> tuple[tuple[Group, ...], dict[Frame | None, str | None]]:
    """The calls of modules and functions as groups, and the id of the group of each."""
    homes = _homes(entries)
    drawn = [frame for frame, home in homes.items() if frame is not None and frame is home]
    ids: dict[Frame | None, str | None] = {frame: f"g{n}" for n, frame in enumerate(drawn)}
    ids[None] = None
    # If a module is gone, each of its calls counts as a module of its own.
    keys = {
        frame: id(frame if frame.module is None else frame.module)
        for frame in drawn
        if isinstance(frame, Scope)
    }
    calls, seen = Counter(keys.values()), Counter[int]()
    groups = []
    for number, frame in enumerate(drawn):
        own, around = f"g{number}", ids[homes[frame.around]]
        if isinstance(frame, FunctionCall):
            scope = module_call(frame)
            path = "" if scope is None else scope.path
            more: Any = {"samples": frame.samples, "fused": frame.fused}
            more["kept"] = kept.get(frame, ())
            groups.append(Group(own, frame.name, path, "", around, **more))
            continue
        key = keys[frame]
        seen[key] += 1
        name = "" if frame.parent is None else frame.name
        size = None if frame.module is None else frame.module.count_parameters()
        place = (own, name, frame.path, frame.kind, around)
        groups.append(Group(*place, size, seen[key], calls[key]))
    return tuple(groups), {frame: ids[home] for frame, home in homes.items()}


def _homes(entries: Iterable[Entry]) -> dict[Frame | None, Frame | None]:
    """For each call the innermost one around it that is drawn, or itself; parents come first.

    A function is drawn if it ran several ops, and not all of those of the call around it. A fused
    op that was opened is one op of what is around it.
    """
    ops = Counter[Frame]()
    for entry in entries:
        for frame in calls_around(entry.frame) if entry.box.kind == "op" else ():
            ops[frame] += 1
            if isinstance(frame, FunctionCall) and frame.fused and ops[frame] > 1:
                break
    homes: dict[Frame | None, Frame | None] = {None: None}
    for entry in entries:
        for frame in reversed(calls_around(entry.frame)):
            if frame not in homes:
                around = homes[frame.around]
                alone = ops[frame] < 2 or (around is not None and ops[frame] == ops[around])
                passed = isinstance(frame, FunctionCall) and not (frame.samples or frame.fused)
                homes[frame] = around if alone and passed else frame
    return homes


def calls_around(frame: Frame | None) -> list[Frame]:
    """A call and those around it, the innermost first."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.around
    return found


def _readers(entries: Iterable[Entry]) -> Readers:
    """For each tensor from outside, the calls that read it."""
    readers: Readers = {}
    for entry in entries:
        for read in entry.inputs:
            if read.source.box.kind != "op":
                readers.setdefault(read.source, {})[entry.frame] = None
    return readers


def _common(calls: Sequence[Frame | None]) -> Frame | None:
    """The innermost call around all of these."""
    common = calls_around(calls[0])
    for call in calls[1:]:
        held = set(calls_around(call))
        common = [outer for outer in common if outer in held]
    return common[0] if common else None


def _parameter_names(readers: Readers) -> dict[Leaf, str]:
    """The full name of every parameter, as the outermost module knows it."""
    tables: dict[Scope, dict[int, str]] = {}
    names: dict[Leaf, str] = {}
    for entry, calls in readers.items():
        leaf = entry.leaf
        if leaf is None:
            continue
        scopes = map(module_call, calls)
        for top in (ancestry(scope)[-1] for scope in scopes if scope is not None):
            if top not in tables:
                owned = [] if top.module is None else top.module.named_parameters()
                tables[top] = {id(parameter): name for name, parameter in owned}
            if leaf not in names and id(leaf.tensor) in tables[top]:
                names[leaf] = tables[top][id(leaf.tensor)]
        if leaf not in names and (leaf.name or isinstance(leaf.tensor, Parameter)):
            names[leaf] = leaf.name or "parameter"  # of a module that is gone, or of none
    return names


def _input_names(
    entries: Iterable[Entry], given: Mapping[Any, str], parameters: Mapping[Leaf, str]
) -> dict[Leaf, str]:
    """``input`` for a leaf that has no name, numbered where there are several."""
    leaves = [e.leaf for e in entries if e.leaf is not None and e.leaf not in parameters]
    unnamed = [leaf for leaf in leaves if leaf not in given]
    numbered = {leaf: f"input {index}" for index, leaf in enumerate(unnamed)}
    return dict.fromkeys(leaves, "input") | (numbered if len(unnamed) > 1 else {})
