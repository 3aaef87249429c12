"""From the whole graph to one that a reader can take in: modules closed, residuals found.

A group is one *call* of a module. Nothing outside of a call runs between its first op and its
last, so a closed call can always be put in one place: closing never makes a cycle.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TypeVar

from minigrad.viz.model import Diagram, Edge, Group, Node

__all__ = ["BUDGET", "collapse", "residuals", "shape_text"]

AnyDiagram = TypeVar("AnyDiagram", bound=Diagram)

BUDGET = 40
"""Readers lose their way above 50 to 100 boxes (arXiv:2008.07944)."""

LISTED = 4
"""A closed module names its parameters up to this many; above that it counts their values."""


def collapse(diagram: AnyDiagram, depth: int | None = None) -> AnyDiagram:
    """Close modules, each to one box.

    Args:
        diagram: The whole graph.
        depth: How many levels of modules to open: 0 shows each outermost module as one box, 1
            opens those. None keeps to about 40 boxes: it opens the first module of each class, as
            an example of the others, and then all the levels that still fit.

    Returns:
        A diagram of the same class. Its groups are the open and the closed modules; a closed one
        is a node of kind ``"module"`` with the id of its group.

    Raises:
        ValueError: `depth` is negative.
    """
    levels = _levels(diagram)
    if depth is None:
        return _fit(diagram, levels)
    if depth < 0:
        raise ValueError(f"depth: {depth} levels cannot be opened; use 0, 1, ... or None")
    return _close(diagram, {group for group, level in levels.items() if level >= depth})


def _fit(diagram: AnyDiagram, levels: dict[str, int]) -> AnyDiagram:
    """Open what the budget allows: one module of each class, to show how it works, then all."""
    inner = {group.parent for group in diagram.groups}
    plain = _plain(diagram) - inner  # one op and no parameter: says more closed than open
    closed = {group for group, level in levels.items() if level > 0 or group in plain}
    best = _close(diagram, closed)
    seen = set()
    for group in sorted(diagram.groups, key=lambda group: levels[group.id]):
        candidate = group.id in closed and group.parent not in closed and group.id in inner
        if candidate and group.module not in seen:
            seen.add(group.module)
            view = _close(diagram, closed - {group.id})
            if len(view.nodes) <= BUDGET:
                best, closed = view, closed - {group.id}
    for depth in range(2, max(levels.values(), default=0) + 2):
        closed = {group for group in closed if levels[group] >= depth or group in plain}
        view = _close(diagram, closed)
        if len(view.nodes) > BUDGET:
            break
        best = view
    return best


def _levels(diagram: Diagram) -> dict[str, int]:
    """How many groups lie around each group."""
    levels: dict[str, int] = {}
    for group in diagram.groups:
        levels[group.id] = 0 if group.parent is None else levels[group.parent] + 1
    return levels


def _plain(diagram: Diagram) -> set[str]:
    """The groups with one node directly inside, an op."""
    kinds: dict[str | None, list[str]] = defaultdict(list)
    for node in diagram.nodes:
        kinds[node.group].append(node.kind)
    return {group.id for group in diagram.groups if kinds[group.id] == ["op"]}


def _close(diagram: AnyDiagram, closed: set[str]) -> AnyDiagram:
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
    nodes: list[Node] = []
    place: dict[str, str] = {}  # node -> the box that shows it
    for node in reversed(diagram.nodes):  # a box stands where its last op stood
        outer = around[node.group]
        place[node.id] = outer if outer is not None else node.id
        if outer is None:
            nodes.append(node)
        elif outer in inside:
            nodes.append(_box(groups[outer], inside.pop(outer)))
    edges: dict[tuple[str, str, int | None, str], Edge] = {}  # equal ones into a module merge
    for edge in diagram.edges:
        source, target = place[edge.source], place[edge.target]
        if source == target:
            continue
        if target == edge.target:
            moved = replace(edge, source=source)
        else:
            moved = replace(edge, source=source, target=target, slot=None, name="")
        edges.setdefault((edge.source, target, moved.slot, moved.name), moved)
    return replace(
        diagram,
        nodes=tuple(reversed(nodes)),
        edges=tuple(edges.values()),
        groups=tuple(g for g in diagram.groups if around[g.id] in (None, g.id)),
    )


def _box(group: Group, inside: list[Node]) -> Node:
    """The one box that stands for a closed group."""
    prefix = f"{group.path}." if group.path else ""
    parameters = [node for node in inside if node.kind == "parameter"]
    if len(parameters) > LISTED:
        size = sum(math.prod(node.shape) for node in parameters)
        notes: tuple[str, ...] = (f"{size:,} parameters",)
    else:
        notes = tuple(
            f"{node.label.removeprefix(prefix)} {shape_text(node.shape)}" for node in parameters
        )
    last = inside[-1]
    return Node(group.id, "module", group.name, last.shape, last.dtype, group.parent, notes)


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


def shape_text(shape: tuple[int, ...]) -> str:
    """Write a shape as people say it: ``2×10×64``, or ``scalar``."""
    return "×".join(map(str, shape)) or "scalar"
