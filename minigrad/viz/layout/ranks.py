"""The rank of each item: below all of its inputs.

The rank of an item is the length of the longest path to it. An item that depends only on parameters
and constants is moved down, to just above the item that reads it.
"""

from collections.abc import Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from minigrad.viz.record.model import Node

Members = Mapping[str, Node | None]
"""The items of a group but for ports and dummies: nodes, and None for its child groups."""

Ways = Mapping[str, Sequence[str]]
"""The items to which, or from which, tensors lead."""

FAR = 32
"""A tensor that passes more ranks than this gets no dummies: it runs outside of everything."""


class Link(NamedTuple):
    """The path of a tensor within one group."""

    # The items that it passes, one in each rank: the node, group or in-port that it comes out
    # of, dummies, and the node, group or out-port that it goes into
    way: tuple[str, ...]
    tensor: str  # the id of the node that computed it
    edges: tuple[int, ...]  # the edges of the diagram that run here
    far: bool = False  # whether it runs outside of everything: its way has only the two ends

    @property
    def source(self) -> str:
        """The item that it comes from."""
        return self.way[0]

    @property
    def target(self) -> str:
        """The item that it goes to."""
        return self.way[-1]


def ranked(members: Members, links: Sequence[Link]) -> tuple[list[list[str]], tuple[Link, ...]]:
    """Assign the items of a group to ranks, with dummies for tensors that pass through a rank.

    `links` are the tensors between its items. It returns in-ports, ranks from the top down,
    out-ports, each in an initial order with dummies last; and the links with the dummies on their
    paths. Links of the same tensor share dummies.
    """
    rank, last = _ranks(members, links)
    ranks: list[list[str]] = [[] for _ in range(last + 1)]
    for item in _visited(rank, links):
        ranks[rank[item]].append(item)
    spans: dict[str, int] = {}
    for link in links:
        span = rank[link.target] - rank[link.source]
        spans[link.tensor] = max(span, spans.get(link.tensor, 0))
    dummies: set[str] = set()
    ways = []
    for link in links:
        source, target = link.way
        rows = range(rank[source] + 1, rank[target])
        far = spans[link.tensor] > FAR and len(rows) > 0
        between = [] if far else [f"{link.tensor}@{row}" for row in rows]
        for dummy, row in zip(between, rows, strict=False):
            if dummy not in dummies:
                dummies.add(dummy)
                ranks[row].append(dummy)
        ways.append(link._replace(way=(source, *between, target), far=far))
    return ranks, tuple(ways)


def _ranks(members: Members, links: Sequence[Link]) -> tuple[dict[str, int], int]:
    """The rank of every item, in-ports, members, out-ports; and the last rank."""
    above: dict[str, list[str]] = {item: [] for item in members}
    below: dict[str, list[str]] = {item: [] for item in members}
    for link in links:
        if link.source in members and link.target in members:
            above[link.target].append(link.source)
            below[link.source].append(link.target)
    fed = {link.target for link in links if link.source not in members}
    rank = {link.source: 0 for link in links if link.source not in members}
    rank |= _levels(members, above, below, fed)
    last = max(rank.values(), default=0) + 1
    joined = {item for link in links for item in (link.source, link.target)}
    rank |= dict.fromkeys(members.keys() - joined, max(last - 1, 1))  # alone: these come last
    return rank | {link.target: last for link in links if link.target not in rank}, last


def _levels(members: Members, above: Ways, below: Ways, fed: Collection[str]) -> dict[str, int]:
    """The length of the longest path to each member; `fed` are those that are read from outside."""
    rank: dict[str, int] = {}
    order = _in_order(above)
    anchored = {*fed, *(item for item, node in members.items() if node and node.kind == "input")}
    for item in order:
        rank[item] = max((rank[source] + 1 for source in above[item]), default=1)
        if not anchored.isdisjoint(above[item]):
            anchored.add(item)
    for item in reversed(order):
        movable = item not in anchored or (not above[item] and item not in fed)
        if movable and below[item]:
            rank[item] = min(rank[target] for target in below[item]) - 1
    return rank


def _in_order(above: Ways) -> list[str]:
    """Items, each after those above it."""
    try:
        return list(TopologicalSorter(above).static_order())
    except CycleError as error:
        raise ValueError(
            f"layout: {', '.join(sorted({*error.args[1]}))} feed each other, so none can be drawn "
            "above the others; a group must be one call, with nothing outside that runs between "
            "its ops"
        ) from None


def _visited(rank: Mapping[str, int], links: Sequence[Link]) -> dict[str, None]:
    """All items in depth-first order from the results, first operands first."""
    reads: dict[str, list[str]] = {item: [] for item in rank}
    results = dict.fromkeys(rank)
    for link in links:
        reads[link.target].append(link.source)
        results.pop(link.source, None)
    found: dict[str, None] = {}
    stack = list(results)[::-1]
    while stack:
        item = stack.pop()
        if item not in found:
            found[item] = None
            stack += reversed(reads[item])
    return found
