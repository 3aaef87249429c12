"""From sizes to positions: where each box, frame and line lies, for a choice of open groups.

This is the one part of the layout that the page has too (``pack.js``), since opening a group
changes its size. Groups are packed from the inside out: an open one is as large as its content.
Ranks, orders and chains are given. Lines bend only between ranks, where no box is; within a rank
each keeps to the column of its box or its dummy. All positions are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from minigrad.viz.layout.model import TOP, End, Placement, Point, Scope, Skeleton

__all__ = ["INDENT", "Measured", "Packed", "measure", "pack", "place"]

MARGIN, PAD = 16, 14
"""Around the whole, and within a frame."""

BESIDE, LANE = 22, 12
"""Between two boxes, and between two lines."""

GAP, STEEP, WIDEST, SHORT = 24, 8, 48, 14
"""Between two ranks: at least, one more for so much sideways, at most; where no arrow ends."""

TEXT, INDENT = 15, 5
"""The height of what is written at the foot of a box, and how far from the line it is."""


class Packed(NamedTuple):
    """A group with positions, measured from the upper left corner of its frame."""

    width: int  # of its frame
    height: int  # of its frame
    title: int  # how far from the left its title begins
    x: list[int]  # the middle of each item
    y: list[int]  # the upper edge of each item
    lines: list[list[Point]]  # the points of each line


class Measured(NamedTuple):
    """The sizes of the items of a group, for a choice of open groups in it."""

    inner: list[Packed | None]  # the items that are open groups; None for the others
    sizes: list[tuple[int, int]]  # width and height of each item
    reach: list[int]  # how far each reaches to the right of its middle
    left: list[int]  # the room that each needs to the left of its middle
    right: list[int]  # the same to the right
    ends: list[tuple[int, int]]  # how far right of the middle of its two items each line ends


def measure(scope: Scope, packed: Mapping[str, Packed]) -> Measured:
    """Measure the items of a group, of which those in `packed` are open."""
    inner = [packed.get(box.id) if box else None for box in scope.items]
    sizes, reach, margins = [], [], []
    for box, group in zip(scope.items, inner, strict=True):
        size = group[:2] if group else box[1:3] if box else (0, 0)
        sizes.append(size)
        reach.append(box.reach if box and not group else size[0] // 2)
        margins.append(BESIDE if box else LANE)

    def door(item: int, end: End) -> int:
        group = inner[item]
        return group.x[end[1]] - group.width // 2 if group else end[0]

    return Measured(
        inner,
        sizes,
        reach,
        [(width + margin) // 2 for (width, _), margin in zip(sizes, margins, strict=True)],
        [far + margin // 2 for far, margin in zip(reach, margins, strict=True)],
        [(door(line.way[0], line.out), door(line.way[-1], line.into)) for line in scope.lines],
    )


def pack(scope: Scope, packed: Mapping[str, Packed]) -> Packed:
    """Give the items of a group their positions; `packed` holds at least the open ones."""
    m = measure(scope, packed)
    middles = _columns(scope, m)

    # From left to right: the frame holds all items, then the lanes, then the title if it is wide.
    pad = PAD if scope.title else MARGIN
    low = min((x - width // 2 for x, (width, _) in zip(middles, m.sizes, strict=True)), default=0)
    high = max((x + far for x, far in zip(middles, m.reach, strict=True)), default=0)
    lanes = max((line.lane for line in scope.lines), default=-1) + 1
    width, shift, title = high - low + lanes * LANE + 2 * pad, pad - low, pad
    if scope.title:
        ports = [x + shift for x in middles[: scope.rows[0]]]
        title, lack = _beside(scope.title[0], ports, width)
        # What goes to the right brings the ports back to the middle.
        balance = ports[0] + ports[-1] + lack - width if ports else lack
        shift += lack
        width += lack + min(max(balance, 0), lack)
    width += width % 2
    x = [middle + shift for middle in middles]

    # From the top down: the more lines run sideways, the wider is the gap between two ranks.
    row = [number for number, count in enumerate(scope.rows) for _ in range(count)]
    aside, arrows = [0] * len(scope.rows), [False] * len(scope.rows)
    for line, (out, into) in zip(scope.lines, m.ends, strict=True):
        if line.lane >= 0:
            aside[row[line.way[0]]] = aside[row[line.way[-1]] - 1] = width
            continue
        for at, (upper, lower) in enumerate(pairwise(line.way), 1):
            start, end = x[upper] + out * (at == 1), x[lower] + into * (at == len(line.way) - 1)
            aside[row[upper]] = max(aside[row[upper]], abs(end - start))
            arrows[row[upper]] |= bool(scope.items[lower]) and not m.inner[lower]
    tall = [
        height + TEXT * bool(box and box.texts and not group)
        for box, group, (_, height) in zip(scope.items, m.inner, m.sizes, strict=True)
    ]
    tops, bottoms = [0], [scope.title[1] + 8 if scope.title else MARGIN]
    last, item = len(scope.rows) - 1, scope.rows[0]
    for number, count in enumerate(scope.rows[1:], 1):
        gap = 0
        if number == last and not count:
            gap = pad
        elif number > 1 or item:
            gap = GAP if arrows[number - 1] or aside[number - 1] else SHORT
            gap = min(gap + aside[number - 1] // STEEP, WIDEST)
        tops.append(bottoms[-1] + gap)
        bottoms.append(tops[-1] + max(tall[item : item + count], default=0))
        item += count
    y = []
    for box, at, height in zip(scope.items, row, tall, strict=True):
        free = bottoms[at] - tops[at] - height
        y.append(tops[at] + (0 if not box else free // 2 if box.fed else free))

    lines = []
    for line, (out, into) in zip(scope.lines, m.ends, strict=True):
        points, (first, final) = [], (line.way[0], line.way[-1])
        for item in line.way:
            right, at = x[item] + out * (item == first) + into * (item == final), row[item]
            points += [(right, tops[at])] * (item != first)
            points += [(right, y[item] + m.sizes[item][1] * (item == first))]
            points += [(right, bottoms[at])] * (item != final)
            if line.lane >= 0 and item == first:
                right = high + shift + (line.lane + 1) * LANE
                points += [(right, tops[at + 1]), (right, bottoms[row[final] - 1])]
        lines.append(points)
    return Packed(width, bottoms[-1], title, x, y, lines)


def _columns(scope: Scope, m: Measured) -> list[int]:
    """Place chain after chain, each as near as its neighbours allow to where its line leads."""
    own, offset = [0] * len(scope.items), [0] * len(scope.items)

    def beside(item: int, line: int, at: int, bow: int) -> tuple[int, int]:
        """The other end of a stretch of a line, and how far right of that one an item is."""
        way, (out, into) = scope.lines[line].way, m.ends[line]
        away = bow + out * (at == 1) - into * (at == len(way) - 1)
        return (way[at - 1], away) if item == way[at] else (way[at], -away)

    for number, chain in enumerate(scope.chains):
        for place, (item, *by) in enumerate(chain):
            own[item] = number
            if place:
                other, away = beside(item, *by)
                offset[item] = offset[other] + away

    count = len(scope.chains)
    after: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    before: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    ends = set(accumulate(scope.rows))
    for one, two in pairwise(range(len(scope.items))):
        if two not in ends:
            apart = offset[one] + m.right[one] + m.left[two] - offset[two]
            after[own[one]].append((own[two], apart))
            before[own[two]].append((own[one], -apart))

    least, most = [-math.inf] * count, [math.inf] * count
    for number, ((item, line, at, bow), *_) in enumerate(scope.chains):
        wish: float = bow
        if line >= 0:
            other, away = beside(item, line, at, bow)
            wish = least[own[other]] + offset[other] + away
        least[number] = most[number] = min(max(wish, least[number]), most[number])
        for limits, beyond, tighter in ((least, after, max), (most, before, min)):
            queue = [number]
            for one in queue:  # which grows
                for two, apart in beyond[one]:
                    limit = tighter(limits[two], limits[one] + apart)
                    if limit != limits[two]:
                        limits[two] = limit
                        queue.append(two)
    return [int(least[number]) + away for number, away in zip(own, offset, strict=True)]


def _beside(need: int, ports: Sequence[int], width: int) -> tuple[int, int]:
    """The left end of a title beside the tensors that come in, and how much room it lacks."""
    starts = [PAD, *(port + 8 for port in ports)]
    ends = [*(port - 8 for port in ports), width - PAD]
    for start, end in zip(starts, ends, strict=True):
        if end - start >= need:
            return start, 0
    lack = need - (ends[0] - starts[0])
    return PAD, lack if ports else (lack + 1) // 2


def place(skeleton: Skeleton, closed: Collection[str] = ()) -> Placement:
    """Give boxes, frames and lines their positions; `closed` are the ids of the groups to close."""
    shown = {TOP}
    for group, parent in skeleton.parents.items():
        if group not in closed and parent in shown:
            shown.add(group)
    packed: dict[str, Packed] = {}
    for group, scope in skeleton.scopes.items():
        if group in shown:
            packed[group] = pack(scope, packed)
    result = Placement(packed[TOP].width, packed[TOP].height)
    origins = {TOP: (0, 0)}
    order = [group for group in (TOP, *skeleton.parents) if group in shown]
    for group in order:
        _show(skeleton.scopes[group], group, packed, origins, result)
    # The parts of each edge: out of groups from the inside, then across and into others.
    for outwards in (True, False):
        for group in order[::-1] if outwards else order:
            left, top = origins[group]
            scope = skeleton.scopes[group]
            exits = len(scope.items) - scope.rows[-1]
            for line, points in zip(scope.lines, packed[group].lines, strict=True):
                if (line.way[-1] >= exits) == outwards:
                    for edge in line.edges:
                        _extend(result.edges.setdefault(edge, []), points, left, top)
    return result


def _show(
    scope: Scope,
    group: str,
    packed: Mapping[str, Packed],
    origins: dict[str, Point],
    result: Placement,
) -> None:
    """Bring what is in a group to where it is in the whole."""
    (left, top), own = origins[group], packed[group]
    if scope.title:
        result.frames[group] = left, top, own.width, own.height
        result.titles[group] = left + own.title, top + 6
    exits = len(scope.items) - scope.rows[-1]
    for number, (box, middle, y) in enumerate(zip(scope.items, own.x, own.y, strict=True)):
        x = left + middle
        if box is None:
            if number < scope.rows[0] or number >= exits:
                result.ports.append((x, top + y))
        elif box.id in packed:
            origins[box.id] = x - packed[box.id].width // 2, top + y
        else:
            result.boxes[box.id] = x - box.width // 2, top + y, box.width, box.height
            for tensor, shift in box.texts:
                result.texts.append((tensor, x + shift + INDENT, top + y + box.height + 2))


def _extend(line: list[Point], points: list[Point], left: int, top: int) -> None:
    """Add points to a line; those in the middle of a straight stretch are left out."""
    for x, y in points:
        point = left + x, top + y
        if line and line[-1] == point:
            continue
        if len(line) > 1 and line[-1][0] == line[-2][0] == point[0]:
            line.pop()
        line.append(point)
