"""Which items of different ranks lie straight above each other.

First each rank by turns is moved to where its neighbours are, with the order and the distances
kept: least squares, by pooling adjacent violators (Ayer et al., 1955). Then the dummies of a
tensor, and what lies almost straight above each other, are made one **block**: lines come out
straight. This is done once, as if all groups were closed; packing then moves blocks apart that do
not fit beside each other (`minigrad.viz.layout.pack`).
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import fsum
from typing import NamedTuple

from minigrad.viz.layout.model import Block, End, Joint, Scope
from minigrad.viz.layout.pack import measure

ROUNDS = 6

FREE = 0.001
"""How much an item without lines resists: little."""

ALMOST = 14
"""Lines that are no further from straight than this are made straight."""

Rows = Sequence[Sequence[int]]


class Segment(NamedTuple):
    """A line between an item and its neighbour in the rank below."""

    upper: int  # the number of the upper item
    lower: int  # the number of the lower one
    out: End  # where the line leaves the upper item
    into: End  # where it meets the lower one
    shift: int  # how far right of the upper item the lower one is, if the line is straight
    weight: float  # how much that matters
    inner: bool  # whether the line joins two dummies: these make way for others, but together


def align(scope: Scope) -> tuple[Block, ...]:
    """Join the items of a group to blocks, along the lines that come out almost straight.

    The sizes are those that the items have when all are closed.
    """
    m, segments = measure(scope, {}), _segments(scope)
    ranks = [range(start, end) for start, end in pairwise([0, *accumulate(scope.rows)])]
    x = _relaxed(ranks, m.left, m.right, segments)
    inner, almost = [], []
    for number, (upper, lower, _, _, shift, _, between_dummies) in enumerate(segments):
        if between_dummies:
            inner.append(number)
        elif abs(x[lower] - x[upper] - shift) <= ALMOST:
            almost.append(number)
    almost.sort(key=lambda number: -segments[number].weight)
    above = _straight(ranks, segments, [*inner, *almost])
    below = {segments[number].upper: segments[number].lower for number in above.values()}
    blocks = []
    for item in range(len(x)):
        if item not in above:
            block = [item]
            while block[-1] in below:
                block.append(below[block[-1]])
            blocks.append(block)
    # Each block is where its items are on average; packing pushes blocks apart.
    straight = [0] * len(x)
    for block in blocks:
        offsets = list(accumulate((segments[above[item]].shift for item in block[1:]), initial=0))
        mean = fsum(x[item] - away for item, away in zip(block, offsets, strict=True)) / len(block)
        for item, away in zip(block, offsets, strict=True):
            straight[item] = round(mean) + away
    return _joined(blocks, above, segments, straight)


def _segments(scope: Scope) -> list[Segment]:
    """The lines between neighbouring ranks. Several between two items, as of x * x, are one."""
    fed = {line.way[-1] for line in scope.lines}
    inner = range(scope.rows[0], len(scope.items) - scope.rows[-1])
    stretches: dict[tuple[int, int], dict[tuple[End, End], None]] = defaultdict(dict)
    for line in scope.lines:
        if line.lane < 0:
            ends = [line.out, *[(0, 0)] * (2 * len(line.way) - 4), line.into]
            for pair, out, into in zip(pairwise(line.way), ends[::2], ends[1::2], strict=True):
                stretches[pair][out, into] = None
    segments = []
    for (upper, lower), ways in stretches.items():
        dummies = sum(not scope.items[item].id and item in inner for item in (upper, lower))
        leaf = bool(scope.items[upper].id) and upper not in fed
        shift = sum(out - into for (out, _), (into, _) in ways) // len(ways)
        weight = 0.02 if dummies else 0.5 if leaf else 4.0
        segments.append(Segment(upper, lower, *next(iter(ways)), shift, weight, dummies == 2))
    return segments


def _relaxed(
    ranks: Rows, left: Sequence[int], right: Sequence[int], segments: Sequence[Segment]
) -> list[float]:
    """Where the items would like to be, as far as their ranks have room."""
    ends: list[list[tuple[int, int, float]]] = [[] for _ in left]

    def move(items: Sequence[int]) -> None:
        """Move the items of one rank to where their neighbours are, as near as they fit."""
        pools: list[tuple[float, float, int]] = []  # weighted sum of wishes, weight, how many
        offsets: list[int] = []
        offset = 0
        for index, item in enumerate(items):
            if index:
                offset += right[items[index - 1]] + left[item]
            offsets.append(offset)
            wish, weight = x[item] * FREE, FREE
            for other, shift, strength in ends[item]:
                wish += (x[other] + shift) * strength
                weight += strength
            wish, count = wish - offset * weight, 1
            while pools and pools[-1][0] * weight >= wish * pools[-1][1]:
                before = pools.pop()
                wish, weight, count = wish + before[0], weight + before[1], count + before[2]
            pools.append((wish, weight, count))
        found = (wish / weight for wish, weight, count in pools for _ in range(count))
        for item, offset, value in zip(items, offsets, found, strict=True):
            x[item] = value + offset

    for upper, lower, _, _, shift, weight, _ in segments:
        ends[lower].append((upper, shift, weight))
        ends[upper].append((lower, -shift, weight))
    x = [0.0] * len(left)
    for items in ranks:  # side by side, around 0
        end = -sum(left[item] + right[item] for item in items) / 2
        for item in items:
            x[item] = end + left[item]
            end += left[item] + right[item]
    for _ in range(ROUNDS):
        for items in (*ranks, *reversed(ranks)):
            move(items)
    return x


def _straight(ranks: Rows, segments: Sequence[Segment], order: Iterable[int]) -> dict[int, int]:
    """Make lines straight, unless that would cross another that is; by their items below.

    Of two blocks of such items that have a rank in common, one is on the left throughout.
    """
    place = {
        item: (row, index) for row, items in enumerate(ranks) for index, item in enumerate(items)
    }
    joined: list[list[tuple[int, int]]] = [[] for _ in ranks]  # the places of both ends
    uppers: set[int] = set()
    above: dict[int, int] = {}
    for number in order:
        upper, lower = segments[number][:2]
        (row, start), (_, end) = place[upper], place[lower]
        at = bisect(joined[row], (start, end))
        left, right = joined[row][max(at - 1, 0) : at], joined[row][at : at + 1]
        crossed = any(one[1] > end for one in left) or any(one[1] < end for one in right)
        if not (crossed or upper in uppers or lower in above):
            joined[row].insert(at, (start, end))
            uppers.add(upper)
            above[lower] = number
    return above


def _joined(
    blocks: Rows, above: Mapping[int, int], segments: Sequence[Segment], x: Sequence[int]
) -> tuple[Block, ...]:
    """Put the blocks in order: from the longest on, along the lines that are nearly straight."""
    own = {item: number for number, block in enumerate(blocks) for item in block}
    slants = [x[lower] - x[upper] - shift for upper, lower, _, _, shift, *_ in segments]
    # By block: how far aside a line leads, its number, and the item at its other end
    ways: list[list[tuple[int, int, int]]] = [[] for _ in blocks]
    for number, (upper, lower, *_) in enumerate(segments):
        for one, two in ((upper, lower), (lower, upper)):
            if own[one] != own[two]:
                ways[own[one]].append((abs(slants[number]), number, two))
    found: list[Block] = []
    done = set()
    for root in sorted(blocks, key=lambda block: -len(block)):
        reached = [(0, -1, root[0])]
        while reached:
            _, number, item = heappop(reached)
            if own[item] in done:
                continue
            done.add(own[item])
            for way in ways[own[item]]:
                heappush(reached, way)
            first = item, (0, 0), -1, (0, 0), x[item]
            if number >= 0:
                first = _joint(item, segments[number], slants[number])
            block = blocks[own[item]]
            at = block.index(item)
            down = [_joint(low, segments[above[low]]) for low in block[at + 1 :]]
            up = [_joint(block[i], segments[above[block[i + 1]]]) for i in reversed(range(at))]
            found.append((first, *down, *up))
    return tuple(found)


def _joint(item: int, segment: Segment, slant: int = 0) -> Joint:
    """Join an item to the other end of a segment."""
    upper, lower, out, into, shift, *_ = segment
    slant += shift - out[0] + into[0]
    if item == lower:
        return item, into, upper, out, slant
    return item, out, lower, into, -slant
