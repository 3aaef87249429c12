"""Collapse modules and functions so that a graph can be read.

A group is one *call*. No other op runs between the first op of a call and its last, so
closing calls never makes a cycle.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from minigrad.viz.record.model import AnyDiagram, Diagram, Edge, Group, Node
from minigrad.viz.record.repeats import bundles, is_repeat, wrap_repeats
from minigrad.viz.record.selection import Choice, opened
from minigrad.viz.record.writing import shape_text

BUDGET = 40
"""The most boxes to show: graphs of more than 50 to 100 are hard to read (arXiv:2008.07944)."""

BLOCK = 20
"""The most boxes for a module of a few layers."""

Ids = Collection[str]
"""Of groups, or of boxes."""

LISTED = 4
"""A closed module lists up to this many parameters; of more it gives the number of values."""


def collapse(diagram: AnyDiagram, depth: int | None = None, also: Choice = ()) -> AnyDiagram:
    """Replace each module that is closed (see `view`) by one box.

    The box has the id of its group, and the kind ``"module"``. The groups of the result are the
    open and the closed ones.
    """
    return close(*view(diagram, depth, also))


def view(
    diagram: AnyDiagram, depth: int | None = None, also: Choice = ()
) -> tuple[AnyDiagram, set[str]]:
    """Choose which groups to close: all but `depth` levels of modules, and `also` chosen ones.

    With 0 each outermost module is one box; 1 opens those. If these are more boxes than can be
    read, what repeats becomes one box, unless everything is open. None shows as much as can be
    read: if all of it is too much, what repeats becomes one box, the first module of each class is
    opened as an example, and then all the levels that still fit.
    """
    if depth is not None and not (isinstance(depth, int) and depth >= 0):
        raise ValueError(f"depth: {depth!r} levels cannot be opened; use 0, 1, ... or None")
    chosen, levels = opened(diagram, also), _levels(diagram)
    if depth is not None:
        closed = {group for group in levels if levels[group] >= depth}
        if closed and _boxes(diagram, closed - chosen) > BUDGET:
            diagram, chosen, repeats = _with_repeats(diagram, chosen)
            closed |= repeats
        return diagram, closed - chosen
    fused = {group.id for group in diagram.groups if group.fused} - chosen
    single = (_single(diagram) - chosen) | fused
    deepest = max((levels[group] for group in levels if group not in single), default=0)
    room = BLOCK if deepest < 2 else BUDGET
    for closed in (fused, fused | {group for group in single if levels[group]}):
        if _boxes(diagram, closed) <= room:
            return diagram, closed
    return _fit(diagram, chosen, single, room)


def _with_repeats(diagram: AnyDiagram, chosen: Ids) -> tuple[AnyDiagram, set[str], set[str]]:
    """The diagram with groups around what repeats; the chosen groups, with those; and those."""
    diagram = wrap_repeats(diagram, chosen, BLOCK)
    enclosing = diagram.enclosing()
    chosen = {outer.id for group in chosen for outer in enclosing[group]}
    return diagram, chosen, {group.id for group in diagram.groups if is_repeat(group)}


def _fit(diagram: AnyDiagram, chosen: Ids, single: Ids, room: int) -> tuple[AnyDiagram, set[str]]:
    """Open as many modules as can be read, and those that are chosen."""
    before = {group.id for group in diagram.groups}
    diagram, chosen, repeats = _with_repeats(diagram, chosen)
    levels = _levels(diagram)
    added = levels.keys() - before
    if added - repeats:  # the first step of a loop is an example
        room = BUDGET
    inner = {group for group in levels if levels[group]}
    shut = (repeats | (inner & {*single})) - chosen
    closed = _with_examples(diagram, (shut | added | inner) - chosen, shut, room)
    for depth in range(2, max(levels.values(), default=0) + 2):
        deeper = shut | {group for group in closed if levels[group] >= depth}
        if _boxes(diagram, deeper) > room:
            break
        closed = deeper
    return diagram, closed


def _with_examples(diagram: Diagram, closed: set[str], shut: Ids, room: int) -> set[str]:
    """The closed groups without the first one of each class or function, as far as they fit."""
    levels, seen = _levels(diagram), set[str]()
    for group in sorted(diagram.groups, key=lambda group: levels[group.id]):
        name = group.module or group.name
        candidate = group.id in closed and group.id not in shut and group.parent not in closed
        if candidate and name not in seen:
            seen.add(name)
            if _boxes(diagram, closed - {group.id}) <= room:
                closed = closed - {group.id}
    return closed


def _levels(diagram: Diagram) -> dict[str, int]:
    """The number of groups around each group."""
    return {group: len(around) - 1 for group, around in diagram.enclosing().items() if group}


def _single(diagram: Diagram) -> set[str]:
    """The modules with one op inside: opening them would show no more."""
    ops: dict[str | None, int] = defaultdict(int)
    for node in diagram.nodes:
        ops[node.group] += node.kind == "op"
    for group in reversed(diagram.groups):
        ops[group.parent] += ops[group.id]
    return {group.id for group in diagram.groups if ops[group.id] == 1}


def _outermost(diagram: Diagram, closed: Ids) -> dict[str | None, Group | None]:
    """For each group, the outermost closed one around it; it may be the group itself."""
    return {
        group: next((one for one in reversed(around) if one.id in closed), None)
        for group, around in diagram.enclosing().items()
    }


def _boxes(diagram: Diagram, closed: Ids) -> int:
    """The number of boxes that are shown if these groups are closed."""
    outermost = _outermost(diagram, closed)
    return len({(outermost[node.group] or node).id for node in diagram.nodes})


def all_boxes(diagram: Diagram) -> dict[str, Node]:
    """The boxes of a diagram, and of each group that is open in it as it looks when closed."""
    boxes = {node.id: node for node in diagram.nodes}
    ancestors = diagram.ancestors()
    inside: dict[str, list[Node]] = defaultdict(list)
    for node in diagram.nodes:
        for group in ancestors[node.id][1:]:
            inside[group].append(node)
    leaving: dict[str, set[str]] = defaultdict(set)  # the tensors read outside of each group
    for edge in diagram.edges:
        for group in ancestors[edge.source][1:]:
            if group in ancestors[edge.target]:
                break
            leaving[group].add(edge.source)
    groups = {group.id: group for group in diagram.groups}
    opened = [group for group in diagram.groups if group.id in inside and group.id not in boxes]
    return boxes | {one.id: _box(one, inside[one.id], groups, leaving[one.id]) for one in opened}


def close(diagram: AnyDiagram, closed: Ids) -> AnyDiagram:
    """Replace each of these groups by one box."""
    outermost, boxes = _outermost(diagram, closed), all_boxes(diagram)
    homes, enclosing = {node.id: node.group for node in diagram.nodes}, diagram.enclosing()
    nodes: dict[str, Node] = {}
    place: dict[str, str] = {}  # node -> the box that shows it
    for node in reversed(diagram.nodes):  # a box is where its last op was
        outer = outermost[node.group]
        box = node if outer is None else boxes[outer.id]
        place[node.id] = box.id
        nodes.setdefault(box.id, box)
    together = bundles(diagram)
    edges: dict[tuple[str, str, int | None, str], Edge] = {}  # equal ones into a module merge
    for index, edge in enumerate(diagram.edges):
        source, target = place[edge.source], place[edge.target]
        if source == target:
            continue
        moved, tensor, outer = edge, edge.source, outermost[homes[edge.source]]
        if source != edge.source:
            moved = replace(moved, source=source, output=edge.output or edge.source)
        if (bundle := together.get(index)) and outer and outer in enclosing[bundle.group]:
            tensor, first = bundle.tensor, diagram.edges[bundle.first]
            moved = replace(moved, name=bundle.name, slot=first.slot)
        if target != edge.target:
            moved = replace(moved, target=target, slot=None, name="")
        edges.setdefault((tensor, target, moved.slot, moved.name), moved)
    return replace(
        diagram,
        nodes=tuple(reversed(nodes.values())),
        edges=tuple(edges.values()),
        groups=tuple(group for group in diagram.groups if outermost[group.id] in (None, group)),
    )


def _box(group: Group, inside: list[Node], groups: Mapping[str, Group], leaving: Ids) -> Node:
    """The box of a closed group; its shape is that of the last output."""
    prefix = f"{group.path}." if group.path else ""
    parameters = [node for node in inside if node.kind == "parameter"]
    size = sum(math.prod(node.shape) for node in parameters)
    if is_repeat(group) and size:
        count = sum(other.parent == group.id for other in groups.values()) or len(parameters)
        notes: tuple[str, ...] = (f"{count} × {size // count:,} parameters",)
    elif len(parameters) > LISTED:
        notes = (f"{size:,} parameters",)
    else:
        notes = tuple(
            f"{node.label.removeprefix(prefix)} {shape_text(node.shape)}" for node in parameters
        )
    last = ([node for node in inside if node.id in leaving] or inside)[-1]
    return Node(
        group.id, "module", group.name, last.shape, last.dtype, group.parent, notes,
        value=last.value, samples=last.samples,
    )  # fmt: skip
