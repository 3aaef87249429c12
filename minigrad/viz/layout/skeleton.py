"""What is drawn above what, and what beside what: all of a layout but the numbers.

Each group is laid out apart from the others, in ranks: what an item reads lies in ranks above it.
Around itself it sees only **ports**, on the upper and the lower edge of its frame, where tensors
come in and go out; for the group around it, it is one item, open or closed. A tensor that passes
several ranks has a **dummy** in each, which keeps a lane free for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from minigrad.viz.drawing.labels import (
    box_size,
    contents,
    named_operands,
    tensor_texts,
    text_width,
    title,
)
from minigrad.viz.layout.order import arrange
from minigrad.viz.layout.ranks import Link, ranked
from minigrad.viz.record.fold import closed_boxes
from minigrad.viz.record.model import Diagram, Group, Node

__all__ = ["Link", "Scope", "Skeleton", "skeleton"]

TOP = ""
"""The scope around all groups."""

APART = 8
"""Between two lines into a box, and between a text and the next line, at least."""

LEAVES = ("parameter", "buffer", "constant")
"""What a group owns. It is where its ops are, not where these were made."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The inside of one group, or of the whole.

    Attributes:
        ranks: From the top: the in-ports, then ranks of nodes, groups and dummies, each from left
            to right, and last the out-ports. ``in:n3`` is the port where the tensor of n3 comes
            in, ``out:n3`` where it goes out, ``n3@2`` its dummy in rank 2.
        links: The tensors between them.
    """

    ranks: tuple[tuple[str, ...], ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A layout without numbers: the same, whichever groups are open.

    Attributes:
        scopes: By the id of the group; the whole has the id ``""``.
        parents: The group around each group, parents before their children.
        sizes: Width and height of each box: of a node, or of a closed group.
        titles: Width and height of the title of each open group.
        texts: What runs out of each node that computes something, as text, and how wide it is.
        named: The nodes with a row of names for their operands.
    """

    scopes: dict[str, Scope]
    parents: dict[str, str]
    sizes: dict[str, tuple[int, int]]
    titles: dict[str, tuple[int, int]]
    texts: dict[str, tuple[str, int]]
    named: tuple[str, ...]

    def to_row(self) -> dict[str, Any]:
        """Write it as lists and dictionaries, for JSON."""
        return asdict(self)


def skeleton(diagram: Diagram) -> Skeleton:
    """Lay a diagram out, but for the numbers.

    Args:
        diagram: A diagram, whole or collapsed.

    Returns:
        Ranks and their order for every group that the diagram has the inside of.

    Raises:
        ValueError: Two groups feed each other, so neither can be drawn above the other.
    """
    closed = {node.id for node in diagram.nodes}
    open_ = [group for group in diagram.groups if group.id not in closed]
    parents = {group.id: group.parent or TOP for group in open_}
    texts = tensor_texts(diagram)
    widths = {tensor: text_width(text, "small") for tensor, text in texts.items()}
    scopes = _scopes(diagram, parents)
    return Skeleton(
        scopes,
        parents,
        _sizes(diagram, scopes, widths),
        {group.id: _title_size(group) for group in open_},
        {tensor: (text, widths[tensor]) for tensor, text in texts.items()},
        tuple(named_operands(diagram)),
    )


def _sizes(
    diagram: Diagram, scopes: Mapping[str, Scope], widths: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """The size of every box: there is room for what stands in it, for its lines and their texts."""
    shown = [*diagram.nodes, *closed_boxes(diagram).values()]
    written = contents(diagram, shown)
    entries = Counter(edge.target for edge in diagram.edges)
    sizes = {}
    for node in shown:
        width, height = box_size(node, written[node.id])
        ways, exits = entries[node.id], []
        if node.id in scopes:
            ranks = scopes[node.id].ranks
            ways, exits = len(ranks[0]), [widths.get(out[len("out:") :], 0) for out in ranks[-1]]
        least = max(APART * (ways + 1), (max(exits, default=0) + APART + 2) * len(exits))
        sizes[node.id] = max(width, least + least % 2), height
    return sizes


def _title_size(group: Group) -> tuple[int, int]:
    name, kind, size = (text_width(line.text, line.style) for line in title(group))
    return max(name + 6 + kind, size), 32 if size else 20


def _scopes(diagram: Diagram, parents: Mapping[str, str]) -> dict[str, Scope]:
    """Rank and order every group, children first: the order of their ports is known above."""
    members = _members(diagram, parents)
    links = _links(diagram, parents)
    scopes: dict[str, Scope] = {}
    doors: dict[str, float] = {}  # where a port lies along its group, from 0 to 1
    for scope in (*reversed(list(parents)), TOP):
        leaves = {item for item, node in members[scope].items() if node and node.kind in LEAVES}
        ranks, ways = ranked(members[scope], links[scope])
        ranks = arrange(ranks, ways, doors, leaves)
        scopes[scope] = Scope(tuple(map(tuple, ranks)), ways)
        for ports in (ranks[0], ranks[-1]):
            for index, port in enumerate(ports):
                doors[f"{scope}/{port}"] = (index + 0.5) / len(ports)
    return scopes


def _members(diagram: Diagram, parents: Mapping[str, str]) -> dict[str, dict[str, Node | None]]:
    """The nodes and groups directly in each group, in order of their first op."""
    members: dict[str, dict[str, Node | None]] = {scope: {} for scope in (*parents, TOP)}
    for leaf in (False, True):
        for node in diagram.nodes:
            if leaf == (node.kind in LEAVES):
                scope, item = node.group or TOP, node.id
                members[scope][item] = node
                while scope != TOP and scope not in members[parents[scope]]:
                    members[parents[scope]][scope] = None
                    scope = parents[scope]
    return members


def _links(diagram: Diagram, parents: Mapping[str, str]) -> dict[str, list[Link]]:
    """Take every edge out of the groups around its source, across, and into those of its target."""
    home = {node.id: node.group or TOP for node in diagram.nodes}
    found: dict[str, dict[tuple[str, str, str, int], list[int]]] = {
        scope: defaultdict(list) for scope in (*parents, TOP)
    }
    around: dict[str, tuple[str, ...]] = {TOP: (TOP,)}  # outermost first
    for scope, parent in parents.items():
        around[scope] = (*around[parent], scope)
    for index, edge in enumerate(diagram.edges):
        outwards, inwards = around[home[edge.source]], around[home[edge.target]]
        shared = sum(a == b for a, b in zip(outwards, inwards, strict=False))
        item = edge.source
        for scope in reversed(outwards[shared:]):
            found[scope][item, f"out:{edge.source}", edge.source, -1].append(index)
            item = scope
        for scope, inner in zip(inwards[shared - 1 :], inwards[shared:], strict=False):
            found[scope][item, inner, edge.source, -1].append(index)
            item = f"in:{edge.source}"
        # Each operand has an edge of its own: x * x is two.
        found[inwards[-1]][item, edge.target, edge.source, index].append(index)
    return {
        scope: [
            Link((source, target), tensor, tuple(edges))
            for (source, target, tensor, _), edges in table.items()
        ]
        for scope, table in found.items()
    }
