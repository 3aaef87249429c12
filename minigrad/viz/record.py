"""From the engine's record to a diagram.

What is read here is all that viz knows of the engine: an op's name and arguments, the edges of a
node, shapes, dtypes, stamps, the module call, and the tensor and name of a leaf. None of it is
touched by a backward pass. Every walk is a loop, and sees each node once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.mode import Scope
from minigrad.autograd.node import Leaf
from minigrad.autograd.node import Node as Recorded
from minigrad.nn.parameter import Parameter
from minigrad.viz.model import Diagram, Edge, Group, Kind, Node

__all__ = ["read"]


def read(
    outputs: Sequence[tuple[str, Recorded | Leaf]],
    names: Mapping[Leaf, str],
    dtype: np.dtype[Any],
) -> Diagram:
    """Turn what the engine recorded into a diagram.

    Args:
        outputs: The name of each output and where it comes from.
        names: What to call leaves, beside the names that parameters have of themselves.
        dtype: The dtype that goes without saying.

    Returns:
        The whole graph above the outputs, nothing closed.
    """
    recorded = _walk([source for _, source in outputs])
    ids = {record: f"n{index}" for index, record in enumerate(recorded)}
    calls = _Calls(recorded)
    readers = _readers(recorded)
    parameters = _parameter_names(readers)
    inputs = _input_names(recorded, names, parameters)
    nodes, edges = [], []
    for record in recorded:
        kind: Kind = "op"
        if isinstance(record, Recorded):
            label, home = record.plan.op.name, record.scope
            edges += _edges(record, ids)
        elif record in parameters:
            kind, home = "parameter", _common(readers[record])
            label = names.get(record, parameters[record])
        else:
            kind, label, home = "input", inputs[record], None
        group = calls.group(home)
        nodes.append(Node(ids[record], kind, label, record.shape, record.dtype.name, group))
    for index, (label, source) in enumerate(outputs, start=len(recorded)):
        tensor = (source.shape, source.dtype.name)
        nodes.append(Node(f"n{index}", "output", label, *tensor))
        edges.append(Edge(ids[source], f"n{index}", 0, "", *tensor))
    return Diagram(tuple(nodes), tuple(edges), calls.groups, dtype.name)


def _edges(record: Recorded, ids: Mapping[Recorded | Leaf, str]) -> list[Edge]:
    plan = record.plan
    return [
        Edge(ids[source], ids[record], slot, name, source.shape, source.dtype.name)
        for source, slot, name in zip(record.edges, plan.slots, plan.slot_names, strict=True)
    ]


def _walk(sources: Sequence[Recorded | Leaf]) -> list[Recorded | Leaf]:
    """Everything above the outputs, oldest first."""
    found = dict.fromkeys(sources)
    stack = list(found)
    while stack:
        record = stack.pop()
        if isinstance(record, Recorded):
            for source in record.edges:
                if source not in found:
                    found[source] = None
                    stack.append(source)
    return sorted(found, key=lambda record: record.stamp)


class _Calls:
    """The module calls that ops were made in, numbered, as groups."""

    def __init__(self, recorded: Sequence[Recorded | Leaf]) -> None:
        self._ids: dict[Scope, str] = {}
        scopes: list[Scope] = []
        for record in recorded:
            scope = record.scope if isinstance(record, Recorded) else None
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


def _readers(recorded: Sequence[Recorded | Leaf]) -> dict[Leaf, list[Scope | None]]:
    """For each leaf, the module calls that read it."""
    readers: dict[Leaf, dict[Scope | None, None]] = {}
    for record in recorded:
        if isinstance(record, Recorded):
            for source in record.edges:
                if isinstance(source, Leaf):
                    readers.setdefault(source, {})[record.scope] = None
    return {leaf: list(scopes) for leaf, scopes in readers.items()}


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


def _parameter_names(readers: Mapping[Leaf, Sequence[Scope | None]]) -> dict[Leaf, str]:
    """The full name of every parameter, as the outermost module knows it."""
    tables: dict[Scope, dict[int, str]] = {}
    names: dict[Leaf, str] = {}
    for leaf, scopes in readers.items():
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
    recorded: Sequence[Recorded | Leaf], given: Mapping[Leaf, str], parameters: Mapping[Leaf, str]
) -> dict[Leaf, str]:
    """What was given, and for the others ``input``, numbered where there are several."""
    inputs = [r for r in recorded if isinstance(r, Leaf) and r not in parameters]
    unnamed = [leaf for leaf in inputs if leaf not in given]
    single = {unnamed[0]: "input"} if len(unnamed) == 1 else {}
    numbered = {leaf: f"input {index}" for index, leaf in enumerate(unnamed)}
    return numbered | single | dict(given)
