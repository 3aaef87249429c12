"""The data of a layout: what Python finds out once (`Skeleton`), and positions (`Placement`).

Each group is laid out apart from the others. Its **items** lie in rows, the ranks: what an item
reads lies in ranks above it. An item is a node; or a child group, which is one box, open or closed;
or a point that lines run through. Such a point is a **port**, where a tensor passes the frame of
the group; or a **dummy**, which keeps a lane free in each rank that a tensor passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TOP = ""
"""The scope around all groups."""

Point = tuple[int, int]

Rect = tuple[int, int, int, int]
"""Left, top, width, height."""

End = tuple[int, int]
"""Where a line meets an item: how far right of the middle; of an open group, the item in it that is
the port instead."""

Joint = tuple[int, End, int, End, int]
"""How an item finds its position: ``(item, end, other, end of the other, slant)``.

A line joins the item to another one, which has its position already. If it is straight, the two
ends lie above each other; `slant` is how much further to the right the end of the item is. Without
such a line, `other` is -1 and `slant` is the position.
"""

Block = tuple[Joint, ...]
"""Items that lie straight above each other: at most one in each rank.

The first is joined to another block, each of the others to one before it in the block.
"""


@dataclass(frozen=True, slots=True)
class Box:
    """An item: a node, or a child group, with the size that it has when closed; or a point."""

    id: str = ""  # the id of the node or the group; empty for a port or a dummy
    width: int = 0  # of the box
    height: int = 0  # of the box
    reach: int = 0  # how far it reaches to the right of its middle, with the texts beside its lines
    fed: bool = False  # whether anything leads to it: if not, it is at the foot of its rank
    # The tensors that are described at its foot, and how far right of its middle
    texts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A tensor on its way within one group."""

    way: tuple[int, ...]  # the items that it passes, one in each rank
    out: End  # where it leaves the first of them
    into: End  # where it meets the last of them
    lane: int  # if it runs to the right of everything, in which lane; otherwise -1
    edges: tuple[int, ...]  # the edges of the diagram that run here


@dataclass(frozen=True, slots=True)
class Scope:
    """The inside of one group, or of the whole."""

    # Width and height of its title; None for the whole, which has none
    title: tuple[int, int] | None
    rows: tuple[int, ...]  # how many items each rank has: first the in-ports, last the out-ports
    items: tuple[Box, ...]  # the items, rank by rank, each from left to right
    lines: tuple[Line, ...]  # the tensors between them
    # Every item in a block, in the order in which blocks get their positions
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A layout without positions: the same, whichever groups are open."""

    scopes: dict[str, Scope]  # by the id of the group, children before their parents, `TOP` last
    parents: dict[str, str]  # the group around each group, parents before their children
    # What runs out of each node that computes something, as text, and how wide it is
    texts: dict[str, tuple[str, int]]


@dataclass(slots=True)
class Placement:
    """Where everything is drawn."""

    width: int = 0  # the width of the whole
    height: int = 0  # its height
    # For each node, and each closed group that shows: left, top, width, height
    boxes: dict[str, Rect] = field(default_factory=dict)
    # The same for each open group
    frames: dict[str, Rect] = field(default_factory=dict)
    # Left and top of the title of each open group
    titles: dict[str, Point] = field(default_factory=dict)
    ports: list[Point] = field(default_factory=list)  # where tensors pass the frames: x and y
    # The node that computes the tensor, and left and top of its text
    texts: list[tuple[str, int, int]] = field(default_factory=list)
    # For each edge that shows, its points. It runs straight between two that have the same x,
    # and in a bow between two that have not
    edges: dict[int, list[Point]] = field(default_factory=dict)
