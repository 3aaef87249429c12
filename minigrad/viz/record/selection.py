"""The boxes that a caller opens or hides: modules by path or class, the rest by name."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from minigrad.viz.record.model import LEAVES, AnyDiagram, Diagram, Edge, Group, Node

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


def hidden(diagram: AnyDiagram, choice: Choice) -> AnyDiagram:
    """Leave out the chosen boxes; what read them now reads what they read.

    With an op go the parameters and constants that only it reads.
    """
    away = chosen(diagram, "hide", choice)
    return _without(diagram, away) if away else diagram


def _chosen(what: str, choice: Choice, among: Iterable[Group | Node]) -> set[str]:
    """The ids of the groups and boxes that are called as the caller says."""
    names: dict[str, tuple[str, ...]] = {}
    for one in among:
        box = one if isinstance(one, Node) else one.op
        if box is not None:
            names[one.id] = (box.label,)
        elif isinstance(one, Group):
            names[one.id] = (one.name,) if one.function else (one.path, one.module)
    found: set[str] = set()
    for name in (wanted if isinstance(wanted, str) else wanted.__name__ for wanted in choice):
        so_called = {item for item in names if any(fnmatchcase(n, name) for n in names[item] if n)}
        if not so_called:
            near = get_close_matches(name, {text for texts in names.values() for text in texts})
            hint = f"; similar: {', '.join(near)}" if near else ""
            raise ValueError(
                f"{what}: no module, function or op of this graph is called {name!r}{hint}"
            )
        found |= so_called
    return found


def _without(diagram: AnyDiagram, away: set[str]) -> AnyDiagram:
    nodes = {node.id: node for node in diagram.nodes}
    into = diagram.into()
    read = {edge.source for edge in diagram.edges}
    read -= {edge.source for edge in diagram.edges if edge.target not in away}
    away = away | {node.id for node in diagram.nodes if node.kind in LEAVES and node.id in read}
    through: dict[str, list[Edge]] = {}  # for each box that is left out, what comes in its place
    edges = []

    def rerouted(reads: Iterable[Edge]) -> list[Edge]:
        return [
            replace(one, target=edge.target, slot=edge.slot, name=edge.name)
            for edge in reads
            for one in through.get(edge.source, [edge])
        ]

    for node in diagram.nodes:
        came = rerouted(into[node.id])
        if node.id not in away:
            edges += came
        else:
            tensors = {one.source: one for one in came if nodes[one.source].kind not in LEAVES}
            through[node.id] = list(tensors.values())
    kept = tuple(node for node in diagram.nodes if node.id not in away)
    ancestors = diagram.ancestors()
    held = {item for node in kept for item in ancestors[node.id]}
    groups = tuple(
        replace(group, operands=tuple(rerouted(group.operands)))
        for group in diagram.groups
        if group.id in held
    )
    return replace(diagram, nodes=kept, edges=tuple(edges), groups=groups)
