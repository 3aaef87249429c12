"""From the whole graph to one that a reader can take in: modules closed, residuals found.

A group is one *call* of a module. Nothing outside of a call runs between its first op and its
last, so a closed call can always be put in one place: closing never makes a cycle.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from minigrad.viz.drawing.labels import shape_text
from minigrad.viz.record.model import Diagram, Edge, Group, Node
from minigrad.viz.record.repeats import is_repeat, wrap_repeats

__all__ = ["BLOCK", "BUDGET", "closed_boxes", "collapse", "residuals", "view"]

AnyDiagram = TypeVar("AnyDiagram", bound=Diagram)

BUDGET = 40
"""Readers lose their way above 50 to 100 boxes (arXiv:2008.07944)."""

BLOCK = 20
"""Enough for one block: a module whose modules are made of layers, no further level."""

LISTED = 4
"""A closed module names its parameters up to this many; above that it counts their values."""


def collapse(diagram: AnyDiagram, depth: int | None = None) -> AnyDiagram:
    """Close modules, each to one box.

    Args:
        diagram: The whole graph.
        depth: How many levels of modules to open; see `view`.

    Returns:
        A diagram of the same class. Its groups are the open and the closed ones; a closed one is a
        node of kind ``"module"``, or ``"fused"`` for what a fused op means, with the id of its
        group.

    Raises:
        ValueError: `depth` is negative.
    """
    return _close(*view(diagram, depth))


def view(diagram: AnyDiagram, depth: int | None = None) -> tuple[AnyDiagram, set[str]]:
    """Choose which groups to close.

    Args:
        diagram: The whole graph.
        depth: How many levels of modules to open: 0 shows each outermost module as one box, 1
            opens those. None keeps to a number of boxes that can be read: if not all of them are
            so few, modules that repeat the one before them become one, the first module of each
            class is opened, as an example of the others, and then all the levels that still fit.

    Returns:
        The diagram, with groups around modules that repeat each other, and the ids of the groups
        to close.

    Raises:
        ValueError: `depth` is negative.
    """
    if depth is None:
        return _fit(diagram)
    if depth < 0:
        raise ValueError(f"depth: {depth} levels cannot be opened; use 0, 1, ... or None")
    return diagram, {group for group, level in _levels(diagram).items() if level >= depth}


def _fit(diagram: AnyDiagram) -> tuple[AnyDiagram, set[str]]:
    """Open what the budget allows: one module of each class, to show how it works, then all."""
    levels = _levels(diagram)
    decompositions = {group.id for group in diagram.groups if group.op is not None}
    single = _single(diagram)
    depth = max((levels[g] for g in levels if g not in decompositions | single), default=0)
    room = BLOCK if depth < 2 else BUDGET
    for closed in (decompositions, decompositions | {group for group in single if levels[group]}):
        if len(_close(diagram, closed).nodes) <= room:
            return diagram, closed

    diagram = wrap_repeats(diagram)
    repeats = {group.id for group in diagram.groups} - set(levels)
    levels = _levels(diagram)
    shut = decompositions | repeats | {group for group in single if levels[group]}
    best = closed = shut | {group for group, level in levels.items() if level > 0}
    seen = set()
    for group in sorted(diagram.groups, key=lambda group: levels[group.id]):
        candidate = group.id in closed - shut and group.parent not in closed
        if candidate and group.module not in seen:
            seen.add(group.module)
            if len(_close(diagram, closed - {group.id}).nodes) <= room:
                best = closed = closed - {group.id}
    for depth in range(2, max(levels.values(), default=0) + 2):
        closed = shut | {group for group in closed if levels[group] >= depth}
        if len(_close(diagram, closed).nodes) > room:
            break
        best = closed
    return diagram, best


def _levels(diagram: Diagram) -> dict[str, int]:
    """How many groups lie around each group."""
    levels: dict[str, int] = {}
    for group in diagram.groups:
        levels[group.id] = 0 if group.parent is None else levels[group.parent] + 1
    return levels


def _single(diagram: Diagram) -> set[str]:
    """The modules with one op inside: closed, they say as much."""
    ops: dict[str | None, int] = defaultdict(int)
    for node in diagram.nodes:
        ops[node.group] += node.kind == "op"
    for group in reversed(diagram.groups):  # what a fused op means is one op
        ops[group.parent] += ops[group.id] if group.op is None else 1
    return {group.id for group in diagram.groups if group.op is None and ops[group.id] == 1}


def closed_boxes(diagram: Diagram) -> dict[str, Node]:
    """Make the box of every group, as it is when the group is closed.

    Args:
        diagram: A diagram. Groups that are closed in it already are left out.

    Returns:
        The boxes by the ids of the groups.
    """
    closed = {node.id for node in diagram.nodes}
    parents = {group.id: group.parent for group in diagram.groups}
    leaving = _leaving(diagram)
    inside: dict[str, list[Node]] = defaultdict(list)
    for node in diagram.nodes:
        around = node.group
        while around is not None:
            inside[around].append(node)
            around = parents[around]
    return {
        group.id: _box(group, inside[group.id], diagram.groups, leaving[group.id])
        for group in diagram.groups
        if group.id in inside and group.id not in closed
    }


def _close(diagram: AnyDiagram, closed: Collection[str]) -> AnyDiagram:
    groups = {group.id: group for group in diagram.groups}
    around: dict[str | None, str | None] = {None: None}  # group -> the outermost closed one
    for group in diagram.groups:
        outer = around[group.parent]
        around[group.id] = outer if outer is not None else group.id if group.id in closed else None

    inside: dict[str, list[Node]] = defaultdict(list)
    for node in diagram.nodes:
        outer = around[node.group]
        if outer is not None:
            inside[outer].append(node)
    leaving = _leaving(diagram)
    nodes: list[Node] = []
    place: dict[str, str] = {}  # node -> the box that shows it
    for node in reversed(diagram.nodes):  # a box stands where its last op stood
        outer = around[node.group]
        place[node.id] = outer if outer is not None else node.id
        if outer is None:
            nodes.append(node)
        elif outer in inside:
            nodes.append(_box(groups[outer], inside.pop(outer), diagram.groups, leaving[outer]))
    edges: dict[tuple[str, str, int | None, str], Edge] = {}  # equal ones into a module merge
    for edge in diagram.edges:
        source, target = place[edge.source], place[edge.target]
        if source == target:
            continue
        moved = edge
        if source != edge.source:
            moved = replace(moved, source=source, output=edge.output or edge.source)
        if target != edge.target:
            moved = replace(moved, target=target, slot=None, name="")
        edges.setdefault((edge.source, target, moved.slot, moved.name), moved)
    return replace(
        diagram,
        nodes=tuple(reversed(nodes)),
        edges=tuple(edges.values()),
        groups=tuple(g for g in diagram.groups if around[g.id] in (None, g.id)),
    )


def _leaving(diagram: Diagram) -> dict[str, set[str]]:
    """For each group the nodes in it that are read outside: its outputs."""
    parents = {group.id: group.parent for group in diagram.groups}
    home = {node.id: node.group for node in diagram.nodes}
    found: dict[str, set[str]] = defaultdict(set)
    for edge in diagram.edges:
        around, outside = home[edge.source], set()
        group = home[edge.target]
        while group is not None:
            outside.add(group)
            group = parents[group]
        while around is not None and around not in outside:
            found[around].add(edge.source)
            around = parents[around]
    return found


def _box(
    group: Group, inside: list[Node], groups: Sequence[Group], leaving: Collection[str]
) -> Node:
    """The one box that stands for a closed group: it shows the last of its outputs."""
    if group.op is not None:
        return replace(group.op, id=group.id, group=group.parent)
    prefix = f"{group.path}." if group.path else ""
    parameters = [node for node in inside if node.kind == "parameter"]
    size = sum(math.prod(node.shape) for node in parameters)
    if is_repeat(group) and size:
        count = sum(other.parent == group.id for other in groups)
        notes: tuple[str, ...] = (f"{count} × {size // count:,} parameters",)
    elif len(parameters) > LISTED:
        notes = (f"{size:,} parameters",)
    else:
        notes = tuple(
            f"{node.label.removeprefix(prefix)} {shape_text(node.shape)}" for node in parameters
        )
    outputs = [node for node in inside if node.id in leaving]
    last, homes = (outputs or inside)[-1], {node.group for node in inside}
    fused = [other.op for other in groups if other.op is not None and other.id in homes]
    times = [node.seconds for node in (*inside, *fused) if node.seconds is not None]
    return Node(
        group.id, "module", group.name, last.shape, last.dtype, group.parent, notes,
        seconds=sum(times) if times else None,
    )  # fmt: skip


def residuals(diagram: Diagram) -> set[int]:
    """Find the edges that lead around something: a tensor added to what was computed from it.

    Args:
        diagram: A diagram, whole or collapsed.

    Returns:
        Positions in ``diagram.edges``: the edges into an ``add`` whose source also reaches
        another operand of that ``add``.
    """
    into: dict[str, list[int]] = defaultdict(list)
    for index, edge in enumerate(diagram.edges):
        into[edge.target].append(index)
    adds = {node.id for node in diagram.nodes if node.kind == "op" and node.label == "add"}
    joined = [diagram.edges[index] for add in adds for index in into[add]]
    # Bit k of above[box] is set where the k-th candidate is an ancestor of the box.
    bit = {source: 1 << k for k, source in enumerate(sorted({edge.source for edge in joined}))}
    above: dict[str, int] = {}
    for node in diagram.nodes:
        mask = 0
        for index in into[node.id]:
            source = diagram.edges[index].source
            mask |= above[source] | bit.get(source, 0)
        above[node.id] = mask
    return {
        index
        for add in adds
        for index in into[add]
        if any(
            above[diagram.edges[other].source] & bit[diagram.edges[index].source]
            for other in into[add]
        )
    }
