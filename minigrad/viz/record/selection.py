"""The boxes that a caller chooses, modules by path or class, the rest by name; and their values."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from minigrad.viz.record.model import AnyDiagram, Diagram, Group, Node
from minigrad.viz.record.steps import IN_FULL, Summary, largest_in_full

Choice = Sequence[str | type]
"""Modules, functions and ops: a path, a name or a pattern such as ``"*.norm?"``, or a class."""


def opened(diagram: Diagram, choice: Choice) -> set[str]:
    """The ids of the chosen groups, and of those around them."""
    enclosing = diagram.enclosing()
    found = _chosen("open", choice, diagram.groups)
    return {outer.id for group in found for outer in enclosing[group]}


def chosen(diagram: Diagram, what: str, choice: Choice) -> set[str]:
    """The ids of the chosen boxes: of ops and tensors, and of all that is in chosen modules."""
    found = _chosen(what, choice, (*diagram.groups, *diagram.nodes))
    outputs = {node.id for node in diagram.nodes if node.kind == "output"}
    return {node for node, own in diagram.ancestors().items() if found & {*own}} - outputs


def limited(diagram: AnyDiagram, choice: Choice) -> AnyDiagram:
    """The diagram with the whole arrays of chosen boxes, and of others not too many.

    A gradient belongs to the box of the tensor whose gradient it is.
    """
    asked = chosen(diagram, "values", choice)
    arrays: list[Summary | None] = [step.cotangent for step in diagram.steps]
    arrays += [one for step in diagram.steps for p in step.parts for one in (p.sent, p.total)]
    arrays += [one.numbers for node in diagram.nodes for one in node.saved]
    arrays += [node.value for node in diagram.nodes]
    whole = (one for one in arrays if one is not None and one.whole())
    largest = min(IN_FULL, largest_in_full(whole))

    def kept(one: Any, box: str) -> Any:
        large = one is not None and math.prod(one.shape) > largest and box not in asked
        return one.shortened() if large and one.whole() else one

    nodes, steps = [], []
    for node in diagram.nodes:
        saved = [replace(one, numbers=kept(one.numbers, node.id)) for one in node.saved]
        nodes.append(replace(node, value=kept(node.value, node.id), saved=tuple(saved)))
    for step in diagram.steps:
        parts = [
            replace(part, sent=kept(part.sent, part.target), total=kept(part.total, part.target))
            for part in step.parts
        ]
        steps.append(replace(step, cotangent=kept(step.cotangent, step.node), parts=tuple(parts)))
    return replace(diagram, nodes=tuple(nodes), steps=tuple(steps))


def _chosen(what: str, choice: Choice, among: Iterable[Group | Node]) -> set[str]:
    """The ids of the groups and boxes that are called as the caller says."""
    names: dict[str, tuple[str, ...]] = {}
    for one in among:
        if isinstance(one, Node):
            names[one.id] = (one.label,)
        else:
            names[one.id] = (one.name,) if one.function else (one.path, one.module)
    found: set[str] = set()
    for name in (wanted if isinstance(wanted, str) else wanted.__name__ for wanted in choice):
        so_called = {item for item in names if any(fnmatchcase(n, name) for n in names[item] if n)}
        if not so_called:
            hint = similar(name, {text for texts in names.values() for text in texts})
            raise ValueError(
                f"{what}: no module, function or op of this graph is called {name!r}{hint}"
            )
        found |= so_called
    return found


def similar(name: str, known: Iterable[str], most: int = 3) -> str:
    """Advice for an error: the names that are nearly this one; "" if there are none."""
    near = get_close_matches(name, [*known], most)
    return f"; similar: {', '.join(near)}" if near else ""
