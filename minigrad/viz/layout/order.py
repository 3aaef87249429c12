"""The order of the items in each rank, from left to right, with few crossings.

Sweeps down and up put each item at the mean of its neighbours (the barycentre method of Sugiyama,
Tagawa and Toda, 1981); the best order is kept.
"""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from minigrad.viz.layout.ranks import Link

SWEEPS = 12

Ranks = list[list[str]]
Positions = dict[str, int]


class End(NamedTuple):
    """The other end of a tensor that runs from one rank to the next."""

    item: str
    own: float  # where it meets the item that this is an end for: 0 is the left, 1 the right
    other: float  # where it meets the other


Ends = dict[str, list[End]]


def arrange(
    ranks: Ranks, links: Sequence[Link], port_places: Mapping[str, float], leaves: Collection[str]
) -> Ranks:
    """Order every rank of a group, from the in-ports to the out-ports.

    `port_places` are the positions of the ports of child groups, from 0 (left) to 1 (right). Of the
    `leaves`, those that only one op reads are placed to the left and right of its other inputs.
    """
    rank = {item: index for index, items in enumerate(ranks) for item in items}
    reads: dict[str, list[str]] = defaultdict(list)
    for link in links:
        if link.source in leaves:
            reads[link.source].append(link.target)
    beside = {
        leaf: targets[0]
        for leaf, targets in reads.items()
        if len(targets) == 1 and rank[targets[0]] == rank[leaf] + 1
    }
    above, below = _ends(rank, links, port_places)
    order = [[item for item in items if item not in beside] for items in ranks]
    others = (
        {item: [end for end in found if end.item not in beside] for item, found in ends.items()}
        for ends in (above, below)
    )
    order = _improved(order, *others)
    for upper, lower in pairwise(order):
        _insert(upper, lower, above, beside)
    return order


def _ends(
    rank: Mapping[str, int], links: Sequence[Link], port_places: Mapping[str, float]
) -> tuple[Ends, Ends]:
    """For each item, the ends of its tensors in the rank above and in the rank below."""
    above: Ends = {item: [] for item in rank}
    below: Ends = {item: [] for item in rank}
    drawn = set()
    for link in links:
        if link.far:
            continue
        for index, (upper, lower) in enumerate(pairwise(link.way), 2):
            if index < len(link.way):  # between dummies, a way is shared
                if (upper, lower) in drawn:
                    continue
                drawn.add((upper, lower))
            own = port_places.get(f"{upper}/out:{link.tensor}", 0.5)
            other = port_places.get(f"{lower}/in:{link.tensor}", 0.5)
            above[lower].append(End(upper, other, own))
            below[upper].append(End(lower, own, other))
    return above, below


def _improved(order: Ranks, above: Ends, below: Ends) -> Ranks:
    """Sweep down and up in turn, and keep the best order."""
    best, fewest = order, _crossings(order, below)
    order = [list(items) for items in order]
    for sweep in range(SWEEPS):
        if not fewest:
            return best
        _sweep(order, above) if sweep % 2 == 0 else _sweep(order[::-1], below)
        crossings = _crossings(order, below)
        if crossings < fewest:
            best, fewest = [list(items) for items in order], crossings
    return best


def _sweep(order: Ranks, ends: Ends) -> None:
    """Sort each rank by the mean positions of the neighbours in the previous rank."""
    before: Positions = {}
    for items in order:
        means = {
            item: fsum(before[end.item] + end.other for end in ends[item]) / len(ends[item])
            for item in items
            if ends[item]
        }
        moved = iter(sorted(means, key=means.__getitem__))  # equal ones stay as they are
        items[:] = [next(moved) if item in means else item for item in items]
        before = {item: index for index, item in enumerate(items)}


def _crossings(order: Ranks, below: Ends) -> int:
    """Count the pairs of tensors that cross."""
    count = 0
    for upper, lower in pairwise(order):
        position = {item: index for index, item in enumerate(lower)}
        tensors = sorted(
            (index + end.own, position[end.item] + end.other)
            for index, item in enumerate(upper)
            for end in below[item]
        )
        passed: list[float] = []
        for _, place in tensors:
            count += len(passed) - bisect_right(passed, place)
            insort(passed, place)
    return count


def _insert(upper: list[str], lower: list[str], above: Ends, beside: Mapping[str, str]) -> None:
    """Place the leaves of each op alternately to the left and right of its other inputs."""
    for target in lower:
        leaves = [end.item for end in above[target] if beside.get(end.item) == target]
        if not leaves:
            continue
        others = [upper.index(end.item) for end in above[target] if end.item not in beside]
        if others:
            left, right = min(others), max(others) + 1
        else:  # to the right of the tensors that those on its left read
            place = {item: index for index, item in enumerate(upper)}
            before = lower[: lower.index(target)]
            left = right = max((place[e.item] + 1 for i in before for e in above[i]), default=0)
        upper[left:right] = [*leaves[::2], *upper[left:right], *leaves[1::2]]
