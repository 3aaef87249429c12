"""Find what repeats itself: calls of modules in a row, such as layers, and loops of ops.

The items directly in a module, or outside of all, are a sequence of ops and calls. It repeats
itself where it has a period: each block is a step. From step to step, whatever is a number changes
by the same amount: sizes, indices, and the place in the sequence where an operand was computed.
That amount is 0 for what all steps share, and the length of a step for what each gets from the step
before it.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from minigrad.viz.record.model import AnyDiagram, Diagram, Group, Node

FEWEST = 3
"""The fewest steps."""

LONGEST = 512
"""The most ops and modules of a step."""

NAMED, RANGES = 3, 2
"""A step of up to so many ops is called by their names; up to so many changing shapes are shown."""

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
"""In the notes of an op. Whole numbers must change regularly, others all or not at all."""

LEAF = -1
"""The place of an operand that no op computed."""


def wrap_repeats(diagram: AnyDiagram, apart: Collection[str] = (), least: int = 20) -> AnyDiagram:
    """Put groups around calls and ops that repeat those before them, but not those `apart`.

    Calls of modules repeat each other if each reads what the one before it computed. The first one
    stays outside of the group, as an example. The name of the group says how many calls it has, and
    whether they share parameters.

    Other repetitions are loops, of at least `least` ops and groups. Around a loop is a group with
    its first step, a group of the steps between, and its last step; a step of several ops is a
    group too. A tensor that only one step gets is in that step.
    """
    sequence = _Sequence(diagram)
    while True:  # a step may hold repetitions
        scopes = _items(diagram).items()
        runs = [run for scope in scopes for run in sequence.runs(*scope, apart, least)]
        if not runs:
            return diagram
        diagram = _wrapped(diagram, runs)


def is_repeat(group: Group) -> bool:
    """Whether a group holds only calls or steps that repeat each other."""
    return "…" in group.id


SIZE, FRACTION, OPERAND = range(3)
"""The roles of the numbers of an op: a size or an index, a fraction, the place of an operand."""


def _is_whole(text: str) -> bool:
    return text.isdecimal() and len(text) < 16


def _sign(number: re.Match[str]) -> str:
    return "#" if _is_whole(number[0]) else "~"


class Bundle(NamedTuple):
    """Edges that lead the tensors of all steps to the same place: they are drawn as one."""

    group: str  # the repetition that they leave
    tensor: str  # the last of the boxes that they come from: it represents them all
    first: int  # the number of the first edge
    name: str  # what the op calls the argument, or the arguments: ``tensors[1…48]``


def bundles(diagram: Diagram) -> dict[int, Bundle]:
    """Find the edges that leave repetitions, and say with which others each is drawn."""
    places: dict[str, tuple[str, int]] = {}  # the outermost repetition, and where in its step
    counts: dict[str, int] = defaultdict(int)
    for node, path in diagram.ancestors().items():
        outer = next((at for at in reversed(range(1, len(path))) if "…" in path[at]), 0)
        if outer:
            step = path[outer - 1]
            places[node] = path[outer], counts[step]
            counts[step] += 1
    last: dict[tuple[str, int], str] = {}
    together: dict[object, list[int]] = defaultdict(list)
    for index, edge in enumerate(diagram.edges):
        place = places.get(edge.source)
        if place and place[0] != places.get(edge.target, ("", 0))[0]:
            last[place] = edge.source
            slot = edge.name.partition("[")[0] if "[" in edge.name else edge.slot
            together[place, edge.target, slot].append(index)
    found: dict[int, Bundle] = {}
    for numbers in together.values():
        first, final = (diagram.edges[at] for at in (numbers[0], numbers[-1]))
        place, name = places[first.source], first.name
        if len(numbers) > 1:
            name = f"{name.rstrip(']')}…{final.name.rpartition('[')[2]}"
        found |= dict.fromkeys(numbers, Bundle(place[0], last[place], numbers[0], name))
    return found


Reads = defaultdict[str, set[str]]
"""The parameters that the ops in each group read, by id."""


class _Item(NamedTuple):
    """An op, or a group with the ops in it."""

    id: str
    start: int  # the place of its first op in the sequence
    end: int  # just past its last op


class _Run(NamedTuple):
    """A repetition as it was found."""

    scope: str | None  # the id of the group that it is in
    steps: list[list[str]]  # the ids of the ops and groups of each step
    calls: bool = False  # whether each step is a call that reads what the one before computed


def _items(diagram: Diagram) -> dict[str | None, list[_Item]]:
    """The ops and groups directly in each group, in order."""
    ops = (node.id for node in diagram.nodes if node.kind == "op")
    ancestors, found = diagram.ancestors(), defaultdict[str | None, list[_Item]](list)
    for index, node in enumerate(ops):
        path = ancestors[node]
        for item, scope in zip(path, [*path[1:], None], strict=True):
            items = found[scope]
            start = items.pop().start if items and items[-1].id == item else index
            items.append(_Item(item, start, index + 1))
    return found


class _Sequence:
    """The ops of a diagram, as numbers that tell which ones correspond."""

    def __init__(self, diagram: Diagram) -> None:
        ops = [node for node in diagram.nodes if node.kind == "op"]
        place = {node.id: index for index, node in enumerate(ops)}
        into = diagram.into()
        owned = {
            node.id: (node.kind, node.shape, node.recorded)
            for node in diagram.nodes
            if node.kind in ("parameter", "buffer")
        }
        around = diagram.enclosing()
        homes = {home: tuple(one.module or one.name for one in around[home]) for home in around}
        self._calls = {group.id for group in diagram.groups}
        self._kinds = np.zeros(len(ops), np.int64)  # equal for ops that may correspond
        self._begin = [0]  # where the numbers of each op begin
        numbers: list[int] = []
        roles: list[int] = []  # of each number: of a size or an index, a fraction, or an operand
        kinds: dict[object, int] = {}
        fractions: dict[str, int] = {}
        for index, node in enumerate(ops):
            edges, notes = into[node.id], "\n".join(node.notes)
            kind = (
                node.label, node.dtype, len(node.shape), node.recorded, NUMBER.sub(_sign, notes),
                tuple((edge.slot, edge.name, len(edge.shape)) for edge in edges), homes[node.group],
                tuple(owned[edge.source] for edge in edges if edge.source in owned),
            )  # fmt: skip
            self._kinds[index] = kinds.setdefault(kind, len(kinds))
            sizes = [*node.shape, *(size for edge in edges for size in edge.shape)]
            numbers += sizes
            roles += [SIZE] * len(sizes)
            for text in NUMBER.findall(notes):
                whole = _is_whole(text)
                numbers.append(int(text) if whole else fractions.setdefault(text, len(fractions)))
                roles.append(SIZE if whole else FRACTION)
            numbers += [place.get(edge.source, LEAF) for edge in edges]
            roles += [OPERAND] * len(edges)
            self._begin.append(len(numbers))
        self._numbers, self._roles = np.array(numbers, np.int64), np.array(roles, np.int8)

    def runs(
        self, scope: str | None, items: Sequence[_Item], apart: Collection[str], least: int
    ) -> Iterator[_Run]:
        """The repetitions directly in a group, the longest first."""
        place = {item.id: index for index, item in enumerate(items)}
        if len(place) < len(items) or (scope and "…" in scope):
            return
        kinds: dict[object, int] = {}
        symbols = []
        for item in items:
            kind = self._kinds[item.start : item.end].tobytes(), item.id in self._calls
            symbols.append(kinds.setdefault(kind, len(kinds)))
        free = np.ones(len(items), bool)
        for start, end, period in _stretches(np.array(symbols)):
            left = start + np.flatnonzero(free[start:end])
            if not left.size or left.size <= left[-1] - left[0]:
                continue  # something longer is in the middle
            steps, chained = self._steps(items[left[0] : left[-1] + 1], period)
            calls = chained and period == 1 and steps[0][0] in self._calls
            if not calls and len(steps) * period < least:
                continue
            free[place[steps[0][0]] : place[steps[-1][-1]] + 1] = False
            begins = [at for at, step in enumerate(steps) if calls and at and step[0] in apart]
            for first, last in pairwise([0, *begins, len(steps)]):
                if last - first >= FEWEST:
                    yield _Run(scope, steps[first:last], calls)

    def _steps(self, items: Sequence[_Item], period: int) -> tuple[list[list[str]], bool]:
        """The steps of a loop, and whether each reads what the one before it computed.

        Where the stretch is longer than its steps, they begin where the fewest tensors pass on.
        """
        count, seams = len(items) // period, range(len(items) % period + 1)
        found = self._regular(items, period)
        if not found[0] or len(seams) == 1:
            return found
        middle, length = items[count // 2 * period :], (items[-1].end - items[0].start) // count

        def passing(seam: int) -> int:
            at = middle[seam].start
            inside = slice(self._begin[at], self._begin[min(at + length, len(self._begin) - 1)])
            sources = self._numbers[inside][self._roles[inside] == OPERAND]
            return len({*sources[(at - length <= sources) & (sources < at)].tolist()})

        return self._regular(items[min(seams, key=lambda seam: (passing(seam), -seam)) :], period)

    def _regular(self, items: Sequence[_Item], period: int) -> tuple[list[list[str]], bool]:
        """The longest row of steps from each of which to the next the numbers change alike.

        The first step may get its operands from elsewhere: it has no step before it.
        """
        count = len(items) // period
        if count < FEWEST:
            return [], False
        start, end = items[0].start, items[count * period - 1].end
        length = (end - start) // count
        inside = slice(self._begin[start], self._begin[end])
        numbers = self._numbers[inside].reshape(count, -1)
        roles = self._roles[inside].reshape(count, -1)[0]
        reads = roles == OPERAND
        outside = reads & (numbers < start + length * np.arange(count)[:, None])
        changes = np.diff(numbers, axis=0)
        changes[:, roles == FRACTION] = changes[:, roles == FRACTION] != 0
        breaks = np.flatnonzero((changes[1:] != changes[:-1]).any(axis=1)) + 1
        first, last = max(pairwise([0, *breaks, count - 1]), key=lambda ends: ends[1] - ends[0])
        change = changes[first]
        known = np.isin(change[reads], (0, length)).all()  # what all share, or of the step before
        if not known and last - first < 2:
            return [], False  # of two steps, any two operands would do
        if first:
            elsewhere = outside[first - 1] & outside[first]
            first -= bool(((changes[first - 1] == change) | elsewhere).all())
        if last - first + 1 < FEWEST:
            return [], False
        names = [item.id for item in items]
        steps = [names[at * period : (at + 1) * period] for at in range(first, last + 1)]
        return steps, bool((outside[last] & (change == length)).any())


def _stretches(symbols: np.ndarray) -> list[tuple[int, int, int]]:
    """The start, end and period of each stretch at least three periods long, the longest first."""
    found = []
    for period in range(1, min(len(symbols) // FEWEST, LONGEST) + 1):
        same = np.concatenate([[False], symbols[period:] == symbols[:-period], [False]])
        starts, ends = np.flatnonzero(same[1:] != same[:-1]).reshape(-1, 2).T
        long = ends - starts >= (FEWEST - 1) * period
        stretches = zip(starts[long].tolist(), ends[long].tolist(), strict=True)
        found += [(start, end + period, period) for start, end in stretches]
    return sorted(found, key=lambda one: (one[0] - one[1], one[2]))


def _wrapped(diagram: AnyDiagram, runs: Sequence[_Run]) -> AnyDiagram:
    """Put groups around what repeats."""
    nodes = {node.id: node for node in diagram.nodes}
    groups = {group.id: group for group in diagram.groups}
    called: dict[str, str] = {}  # the new group directly around each call
    looped: dict[str, str] = {}  # and around each op and group of a loop
    added: dict[str | None, list[Group]] = defaultdict(list)
    reads, ancestors = Reads(set), diagram.ancestors()
    for edge in diagram.edges:
        if nodes[edge.source].kind == "parameter":
            for outer in ancestors[edge.target]:
                reads[outer].add(edge.source)
    for run in runs:
        around, homes = (_around_calls, called) if run.calls else (_around_loop, looped)
        made, found = around(run, groups, nodes, reads)
        added[run.scope] += made
        homes.update(found)
    begins = {looped[step[0]] for run in runs if not run.calls for step in run.steps[:1]}
    homes = called | looped | _given(diagram, looped, begins)
    changed = added[None]
    for group in diagram.groups:
        changed.append(replace(group, parent=homes.get(group.id, group.parent)))
        changed += added[group.id]
    moved = (
        replace(node, group=homes[node.id]) if node.id in homes else node for node in diagram.nodes
    )
    return replace(diagram, nodes=tuple(moved), groups=tuple(changed))


def _around_calls(
    run: _Run, groups: Mapping[str, Group], nodes: Mapping[str, Node], reads: Reads
) -> tuple[list[Group], dict[str, str]]:
    """The group of all calls but the first, and the new parents of its items."""
    calls = [groups[call] for (call,) in run.steps[1:]]
    first, last = calls[0], calls[-1]
    around = f"{first.id}…{last.id}"
    homes = {call.id: around for call in calls}
    if first.function:
        return [replace(first, id=around, name=f"{first.name} ×{len(calls)}")], homes
    own = len({group.path for group in calls}) == len(calls)
    name = f"{first.name or first.module}, calls {first.call} … {last.call}"
    name = f"{first.name} … {last.name}" if own else name
    sizes = [group.size for group in (calls if own else calls[:1])]
    read = Counter(source for call in calls for source in reads[call.id] if own)
    twice = sum(math.prod(nodes[source].shape) * (read[source] - 1) for source in read)
    size = None if None in sizes else sum(filter(None, sizes)) - twice
    kind = f"{first.module} ×{len(calls)}" + ("" if own else " with the same parameters")
    path = first.path.removesuffix(first.name).removesuffix(".")
    return [Group(around, name, path, kind, first.parent, size)], homes


def _around_loop(
    loop: _Run, groups: Mapping[str, Group], nodes: Mapping[str, Node], _reads: Reads
) -> tuple[list[Group], dict[str, str]]:
    """The groups of a loop, parents first, and the new parents of their items."""
    steps, count = loop.steps, len(loop.steps)
    path = f"{groups[loop.scope].path}.loop".removeprefix(".") if loop.scope else "loop"
    each = f"{len(steps[0])} ops"
    if len(steps[0]) <= NAMED:
        inside = (nodes.get(item) or groups[item] for item in steps[0])
        each = ", ".join(
            one.label if isinstance(one, Node) else one.name or one.module for one in inside
        )

    def around(name: str, start: int, end: int, parent: str | None, between: str) -> Group:
        times = [f"{each} ×{end - start:,}"] if end - start > 1 else [each]
        kind = " · ".join([*times, *_changes(steps[start], steps[end - 1], nodes)])
        ends = f"{steps[start][0]}{between}{steps[end - 1][-1]}"
        return Group(ends, name, path if name == "loop" else f"{path}.{name}", kind, parent)

    outer = middle = around("loop", 0, count, loop.scope, "-")
    made, homes = [outer], dict[str, str]()
    if count > FEWEST:
        middle = around(f"steps 2 … {count - 1:,}", 1, count - 1, outer.id, "…")
        made.append(middle)
    for at, step in enumerate(steps):
        home = middle if 0 < at < count - 1 else outer
        if len(step) > 1:
            home = around(f"step {at + 1:,}", at, at + 1, home.id, "-")
            made.append(home)
        homes |= dict.fromkeys(step, home.id)
    return made, homes


def _changes(first: Sequence[str], last: Sequence[str], nodes: Mapping[str, Node]) -> list[str]:
    """Write the shapes and fractions that change: ``2…40×16``, ``b = 0.5 … 0.1``."""
    found: dict[str, None] = {}
    for one, two in zip(first, last, strict=True):
        if one in nodes and nodes[one].shape != nodes[two].shape:
            sizes = zip(nodes[one].shape, nodes[two].shape, strict=True)
            texts = (str(a) if a == b else f"{a}…{b}" for a, b in sizes)
            found["×".join(texts)] = None
        notes = zip(nodes[one].notes, nodes[two].notes, strict=True) if one in nodes else ()
        for begin, end in notes:
            if begin != end and "." in begin:
                short = [NUMBER.sub(lambda one: f"{float(one[0]):.4g}", n) for n in (begin, end)]
                found[f"{short[0]} … {short[1].rpartition(' ')[2]}"] = None
    return list(found)[:RANGES]


def _given(diagram: Diagram, looped: Mapping[str, str], begins: Collection[str]) -> dict[str, str]:
    """The new homes of what only one step was given; an input of a first step stays outside."""
    nodes, ancestors = {node.id: node for node in diagram.nodes}, diagram.ancestors()
    readers: dict[str, set[str | None]] = defaultdict(set)
    for edge in diagram.edges:
        path = (*ancestors[edge.target], None)
        home = nodes[edge.source].group
        beside = path[path.index(home) - 1] if home in path else None
        readers[edge.source].add(looped.get(beside or ""))
    return {
        source: home
        for source, (home, *others) in readers.items()
        if home and not others and nodes[source].kind != "op"
        if home not in begins or nodes[source].kind != "input"
    }
