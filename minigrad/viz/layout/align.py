"""Where the items of each rank lie from left to right: as straight above each other as can be.

First each rank by turns is moved to where its neighbours are, the order and the distances kept:
the least squares solution under these constraints, by pooling adjacent violators (Ayer et al.,
1955). Then the dummies of a tensor, and what lies almost straight above each other, are made one
**chain**, and chains that no longer fit beside each other are pushed apart, each as a whole: lines
come out straight.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Pull", "align"]

ROUNDS = 6

FREE = 0.001
"""How much an item that nothing pulls resists: little."""

ALMOST = 14
"""Lines that are no further from straight than this are made straight."""

Rows = Sequence[Sequence[int]]


class Pull(NamedTuple):
    """A line between an item and its neighbour in the rank below.

    Attributes:
        upper: The number of the upper item.
        lower: The number of the lower one.
        shift: How far right of the upper item the lower one is, if the line is straight.
        weight: How much that matters.
        rigid: Whether the line joins two dummies: these make way for others, but together.
    """

    upper: int
    lower: int
    shift: int
    weight: float
    rigid: bool


def align(
    ranks: Rows, left: Sequence[int], right: Sequence[int], pulls: Sequence[Pull]
) -> list[int]:
    """Place every item.

    Args:
        ranks: The numbers of the items of each rank, from left to right.
        left: The room that each item needs to the left of its middle.
        right: The same to the right.
        pulls: The lines.

    Returns:
        The middle of each item.
    """
    x = _relaxed(ranks, left, right, pulls)
    chains = _Chains(ranks, len(x))
    chains.join((pull for pull in pulls if pull.rigid), x)
    above = {pull.lower: pull for pull in pulls}
    for chain in chains.all():
        if len(chain) > 1:  # where the dummy lies that has to make way the most
            pull = above[chain[0][0]]
            source = x[pull.upper] + pull.shift
            furthest = max((x[item] for item, _ in chain), key=lambda at: abs(at - source))
            for item, _ in chain:
                x[item] = furthest
    almost = (p for p in pulls if not p.rigid and abs(x[p.upper] + p.shift - x[p.lower]) <= ALMOST)
    chains.join(sorted(almost, key=lambda pull: -pull.weight), x)
    return _pushed_apart(ranks, left, right, chains.all(), x)


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

    def __init__(self, ranks: Rows, count: int) -> None:
        self._row = [0] * count
        self._index = [0] * count
        for row, items in enumerate(ranks):
            for index, item in enumerate(items):
                self._row[item], self._index[item] = row, index
        self._next: dict[int, tuple[int, int]] = {}
        self._before: set[int] = set()
        self._joints: list[list[tuple[int, int]]] = [[] for _ in ranks]

    def join(self, pulls: Iterable[Pull], x: Sequence[float]) -> None:
        """Make lines straight, unless that would cross another that is."""
        for upper, lower, shift, _, _ in pulls:
            if upper in self._next or lower in self._before:
                continue
            joints = self._joints[self._row[upper]]
            joint = self._index[upper], self._index[lower]
            at = bisect(joints, joint)
            if at and joints[at - 1][1] > joint[1]:
                continue
            if at < len(joints) and joints[at][1] < joint[1]:
                continue
            joints.insert(at, joint)
            self._next[upper] = lower, shift
            self._before.add(lower)

    def all(self) -> list[list[tuple[int, int]]]:
        """Every chain from the top down: its items, and how far right of the first each is."""
        chains = []
        for item in range(len(self._row)):
            if item not in self._before:
                chain, offset = [(item, 0)], 0
                while item in self._next:
                    item, shift = self._next[item]
                    offset += shift
                    chain.append((item, offset))
                chains.append(chain)
        return chains


def _pushed_apart(
    ranks: Rows,
    left: Sequence[int],
    right: Sequence[int],
    chains: Sequence[Sequence[tuple[int, int]]],
    x: Sequence[float],
) -> list[int]:
    """Place chains as near to where their items are as fits, left and right making way alike."""
    own, offset = [0] * len(x), [0] * len(x)
    wish = []
    for number, chain in enumerate(chains):
        for item, shift in chain:
            own[item], offset[item] = number, shift
        total = 0.0  # by hand: from Python 3.12 on, sum() rounds otherwise than JavaScript
        for item, shift in chain:
            total += x[item] - shift
        wish.append(math.floor(total / len(chain) + 0.5))
    after: list[list[tuple[int, int]]] = [[] for _ in chains]  # to the right, how far at least
    missing = [0] * len(chains)
    for items in ranks:
        for one, two in pairwise(items):
            apart = offset[one] + right[one] + left[two] - offset[two]
            after[own[one]].append((own[two], apart))
            missing[own[two]] += 1
    order = [number for number, count in enumerate(missing) if count == 0]
    for number in order:  # which grows
        for other, _ in after[number]:
            missing[other] -= 1
            if missing[other] == 0:
                order.append(other)
    rightmost, leftmost = list(wish), list(wish)
    for number in order:
        for other, apart in after[number]:
            rightmost[other] = max(rightmost[other], rightmost[number] + apart)
    for number in reversed(order):
        for other, apart in after[number]:
            leftmost[number] = min(leftmost[number], leftmost[other] - apart)
    return [
        (rightmost[own[item]] + leftmost[own[item]]) // 2 + offset[item] for item in range(len(x))
    ]
