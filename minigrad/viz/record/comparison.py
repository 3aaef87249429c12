"""Compare two graphs.

An op is matched by the module calls around it, its name, and its position among the ops of that
name there; a parameter, input or output by its name. A fused op is one op, decomposed or not.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from minigrad.viz.record.fold import close
from minigrad.viz.record.model import UNKNOWN, Diagram, Group, Node
from minigrad.viz.record.steps import Summary
from minigrad.viz.record.writing import columns, printable, size_text

Key = tuple[str | int, ...]

OWNED = ("parameter", "buffer", "input", "output")
"""Boxes of these kinds are matched by their names alone."""


@dataclass(frozen=True, slots=True)
class Change:
    """A box that is different in two graphs.

    Attributes:
        name: Its module and its name: ``"layers.0: linear"``; ``"add #2"`` is the second ``add``.
        before: The box in the first graph, None if it was added.
        after: The box in the second graph, None if it was removed.
        facts: For a box in both, the differences: ``"shape 2×3 → 2×4"``.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> [before, after] = [viz.graph(nn.Linear(3, 4), ones(n, 3)) for n in (1, 2)]
        >>> [change.name for change in viz.diff(before, after).changed]
        ['input', 'linear', 'output']
    """

    name: str
    before: Node | None
    after: Node | None
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Difference:
    """The result of `diff`: false if there is no difference; it prints as text.

    Attributes:
        added: The boxes that only the second graph has.
        removed: The boxes that only the first graph has.
        changed: The boxes that are not the same in both.
        unknown: The boxes of which something is not known. A graph that was not traced knows only
            what rules saved, and loses that when a backward pass has run.

    Example:
        >>> from minigrad import exp, ones, viz
        >>> x = ones(3, requires_grad=True)
        >>> found = viz.diff(viz.graph(exp(x) * x), viz.graph(exp(x)))
        >>> len(found.added), len(found.removed), len(found.changed)
        (0, 1, 1)
    """

    added: tuple[Change, ...] = ()
    removed: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    unknown: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __repr__(self) -> str:
        if not self and not self.unknown:
            return "no difference"
        signs = {"+": self.added, "−": self.removed, "≠": self.changed}
        lines = [("no difference in what is known", "")] * (not self)
        lines += [
            (f"{sign} {change.name}", ", ".join(change.facts) or _shape(change))
            for sign, changes in (signs if self else {"?": self.unknown}).items()
            for change in changes
        ]
        if self and self.unknown:
            lines.append((f"? {len(self.unknown):,} boxes of which not all is known", ""))
        return columns(iter(lines))


def diff(before: Diagram, after: Diagram, *, rtol: float = 0.0) -> Difference:
    """Compare two graphs, box by box.

    It compares shapes, dtypes, static arguments, the inputs of each op, whether it was recorded,
    and the norms of saved constants; of two traces also the norms of all saved arrays and of the
    gradients. Arguments that are not known are left out: a trace knows all of them, another graph
    those that require a gradient or were saved.

    Args:
        before: One whole graph.
        after: Another one.
        rtol: The relative difference up to which two norms count as the same.

    Returns:
        The added, removed and changed boxes; nothing for two runs from the same seed.

    Raises:
        TypeError: One of them is not a graph.
        ValueError: `rtol` is negative.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> old = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        >>> new = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        >>> viz.diff(viz.graph(old, ones(1, 3)), viz.graph(new, ones(1, 3)))
        + 1: tanh    1×5
        − 1: relu    1×4
        ≠ 0.weight   shape 4×3 → 5×3
        ≠ 0.bias     shape 4 → 5
        ≠ 2.weight   shape 2×4 → 2×5
        ≠ 0: linear  shape 1×4 → 1×5
        ≠ 2: linear  x: 1: relu → 1: tanh
    """
    for graph in (before, after):
        if not isinstance(graph, Diagram):
            raise TypeError(f"diff: expected two graphs, got {type(graph).__name__}")
    if not rtol >= 0:
        raise ValueError(f"diff: rtol should be 0 or more, not {rtol}")
    one, other = _Boxes(before), _Boxes(after)
    both = {key: node for key, node in one.nodes.items() if key in other.nodes}
    changes = [
        Change(one.names[key], node, other.nodes[key], tuple(_facts(one, other, key, rtol)))
        for key, node in both.items()
    ]
    unknown = (replace(change, facts=_unknown(change)) for change in changes)
    return Difference(
        tuple(Change(other.names[k], None, n) for k, n in other.nodes.items() if k not in both),
        tuple(Change(one.names[k], n, None) for k, n in one.nodes.items() if k not in both),
        tuple(change for change in changes if change.facts),
        tuple(change for change in unknown if change.facts),
    )


class _Boxes:
    """The boxes of a graph by keys that another graph may have too."""

    def __init__(self, diagram: Diagram) -> None:
        diagram = close(diagram, {group.id for group in diagram.groups if group.op is not None})
        places, paths = _places(diagram.groups)
        self.nodes: dict[Key, Node] = {}
        self.names: dict[Key, str] = {}  # the module and the name of each box
        keys: dict[str, Key] = {}
        counted: Counter[Key] = Counter()
        for node in diagram.nodes:
            owned = node.kind in OWNED
            place = ("", node.kind, node.label) if owned else (*places[node.group], "", node.label)
            counted[place] += 1
            keys[node.id] = key = (*place, counted[place])
            self.nodes[key] = node
            path = "" if owned else paths[places[node.group]]
            number = f" #{counted[place]}" if counted[place] > 1 else ""
            self.names[key] = f"{path}{': ' if path else ''}{printable(node.label)}{number}"
        self.read: dict[Key, dict[str, Key]] = defaultdict(dict)
        for edge in diagram.edges:
            self.read[keys[edge.target]].setdefault(edge.name, keys[edge.source])
        self.norms: dict[Key, list[float]] = defaultdict(list)
        stepped = {step.node for step in diagram.steps}
        for step in diagram.steps:
            self.norms[keys[step.node]].append(_norm(step.cotangent))
            for part in step.parts:
                if part.target not in stepped:
                    self.norms[keys[part.target]].append(_norm(part.sent))


def _places(groups: Sequence[Group]) -> tuple[dict[str | None, Key], dict[Key, str]]:
    """A key for each module call, and its path as text."""
    places: dict[str | None, Key] = {None: ()}
    paths: dict[Key, str] = {(): ""}
    counted: Counter[Key] = Counter()
    for group in groups:
        place = (*places[group.parent], group.name or group.module)
        counted[place] += 1
        places[group.id] = key = (*place, counted[place])
        own = group.place if group.function else group.path
        again = f"{group.place} (call {counted[place]})" if counted[place] > 1 else ""
        paths[key] = printable(again or own)
    return places, paths


def _facts(one: _Boxes, other: _Boxes, key: Key, rtol: float) -> Iterator[str]:
    """The differences between two boxes."""
    a, b = one.nodes[key], other.nodes[key]
    if a.shape != b.shape:
        yield f"shape {size_text(a)} → {size_text(b)}"
    if a.dtype != b.dtype:
        yield f"dtype {a.dtype} → {b.dtype}"
    for what, texts in (("arguments", _known(a, b)), ("error", [(a.error,), (b.error,)])):
        if texts[0] != texts[1]:
            left, right = (", ".join(map(printable, text)) or "none" for text in texts)
            yield f"{what} {left} → {right}"
    if a.recorded != b.recorded:
        yield "recorded" if b.recorded else "not recorded"
    yield from _inputs(one, other, key)
    if one.norms and other.norms:
        yield from _moved("gradient norm", one.norms.get(key, []), other.norms.get(key, []), rtol)
    saved = [
        {s.name: s.numbers.norm for s in node.saved if s.numbers is not None} for node in (a, b)
    ]
    for name in (name for name in saved[0] if name in saved[1]):
        yield from _moved(f"norm of saved {name}", [saved[0][name]], [saved[1][name]], rtol)


def _known(a: Node, b: Node) -> list[tuple[str, ...]]:
    """The notes of two boxes about arguments that both know."""
    if a.freed or b.freed:
        return [(), ()]
    lost = {note.removesuffix(UNKNOWN) for note in (*a.notes, *b.notes) if note.endswith(UNKNOWN)}
    return [
        tuple(note for note in node.notes if note.partition(" = ")[0] not in lost)
        for node in (a, b)
    ]


def _unknown(change: Change) -> tuple[str, ...]:
    """The facts about a box that at least one of two graphs does not know."""
    boxes = [node for node in (change.before, change.after) if node is not None]
    lost = [note for node in boxes for note in node.notes if note.endswith(UNKNOWN)]
    freed = ["what was saved" + UNKNOWN] * any(node.freed for node in boxes)
    return tuple(dict.fromkeys((*lost, *freed)))


def _inputs(one: _Boxes, other: _Boxes, key: Key) -> Iterator[str]:
    before, after = one.read.get(key, {}), other.read.get(key, {})
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            left = one.names[before[name]] if name in before else "nothing"
            right = other.names[after[name]] if name in after else "nothing"
            yield f"{printable(name) or 'reads'}: {left} → {right}"


def _norm(gradient: Summary) -> float:
    """The norm of a gradient; 0 if it is zero up to rounding."""
    return 0.0 if gradient.cancelled else gradient.norm


def _moved(what: str, before: list[float], after: list[float], rtol: float) -> Iterator[str]:
    same = len(before) == len(after) and all(
        math.isclose(x, y, rel_tol=rtol) for x, y in zip(before, after, strict=True)
    )
    if not same:
        left, right = (", ".join(f"{x:.4g}" for x in norms) or "none" for norms in (before, after))
        yield f"{what} {left} → {right}"


def _shape(change: Change) -> str:
    node = change.after or change.before
    return "" if node is None else size_text(node)
