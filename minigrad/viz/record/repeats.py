"""Modules that do the same one after the other, such as the layers of an encoder, made one group.

Two calls are alike if their classes, ops, shapes and connections are, and the parameters in the
same places. Only calls of which each reads what the one before it computed are put together, and
the first of them stays as it is: an example of the others.
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
    """Put a group around calls that repeat the call before them.

    Args:
        diagram: The whole graph.

    Returns:
        The diagram with more groups: one for each run of repetitions. Their names say how many,
        and whether they have parameters of their own or are calls of one module.
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
        self.inside: dict[str, list[Node]] = defaultdict(list)
        self.edges: dict[str, list[Edge]] = defaultdict(list)  # by the groups around their target
        self.steps: dict[str | None, dict[str, None]] = defaultdict(dict)
        around = {node.id: list(self._around(node.group)) for node in diagram.nodes}
        for node in diagram.nodes:
            item = node.id
            for group in (*around[node.id], None):
                if group is not None:
                    self.inside[group].append(node)
                if node.kind in ("op", "fused"):
                    self.steps[group][item] = None  # in the order of their first ops
                item = group or ""
        for edge in diagram.edges:
            for group in around[edge.target]:
                self.edges[group].append(edge)

    def _around(self, group: str | None) -> Iterator[str]:
        while group is not None:
            yield group
            group = self.groups[group].parent

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
        """Whether a call does to the result of the call before it what that did."""
        one, two = self.groups.get(before), self.groups.get(item)
        if one is None or two is None or one.op or two.op or one.module != two.module:
            return False
        made = {node.id for node in self.inside[before]}
        return any(edge.source in made for edge in self.edges[item]) and self._alike(one, two)

    def _alike(self, one: Group, two: Group) -> bool:
        return len(self.inside[one.id]) == len(self.inside[two.id]) and (
            self._signature(one) == self._signature(two)
        )

    def _signature(self, group: Group) -> Hashable:
        """What a group is made of, without the names of the group and of what is outside."""
        prefix = f"{group.path}."

        def place(node: Node) -> tuple[str, ...]:
            names = []
            for outer in self._around(node.group):
                if outer == group.id:
                    break
                names.append(f"{self.groups[outer].name} {self.groups[outer].module}")
            return tuple(names)

        names: dict[str, Hashable] = {}
        ops: list[Hashable] = []
        owned: list[Hashable] = []
        for node in self.inside[group.id]:
            tensor = node.kind, node.shape, node.dtype, node.notes, node.recorded, place(node)
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
