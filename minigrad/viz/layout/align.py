"""Which items of different ranks lie straight above each other.

First each rank by turns is moved to where its neighbours are, the order and the distances kept:
the least squares solution under these constraints, by pooling adjacent violators (Ayer et al.,
1955). Then the dummies of a tensor, and what lies almost straight above each other, are made one
**chain**, and chains that no longer fit beside each other are pushed apart, each as a whole: lines
come out straight. This is done once, as if all groups were closed: when one is opened, the chains
stay, and packing makes room (`minigrad.viz.layout.pack`).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
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
    """Join the items to chains.

    Args:
        ranks: The numbers of the items of each rank, from left to right.
        left: The room that each item needs to the left of its middle.
        right: The same to the right.
        pulls: The lines.

    Returns:
        The chains. In each, the first item is joined to a chain before this one, and every other
        item to one before it in the chain.
    """
    x = _relaxed(ranks, left, right, pulls)
    chains = _Chains(ranks, len(x), pulls)
    chains.join(number for number, pull in enumerate(pulls) if pull.rigid)
    above = {pull.lower: pull for pull in pulls}
    for chain in chains.all():
        if len(chain) > 1:  # where the dummy lies that has to make way the most
            pull = above[chain[0]]
            source = x[pull.upper] + pull.shift
            furthest = max((x[item] for item in chain), key=lambda at: abs(at - source))
            for item in chain:
                x[item] = furthest
    almost = (
        number
        for number, pull in enumerate(pulls)
        if not pull.rigid and abs(x[pull.upper] + pull.shift - x[pull.lower]) <= ALMOST
    )
    chains.join(sorted(almost, key=lambda number: -pulls[number].weight))
    return _joints(chains, _pushed_apart(ranks, left, right, chains, x))


# Relaxation ------------------------------------------------------------------------------------


def _relaxed(
    ranks: Rows, left: Sequence[int], right: Sequence[int], pulls: Sequence[Pull]
) -> list[float]:
    """Where the items would like to be, as far as their ranks have room."""
    above: list[list[tuple[int, int, float]]] = [[] for _ in left]
    below: list[list[tuple[int, int, float]]] = [[] for _ in left]
    for upper, lower, shift, weight, _ in pulls:
        above[lower].append((upper, shift, weight))
        below[upper].append((lower, -shift, weight))
    x = [0.0] * len(left)
    for items in ranks:  # side by side, around 0
        end = -sum(left[item] + right[item] for item in items) / 2
        for item in items:
            x[item] = end + left[item]
            end += left[item] + right[item]
    upwards = ranks[::-1]
    for _ in range(ROUNDS):
        moved = _move(ranks, above, x, left, right)
        moved = max(moved, _move(upwards, below, x, left, right))
        if moved < 0.5:
            break
    both = [[*one, *other] for one, other in zip(above, below, strict=True)]
    _move(ranks, both, x, left, right)
    _move(upwards, both, x, left, right)
    return x


def _move(
    ranks: Rows,
    ends: Sequence[Sequence[tuple[int, int, float]]],
    x: list[float],
    left: Sequence[int],
    right: Sequence[int],
) -> float:
    """Move the ranks one after the other; return the longest way that an item moved."""
    longest = 0.0
    for items in ranks:
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
        index = 0
        for wish, weight, count in pools:
            for _ in range(count):
                item, value = items[index], wish / weight + offsets[index]
                longest = max(longest, abs(value - x[item]))
                x[item] = value
                index += 1
    return longest


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


def _pushed_apart(
    ranks: Rows, left: Sequence[int], right: Sequence[int], chains: _Chains, x: Sequence[float]
) -> list[int]:
    """Place chains as near to where their items are as fits, left and right making way alike."""
    own, offset = [0] * len(x), [0] * len(x)
    wish = []
    for number, chain in enumerate(chains.all()):
        for item in chain:
            own[item] = number
            if item in chains.above:
                pull = chains.pulls[chains.above[item]]
                offset[item] = offset[pull.upper] + pull.shift
        wish.append(round(sum(x[item] - offset[item] for item in chain) / len(chain)))
    after: list[list[tuple[int, int]]] = [[] for _ in wish]  # to the right, how far at least
    missing = [0] * len(wish)
    for items in ranks:
        for one, two in pairwise(items):
            apart = offset[one] + right[one] + left[two] - offset[two]
            after[own[one]].append((own[two], apart))
            missing[own[two]] += 1
    rightmost, leftmost = list(wish), list(wish)
    order = [number for number, count in enumerate(missing) if count == 0]
    for number in order:  # which grows
        for other, apart in after[number]:
            rightmost[other] = max(rightmost[other], rightmost[number] + apart)
            missing[other] -= 1
            if missing[other] == 0:
                order.append(other)
    for number in reversed(order):
        for other, apart in after[number]:
            leftmost[number] = min(leftmost[number], leftmost[other] - apart)
    return [
        (rightmost[own[item]] + leftmost[own[item]]) // 2 + offset[item] for item in range(len(x))
    ]


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
