"""The data of a layout: what Python finds out once (`Skeleton`), and positions (`Placement`).

Each group is laid out apart from the others. Its **items** lie in rows, the ranks: what an item
reads lies in ranks above it. An item is a node, a child group, which is one box, open or closed,
or a point that lines run through. Such a point is a **port**, on the upper or lower edge of the
group's frame, where a tensor comes in or goes out; or a **dummy**, in each rank that a tensor
passes, which keeps a lane free for it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

__all__ = ["TOP", "Box", "Chain", "End", "Line", "Placement", "Point", "Scope", "Skeleton"]

TOP = ""
"""The scope around all groups."""

Point = tuple[int, int]

End = tuple[int, int]
"""Where a line meets an item: how far right of the middle; of an open group, the item in it that is
the port instead."""

Chain = tuple[tuple[int, int, int, int], ...]
"""Items that lie straight above each other: at most one in each rank, from the top.

Each is found through a line: ``(item, line, at, bow)``. The stretch of that line that ends at the
point number `at` of its way joins the item to one that has its position already; `bow` is how much
further to the right the lower end of the stretch is than the upper one. The first item is joined
to another chain, the others to the item before them. Without such a line, `line` is -1 and `bow` is
the position.
"""


class Box(NamedTuple):
    """An item that is drawn: a node, or a child group, with the size that it has when closed.

    Attributes:
        id: The id of the node or the group.
        width: Of the box.
        height: Of the box.
        reach: How far it reaches to the right of its middle, with the texts beside its lines.
        fed: Whether anything leads to it: if not, it stands at the lower end of its rank.
        texts: The tensors that are described at its foot, and how far right of its middle.
    """

    id: str
    width: int
    height: int
    reach: int
    fed: bool
    texts: tuple[tuple[str, int], ...]


class Line(NamedTuple):
    """A tensor on its way within one group.

    Attributes:
        way: The items that it passes, one in each rank.
        out: Where it leaves the first of them.
        into: Where it meets the last of them.
        lane: If it runs to the right of everything, in which lane; otherwise -1.
        edges: The edges of the diagram that run here.
    """

    way: tuple[int, ...]
    out: End
    into: End
    lane: int
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """The inside of one group, or of the whole.

    Attributes:
        title: Width and height of its title; None for the whole, which has none.
        rows: How many items each rank has: first the in-ports, last the out-ports.
        items: The items, rank by rank, each from left to right; None for ports and dummies.
        lines: The tensors between them.
        chains: Every item in a chain, in the order in which chains get their positions.
    """

    title: tuple[int, int] | None
    rows: tuple[int, ...]
    items: tuple[Box | None, ...]
    lines: tuple[Line, ...]
    chains: tuple[Chain, ...]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A layout without positions: the same, whichever groups are open.

    Attributes:
        scopes: By the id of the group, children before their parents, `TOP` last.
        parents: The group around each group, parents before their children.
        texts: What runs out of each node that computes something, as text, and how wide it is.
    """

    scopes: dict[str, Scope]
    parents: dict[str, str]
    texts: dict[str, tuple[str, int]]

    def to_row(self) -> dict[str, Any]:
        """Write it as lists and dictionaries, for JSON."""
        return asdict(self)


@dataclass(slots=True)
class Placement:
    """Where everything is drawn.

    Attributes:
        width: The width of the whole.
        height: Its height.
        boxes: For each node, and each closed group that shows: left, top, width, height.
        frames: The same for each open group.
        titles: Left and top of the title of each open group.
        ports: Where tensors pass the frames: x and y.
        texts: The node that computes the tensor, and left and top of what is written about it.
        edges: For each edge that shows, its points. It runs straight between two that have the
            same x, and in a bow between two that have not.
    """

    width: int = 0
    height: int = 0
    boxes: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    frames: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    titles: dict[str, Point] = field(default_factory=dict)
    ports: list[Point] = field(default_factory=list)
    texts: list[tuple[str, int, int]] = field(default_factory=list)
    edges: dict[int, list[Point]] = field(default_factory=dict)

    def to_row(self) -> dict[str, Any]:
        """Write it as lists and dictionaries, for JSON."""
        return asdict(self)
