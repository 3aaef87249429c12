"""From sizes to positions: where each box, frame and line lies, for a choice of open groups.

This is the one part of the layout that the page has too (``pack.js``), since opening a group
changes its size. Groups are packed from the inside out: an open one is as large as its content.
Ranks, orders and blocks are given. Lines bend only between ranks, where no box is; within a rank
each keeps to the column of its box or its dummy. All positions are whole numbers.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from minigrad.viz.layout.model import TOP, Box, End, Line, Placement, Point, Scope, Skeleton

MARGIN, PAD = 16, 14
"""Around the whole, and within a frame."""

BESIDE, LANE, CLEAR = 22, 12, 8
"""Between two boxes, between two lines, and between a title and a line."""

GAP, STEEP, WIDEST, SHORT = 24, 8, 48, 14
"""Between two ranks: at least, one more for so much sideways, at most; where no arrow ends."""

TEXT, INDENT = 15, 5
"""The height of the text at the foot of a box, and its distance from the line."""


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
    row: list[int]  # the rank of each item
    sizes: list[Box | Packed]  # what says the width and height of each item
    tall: list[int]  # the height of each, with the texts at its foot
    reach: list[int]  # how far each reaches to the right of its middle
    left: list[int]  # the room that each needs to the left of its middle
    right: list[int]  # the same to the right

    def anchor(self, item: int, end: End) -> int:
        """How far right of the middle of an item a line meets it."""
        group = self.inner[item]
        return group.x[end[1]] - group.width // 2 if group else end[0]


def measure(scope: Scope, packed: Mapping[str, Packed]) -> Measured:
    """Measure the items of a group, of which those in `packed` are open."""
    inner = [packed.get(box.id) for box in scope.items]
    sizes = [group or box for group, box in zip(inner, scope.items, strict=True)]
    reach = [getattr(size, "reach", size.width // 2) for size in sizes]
    margins = [BESIDE if box.id else LANE for box in scope.items]
    return Measured(
        inner,
        [rank for rank, count in enumerate(scope.rows) for _ in range(count)],
        sizes,
        [size.height + TEXT * bool(getattr(size, "texts", ())) for size in sizes],
        reach,
        [(size.width + margin) // 2 for size, margin in zip(sizes, margins, strict=True)],
        [far + margin // 2 for far, margin in zip(reach, margins, strict=True)],
    )


def pack(scope: Scope, packed: Mapping[str, Packed]) -> Packed:
    """Give the items of a group their positions; `packed` holds at least the open ones."""
    m = measure(scope, packed)
    x, width, title, right = _across(scope, m)
    ways = [_way(line, m, x, right) for line in scope.lines]
    tops, bottoms, y = _down(scope, m, ways)
    lines = []
    for line, way in zip(scope.lines, ways, strict=True):
        first, last = line.way[0], line.way[-1]
        points = [(way[0][1], y[first] + m.sizes[first].height)]
        for (above, start), (below, end) in pairwise(way):
            points += [(start, bottoms[above]), (end, tops[below])]
        lines.append([*points, (way[-1][1], y[last])])
    return Packed(width, bottoms[-1], title, x, y, lines)


def _across(scope: Scope, m: Measured) -> tuple[list[int], int, int, int]:
    """From left to right: the frame holds all items, then the lanes, then the title if it is wide.

    It returns the middle of each item, the width, where the title begins and where the lanes do.
    """
    x = _columns(scope, m)
    pad = PAD if scope.title else MARGIN
    low = min((at - size.width // 2 for at, size in zip(x, m.sizes, strict=True)), default=0)
    high = max((at + far for at, far in zip(x, m.reach, strict=True)), default=0)
    lanes = max((line.lane for line in scope.lines), default=-1) + 1
    width, shift, title = high - low + lanes * LANE + 2 * pad, pad - low, pad
    if scope.title:
        ports = [at + shift for at in x[: scope.rows[0]]]
        free = list(pairwise([pad - CLEAR, *ports, width - pad + CLEAR]))
        lacks = [scope.title[0] + 2 * CLEAR - end + start for start, end in free]
        fits = next((start for (start, _), lack in zip(free, lacks, strict=True) if lack <= 0), -1)
        if fits < 0:  # more room to the left, and to the right as far as that centres the ports
            lack = lacks[0] if ports else (lacks[0] + 1) // 2
            uneven = ports[0] + ports[-1] - width if ports else 0
            shift += lack
            width += lack + min(max(uneven + lack, 0), lack)
        title = max(fits + CLEAR, pad)
    return [at + shift for at in x], width + width % 2, title, high + shift


def _way(line: Line, m: Measured, x: Sequence[int], right: int) -> list[Point]:
    """The ranks that a line passes, and where. A lane starts one rank further down."""
    way = [(m.row[item], x[item]) for item in line.way]
    (first, start), (last, end) = way[0], way[-1]
    if line.lane >= 0:
        beyond = right + (line.lane + 1) * LANE
        way[1:1] = [(first + 1, beyond), (last - 1, beyond)]
    way[0] = first, start + m.anchor(line.way[0], line.out)
    way[-1] = last, end + m.anchor(line.way[-1], line.into)
    return way


def _down(
    scope: Scope, m: Measured, ways: Iterable[list[Point]]
) -> tuple[list[int], list[int], list[int]]:
    """From the top down: the more lines run sideways, the wider is the gap between two ranks.

    It returns the upper and the lower edge of each rank, and the upper edge of each item.
    """
    count = len(scope.rows)
    aside, arrows, deep = [0] * count, [False] * count, [0] * count
    for way in ways:
        for (_, start), (rank, end) in pairwise(way):
            aside[rank] = max(aside[rank], abs(end - start))
    for box, group, rank, height in zip(scope.items, m.inner, m.row, m.tall, strict=True):
        arrows[rank] |= box.fed and group is None
        deep[rank] = max(deep[rank], height)
    tops, bottoms = [0], [scope.title[1] + 8 if scope.title else MARGIN]
    for rank in range(1, count):
        gap = GAP if arrows[rank] or aside[rank] else SHORT
        gap = min(gap + aside[rank] // STEEP, WIDEST)
        if rank == count - 1 and not scope.rows[rank]:
            gap = PAD if scope.title else MARGIN
        elif rank == 1 and not scope.rows[0]:
            gap = 0
        tops.append(bottoms[-1] + gap)
        bottoms.append(tops[-1] + deep[rank])
    y = []
    for box, rank, height in zip(scope.items, m.row, m.tall, strict=True):
        spare = deep[rank] - height
        y.append(tops[rank] + (spare // 2 if box.fed else spare))
    return tops, bottoms, y


def _columns(scope: Scope, m: Measured) -> list[int]:
    """Place block after block, each as near as its neighbours allow to where its line leads."""
    own, offset = [0] * len(scope.items), [0] * len(scope.items)
    aways = []  # how far right of what it is joined to each block would like to be
    for number, block in enumerate(scope.blocks):
        for place, joint in enumerate(block):
            item, end, other, port, slant = joint
            own[item] = number
            away = slant if other < 0 else slant + m.anchor(other, port) - m.anchor(item, end)
            if place:
                offset[item] = offset[other] + away
            else:
                aways.append(away)

    # What each block pushes to the right, and to the left, and how far apart they are at least.
    after: list[list[tuple[int, int]]] = [[] for _ in aways]
    before: list[list[tuple[int, int]]] = [[] for _ in aways]
    for one, two in pairwise(range(len(scope.items))):
        if m.row[one] == m.row[two]:
            apart = offset[one] + m.right[one] + m.left[two] - offset[two]
            after[own[one]].append((own[two], apart))
            before[own[two]].append((own[one], apart))

    least, most = [-math.inf] * len(aways), [-math.inf] * len(aways)  # the latter negated
    for number, ((_, _, other, _, _), *_) in enumerate(scope.blocks):
        wish = aways[number] if other < 0 else least[own[other]] + offset[other] + aways[number]
        at = min(max(wish, least[number]), -most[number])
        for limits, limit, pushed in ((least, at, after), (most, -at, before)):
            limits[number] = limit
            queue = [number]
            for one in queue:  # which grows
                for two, apart in pushed[one]:
                    if limits[one] + apart > limits[two]:
                        limits[two] = limits[one] + apart
                        queue.append(two)
    return [int(least[number]) + away for number, away in zip(own, offset, strict=True)]


def place(skeleton: Skeleton, closed: Collection[str] = ()) -> Placement:
    """Give boxes, frames and lines their positions; `closed` are the ids of the groups to close."""
    shown = {TOP: None}
    for group, parent in skeleton.parents.items():
        if group not in closed and parent in shown:
            shown[group] = None
    packed: dict[str, Packed] = {}
    for group, scope in skeleton.scopes.items():
        if group in shown:
            packed[group] = pack(scope, packed)
    result = Placement(packed[TOP].width, packed[TOP].height)
    origins = {TOP: (0, 0)}
    points: dict[int, set[Point]] = defaultdict(set)
    for group in shown:
        scope, own, (left, top) = skeleton.scopes[group], packed[group], origins[group]
        if scope.title:
            result.frames[group] = left, top, own.width, own.height
            result.titles[group] = left + own.title, top + 6
        inner = range(scope.rows[0], len(scope.items) - scope.rows[-1])
        for item, (box, middle, down) in enumerate(zip(scope.items, own.x, own.y, strict=True)):
            x, y = left + middle, top + down
            if box.id and box.id in packed:
                origins[box.id] = x - packed[box.id].width // 2, y
                continue
            if box.id:
                result.boxes[box.id] = x - box.width // 2, y, box.width, box.height
            else:
                result.ports += [(x, y)] * (item not in inner)
            for tensor, shift in box.texts:
                result.texts.append((tensor, x + shift + INDENT, y + box.height + 2))
        for line, way in zip(scope.lines, own.lines, strict=True):
            for edge in line.edges:
                points[edge].update((left + x, top + y) for x, y in way)
    result.edges = {edge: _thinned(points[edge]) for edge in sorted(points)}
    return result


def _thinned(points: Iterable[Point]) -> list[Point]:
    """A line through points, from the top down; points within a straight stretch are left out."""
    line: list[Point] = []
    for point in sorted(points, key=lambda point: point[1]):
        if len(line) > 1 and line[-1][0] == line[-2][0] == point[0]:
            line.pop()
        line.append(point)
    return line
