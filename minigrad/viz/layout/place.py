"""The numbers of a layout: where each box, frame and line lies, for a choice of open groups.

Groups are packed from the inside out: an open group is as large as what is in it, a closed one as
its box. Ranks and their order are given, so a group costs time in proportion to its items. All
results are whole numbers. The page repeats this file, operation by operation, in JavaScript.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any

from minigrad.viz.layout.pack import Packed, Point
from minigrad.viz.layout.skeleton import TOP, Skeleton

__all__ = ["Placement", "place"]


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


def place(skeleton: Skeleton, closed: Collection[str] = ()) -> Placement:
    """Give a layout its numbers.

    Args:
        skeleton: What is above and beside what.
        closed: The ids of the groups to close.

    Returns:
        Boxes, frames and lines, within ``(0, 0)`` and ``(width, height)``.
    """
    shown = {TOP}
    for scope, parent in skeleton.parents.items():
        if scope not in closed and parent in shown:
            shown.add(scope)
    packed: dict[str, Packed] = {}
    for scope in (*reversed(skeleton.parents), TOP):
        if scope in shown:
            packed[scope] = Packed(scope, skeleton, packed)
    result = Placement(packed[TOP].width, packed[TOP].height)
    origins: dict[str, Point] = {TOP: (0, 0)}
    for scope in (TOP, *skeleton.parents):
        if scope in origins:
            _show(scope, skeleton, packed, origins, result)
    _join(skeleton, packed, origins, result)
    return result


def _show(
    scope: str,
    skeleton: Skeleton,
    packed: dict[str, Packed],
    origins: dict[str, Point],
    result: Placement,
) -> None:
    """Bring what is in a group to where it is in the whole."""
    left, top = origins[scope]
    group = packed[scope]
    if scope != TOP:
        result.frames[scope] = left, top, group.width, group.height
        result.titles[scope] = left + group.title[0], top + group.title[1]
    for port, x in group.doors.items():
        result.ports.append((left + x, top + (0 if port.startswith("in:") else group.height)))
    for item, (x, y) in group.corners.items():
        if item in packed:
            origins[item] = left + x, top + y
        else:
            result.boxes[item] = left + x, top + y, *skeleton.sizes[item]
    result.texts += [(tensor, left + x, top + y) for tensor, x, y in group.texts]


def _join(
    skeleton: Skeleton, packed: dict[str, Packed], origins: dict[str, Point], result: Placement
) -> None:
    """Join the parts of each edge: out of groups from the inside, then across and into others."""
    scopes = [scope for scope in (TOP, *skeleton.parents) if scope in origins]
    for outwards in (True, False):
        for scope in reversed(scopes) if outwards else scopes:
            left, top = origins[scope]
            links = skeleton.scopes[scope].links
            for link, line in zip(links, packed[scope].lines, strict=True):
                if link.target.startswith("out:") == outwards:
                    points = [(left + x, top + y) for x, y in line]
                    for edge in link.edges:
                        _extend(result.edges.setdefault(edge, []), points)


def _extend(line: list[Point], points: list[Point]) -> None:
    """Add points to a line; those in the middle of a straight stretch are left out."""
    for point in points:
        if line and line[-1] == point:
            continue
        if len(line) > 1 and line[-1][0] == line[-2][0] == point[0]:
            line.pop()
        line.append(point)
