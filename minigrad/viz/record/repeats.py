"""Repeated modules in a row, such as the layers of an encoder, are put into one group.

Two calls are alike if they have the same class, ops, shapes and connections, and parameters in the
same places. Only calls that each read the result of the one before are put together. The first of
them stays outside, as an example of the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from minigrad.viz.record.model import Diagram, Edge, Group, Node

__all__ = ["is_repeat", "wrap_repeats"]

AnyDiagram = TypeVar("AnyDiagram", bound=Diagram)

FEWEST = 2
"""How many make a group of their own."""


def wrap_repeats(diagram: AnyDiagram) -> AnyDiagram:
    """Put a group around each run of calls that repeat the call before them.

    The name of the group says how many they are, and whether they have parameters of their own or
    are calls of one module.
    """
    parts = _Parts(diagram)
    wrapped: dict[str, Group] = {}  # the first of a run -> the group around the run
    parents: dict[str, str] = {}
    for run in parts.runs():
        outer = _around(run)
        wrapped[run[0].id] = outer
        parents |= {group.id: outer.id for group in run}
    groups: list[Group] = []
    for group in diagram.groups:
        if group.id in wrapped:
            groups.append(wrapped[group.id])
        groups.append(replace(group, parent=parents.get(group.id, group.parent)))
    return replace(diagram, groups=tuple(groups))


def is_repeat(group: Group) -> bool:
    """Whether a group is one that `wrap_repeats` made."""
    return "…" in group.id


def _around(run: Sequence[Group]) -> Group:
    first, last = run[0], run[-1]
    own = len({group.path for group in run}) == len(run)
    calls = f"{first.name}, calls {first.call} … {last.call}"
    name = f"{first.name} … {last.name}" if own else calls
    sizes = [group.size for group in (run if own else run[:1])]
    size = None if None in sizes else sum(filter(None, sizes))
    kind = f"{first.module} ×{len(run)}" + ("" if own else " with the same parameters")
    path = first.path.removesuffix(first.name).removesuffix(".")
    return Group(f"{first.id}…{last.id}", name, path, kind, first.parent, size)


class _Parts:
    """What each group is made of."""

    def __init__(self, diagram: Diagram) -> None:
        self.groups = {group.id: group for group in diagram.groups}
        self.enclosing = diagram.enclosing()
        self.inside: dict[str, list[Node]] = defaultdict(list)
        self.edges: dict[str, list[Edge]] = defaultdict(list)  # by the groups around their target
        self.steps: dict[str | None, dict[str, None]] = defaultdict(dict)
        home = {node.id: self.enclosing[node.group] for node in diagram.nodes}
        for node in diagram.nodes:
            path = [node.id, *(group.id for group in home[node.id])]
            for group in path[1:]:
                self.inside[group].append(node)
            if node.kind in ("op", "fused"):  # in the order of their first ops
                for item, outer in zip(path, [*path[1:], None], strict=True):
                    self.steps[outer][item] = None
        for edge in diagram.edges:
            for around in home[edge.target]:
                self.edges[around.id].append(edge)

    def runs(self) -> Iterator[list[Group]]:
        """Consecutive calls that repeat the one before the first of them."""
        for steps in list(self.steps.values()):
            run: list[Group] = []
            for before, item in zip([None, *steps], steps, strict=False):
                if before is not None and self._repeats(before, item):
                    run.append(self.groups[item])
                    continue
                if len(run) >= FEWEST:
                    yield run
                run = []
            if len(run) >= FEWEST:
                yield run

    def _repeats(self, before: str, item: str) -> bool:
        """Whether a call does the same as the call before it, to its result."""
        one, two = self.groups.get(before), self.groups.get(item)
        if one is None or two is None or one.op or two.op or one.module != two.module:
            return False
        made = {node.id for node in self.inside[before]}
        return (
            any(edge.source in made for edge in self.edges[item])
            and len(self.inside[before]) == len(self.inside[item])
            and self._signature(one) == self._signature(two)
        )

    def _signature(self, group: Group) -> Hashable:
        """What a group is made of, without its own name and the names of what is outside."""
        prefix, depth = f"{group.path}.", len(self.enclosing[group.id])
        names: dict[str, Hashable] = {}
        ops: list[Hashable] = []
        owned: list[Hashable] = []
        for node in self.inside[group.id]:
            within = self.enclosing[node.group][:-depth]
            place = tuple((outer.name, outer.module) for outer in within)
            tensor = node.kind, node.shape, node.dtype, node.notes, node.recorded, place
            if node.kind in ("op", "fused"):
                names[node.id] = len(ops)
                ops.append((node.label, *tensor))
            else:
                label = node.label.removeprefix(prefix)
                names[node.id] = label
                owned.append((label, *tensor))
        outside: dict[str, int] = {}
        edges = []
        for edge in self.edges[group.id]:
            source = names.get(edge.source)
            if source is None:
                source = ("outside", outside.setdefault(edge.source, len(outside)))
            target = names[edge.target]
            edges.append((source, target, edge.slot, edge.name, edge.shape, edge.dtype))
        return tuple(ops), frozenset(owned), frozenset(edges), len(edges)
