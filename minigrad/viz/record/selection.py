"""The boxes that a caller chooses: modules by path or class, the rest by name."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from minigrad.viz.record.model import Diagram, Group, Node

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
            near = get_close_matches(name, {text for texts in names.values() for text in texts})
            hint = f"; similar: {', '.join(near)}" if near else ""
            raise ValueError(
                f"{what}: no module, function or op of this graph is called {name!r}{hint}"
            )
        found |= so_called
    return found
