"""Choose how to draw a graph so that it fills a slide, or a page, and its text can be read."""

import math
from collections.abc import Iterator
from dataclasses import replace

from minigrad.viz.layout import Direction, place, skeleton
from minigrad.viz.layout.columns import MOST, Columns
from minigrad.viz.layout.labels import SIZES
from minigrad.viz.record.fold import BUDGET, collapse
from minigrad.viz.record.model import AnyDiagram
from minigrad.viz.record.selection import Choice

PIXELS = 1920 * 1080
"""Of a picture, whatever its aspect."""

READABLE = 14
"""The height in pixels that the smallest text should have at least."""

ROOMS = (BUDGET, 32, 26, 20, 16, 12, 9, 6)
"""The numbers of boxes to try."""

LEGEND = 30
"""Its height, if it is one row."""


def fitted(
    diagram: AnyDiagram,
    depth: int | None,
    also: Choice,
    direction: Direction | None,
    aspect: tuple[float, float],
    above: int,
) -> tuple[AnyDiagram, Direction, int, tuple[int, int]]:
    """Find the view with the most boxes that can be read, and what fills the picture best.

    A `depth` and a `direction` that are given stay as they are; otherwise both are chosen, with the
    number of columns and the size in pixels. If no view can be read, it is the one with the largest
    text. `above` is the room for a title.
    """
    width = math.sqrt(PIXELS * aspect[0] / aspect[1])
    size = round(width), round(PIXELS / width)
    best, most = None, 0.0
    for view in _views(diagram, depth, also):
        for where in (direction,) if direction else ("down", "right"):
            layout = skeleton(view, where)
            whole = Columns(layout, place(layout))
            for count in range(1, MOST + 1):
                cut = whole.cut(count)
                unit = min(size[0] / cut.width, size[1] / (cut.height + above + LEGEND))
                if unit > most:
                    best, most = (view, where, count, size), unit
        if most * SIZES["small"] >= READABLE:
            break
    assert best is not None
    return best


def _views(diagram: AnyDiagram, depth: int | None, also: Choice) -> Iterator[AnyDiagram]:
    """Views with fewer and fewer boxes, each also without arguments and lists of parameters."""
    count = 0
    for room in ROOMS if depth is None else (None,):
        view = collapse(diagram, depth, also, room)
        if len(view.nodes) != count:
            count = len(view.nodes)
            yield view
            yield replace(view, nodes=tuple(replace(node, notes=()) for node in view.nodes))
