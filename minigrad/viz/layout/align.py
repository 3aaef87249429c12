"""Which items of different ranks lie straight above each other.

First each rank by turns is moved to where its neighbours are, with the order and the distances
kept: least squares, by pooling adjacent violators (Ayer et al., 1955). Then the dummies of a
tensor, and what lies almost straight above each other, are made one **chain**: lines come out
straight. This is done once, as if all groups were closed; packing then moves chains apart that do
not fit beside each other (`minigrad.viz.layout.pack`).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

__all__ = ["Joint", "Pull", "align"]

ROUNDS = 6

FREE = 0.001
"""How much an item that nothing pulls resists: little."""

ALMOST = 14
"""Lines that are no further from straight than this are made straight."""

Rows = Sequence[Sequence[int]]


class Pull(NamedTuple):
    """A line between an item and its neighbour in the rank below."""

    upper: int  # the number of the upper item
    lower: int  # the number of the lower one
    shift: int  # how far right of the upper item the lower one is, if the line is straight
    weight: float  # how much that matters
    rigid: bool  # whether the line joins two dummies: these make way for others, but together


class Joint(NamedTuple):
    """How an item finds its position."""

    item: int  # its number
    pull: int  # the number of the pull that joins it to an item with a position; -1 for none
    # How far the lower one of the two is to the right of where the line would be straight;
    # without a pull, the position itself
    bow: int


def align(
    ranks: Rows, left: Sequence[int], right: Sequence[int], pulls: Sequence[Pull]
) -> list[list[Joint]]:
    """Join the items of some ranks to chains, along the lines that come out almost straight.

    `left` and `right` are the room that each item needs to the sides of its middle. In each chain,
    the first item is joined to a chain before this one, and every other item to one before it in
    the chain.
    """
    x = _relaxed(ranks, left, right, pulls)
    chains = _Chains(ranks, len(x), pulls)
    chains.join(number for number, pull in enumerate(pulls) if pull.rigid)
    almost = (
        number
        for number, pull in enumerate(pulls)
        if not pull.rigid and abs(x[pull.upper] + pull.shift - x[pull.lower]) <= ALMOST
    )
    chains.join(sorted(almost, key=lambda number: -pulls[number].weight))
    return _joints(chains, _straightened(chains, x))


def _relaxed(
    ranks: Rows, left: Sequence[int], right: Sequence[int], pulls: Sequence[Pull]
) -> list[float]:
    """Where the items would like to be, as far as their ranks have room."""
    ends: list[list[tuple[int, int, float]]] = [[] for _ in left]
    for upper, lower, shift, weight, _ in pulls:
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
            _move(items, ends, x, left, right)
    return x


def _move(
    items: Sequence[int],
    ends: Sequence[Sequence[tuple[int, int, float]]],
    x: list[float],
    left: Sequence[int],
    right: Sequence[int],
) -> None:
    """Move the items of one rank to where their neighbours are, as near as they fit."""
    pools: list[tuple[float, float, int]] = []  # weighted sum of wishes, weight, how many
    offsets: list[int] = []
    offset = 0
    for index, item in enumerate(items):
        if index:
            offset += right[items[index - 1]] + left[item]
        offsets.append(offset)
        wish, weight = x[item] * FREE, FREE
        for other, shift, pull in ends[item]:
            wish += (x[other] + shift) * pull
            weight += pull
        wish, count = wish - offset * weight, 1
        while pools and pools[-1][0] * weight >= wish * pools[-1][1]:
            before = pools.pop()
            wish, weight, count = wish + before[0], weight + before[1], count + before[2]
        pools.append((wish, weight, count))
    found = (wish / weight for wish, weight, count in pools for _ in range(count))
    for item, offset, value in zip(items, offsets, found, strict=True):
        x[item] = value + offset


# Chains ----------------------------------------------------------------------------------------


class _Chains:
    """Items that are to lie straight above each other: one in each of some ranks.

    No two chains cross, so of two that have a rank in common, one is on the left throughout.
    """

    def __init__(self, ranks: Rows, count: int, pulls: Sequence[Pull]) -> None:
        self.pulls = pulls
        self.above: dict[int, int] = {}  # the pull that joins an item to the one above it
        self._below: dict[int, int] = {}
        self._place = [(0, 0)] * count  # in which rank, and where in it
        for row, items in enumerate(ranks):
            for index, item in enumerate(items):
                self._place[item] = row, index
        self._joined: list[list[tuple[int, int]]] = [[] for _ in ranks]

    def join(self, numbers: Iterable[int]) -> None:
        """Make lines straight, unless that would cross another that is."""
        for number in numbers:
            upper, lower = self.pulls[number][:2]
            if upper in self._below or lower in self.above:
                continue
            row, index = self._place[upper]
            joined, pair = self._joined[row], (index, self._place[lower][1])
            at = bisect(joined, pair)
            if at and joined[at - 1][1] > pair[1]:
                continue
            if at < len(joined) and joined[at][1] < pair[1]:
                continue
            joined.insert(at, pair)
            self._below[upper] = self.above[lower] = number

    def all(self) -> list[list[int]]:
        """The items of every chain, from the top down."""
        chains = []
        for item in range(len(self._place)):
            if item not in self.above:
                chain = [item]
                while chain[-1] in self._below:
                    chain.append(self.pulls[self._below[chain[-1]]].lower)
                chains.append(chain)
        return chains


def _straightened(chains: _Chains, x: Sequence[float]) -> list[int]:
    """Put each chain where its items are on average; packing pushes chains apart."""
    straight = [0] * len(x)
    for chain in chains.all():
        offset = {chain[0]: 0}
        for item in chain[1:]:
            pull = chains.pulls[chains.above[item]]
            offset[item] = offset[pull.upper] + pull.shift
        left = round(sum(x[item] - away for item, away in offset.items()) / len(chain))
        for item, away in offset.items():
            straight[item] = left + away
    return straight


def _joints(chains: _Chains, x: Sequence[int]) -> list[list[Joint]]:
    """Put the chains in order: from the longest on, along the lines that are nearly straight."""
    items = chains.all()
    own = {item: number for number, chain in enumerate(items) for item in chain}
    ways: list[list[tuple[int, int, int]]] = [[] for _ in items]  # how far aside, pull, to where
    bows = []
    for number, (upper, lower, shift, *_) in enumerate(chains.pulls):
        bows.append(x[lower] - x[upper] - shift)
        for one, two in ((own[upper], own[lower]), (own[lower], own[upper])):
            if one != two:
                ways[one].append((abs(bows[-1]), number, two))
    found: list[list[Joint]] = []
    done = set()
    for root in sorted(range(len(items)), key=lambda number: -len(items[number])):
        reached = [(0, -1, root)]
        while reached:
            _, number, chain = heappop(reached)
            if chain in done:
                continue
            done.add(chain)
            for way in ways[chain]:
                heappush(reached, way)
            at = 0
            joint = Joint(items[chain][0], -1, x[items[chain][0]])
            if number >= 0:
                pull = chains.pulls[number]
                at = items[chain].index(pull.lower if own[pull.lower] == chain else pull.upper)
                joint = Joint(items[chain][at], number, bows[number])
            below, above = items[chain][at + 1 :], items[chain][:at]
            down = [Joint(item, chains.above[item], 0) for item in below]
            under = items[chain][1 : at + 1]
            up = [Joint(item, chains.above[low], 0) for item, low in zip(above, under, strict=True)]
            found.append([joint, *down, *up[::-1]])
    return found
