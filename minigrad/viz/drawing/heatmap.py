"""Heatmaps as SVG text: grids with names on both axes, and the scale below.

A grid is a small picture with one pixel for each cell, so that large grids stay small. Masked cells
are hatched.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from minigrad.viz.drawing.colour_scale import LEVELS, Colour, byte_colours, dark, png, to_levels
from minigrad.viz.drawing.elements import escape, picture, text
from minigrad.viz.drawing.style import FONT, sheet
from minigrad.viz.layout.labels import LEADING, shorten, text_width
from minigrad.viz.record.heatmap import Heatmap

NUMBERED, NUMBER_CELL = 12, 34
"""Up to so many rows and columns the numbers are in the cells; and the side of such a cell."""

WIDEST, LONGEST, LEAST = 16, 256, 1
"""The largest side of a cell without a number; of a grid; and the least of a cell all the same."""

EDGE, TITLE, HEAD, GAP, SCALE = 18, 22, 20, 16, 52
"""Around the picture, above a panel and a grid, between grids, and for the scale."""

NAME = 16
"""The most letters of a name that are shown."""

SLOPE = math.radians(60)
"""By how much names above a grid are turned where they are wider than its cells."""

HATCH = "minigrad-masked"

STYLE = sheet(
    [
        ("text", f"font:10px {FONT};text-anchor:middle"),
        (".start", "text-anchor:start"),
        (".end", "text-anchor:end"),
        (".name,.head", "font-size:12px"),
        (".head,.title", "font-weight:600"),
        (".title", "font-size:14px"),
        ("image", "image-rendering:pixelated"),
        (".grid", "fill:none"),
    ],
    [
        (".page,pattern rect", "fill:{page}"),
        ("text", "fill:{text}"),
        (".grid,pattern path", "stroke:{line}"),
    ],
    ".minigrad-heatmap",
)


class Panel(NamedTuple):
    """Grids with the same names on their axes, such as the heads of a layer."""

    title: str
    rows: Sequence[str]  # the names of the queries
    columns: Sequence[str]  # the names of the keys
    values: np.ndarray  # (heads, rows, columns)
    masked: np.ndarray  # the same, bools


def draw(panels: Sequence[Panel], label: str, signed: bool = False, across: int = 4) -> str:
    """Draw panels below each other, so many grids side by side, all in one scale.

    It goes from 0 to the largest value, or if they are `signed`, as far below 0 as above.
    """
    every = np.concatenate([panel.values.ravel() for panel in panels])
    high = float(np.abs(every).max(where=np.isfinite(every), initial=0.0))
    scale = byte_colours(signed)
    ends = -high if signed else 0.0, high
    parts, width, y = [hatching()], 220, EDGE
    for panel in panels:
        wide, height, lines = _panel(panel, ends, scale, across)
        parts += [f'<g transform="translate({EDGE} {y})">', *lines, "</g>"]
        width, y = max(width, wide), y + height
    masked = any(panel.masked.any() for panel in panels)
    parts += [f'<g transform="translate({EDGE} {y})">', *_legend(ends, scale, masked), "</g>"]
    size = width + 2 * EDGE, y + SCALE
    return picture("minigrad-heatmap", label, size, STYLE, parts)


def draw_heatmap(heatmap: Heatmap, gradients: bool = False, across: int = 4) -> str:
    """Draw the heatmap of a trace; see `Heatmap.to_svg`."""
    (heads, queries, keys), whole = heatmap.weights.shape, heatmap.whole
    what = "gradient of the weights" if gradients else "weights"
    title = f"{what}, {whole[1]} queries by {whole[2]} keys"
    if whole[1:] != (queries, keys):
        title += f", the first {queries} by {keys}"
    if whole[0] != heads:
        title += f", the first {heads} of {whole[0]} heads"
    title = f"{heatmap.name}: {title}" if heatmap.name else title
    values = heatmap.gradient_values() if gradients else heatmap.values()
    names = [*map(str, range(max(queries, keys)))]
    panel = Panel(title, names[:queries], names[:keys], values, heatmap.masked())
    return draw([panel], title, gradients, across)


def _panel(
    panel: Panel, ends: tuple[float, float], scale: Sequence[Colour], across: int
) -> tuple[int, int, list[str]]:
    """The width and the height of a panel, and its elements."""
    queries, keys = panel.values.shape[1:]
    longest = max(queries, keys)
    side = NUMBER_CELL if longest <= NUMBERED else max(LEAST, min(WIDEST, LONGEST / longest))
    rows, columns = _shown(panel.rows, side), _shown(panel.columns, side)
    tall = max(width for _, _, width in columns)
    turned = tall > side
    right = max(x + width * math.cos(SLOPE) for _, x, width in columns) if turned else 0
    left = max(width for _, _, width in rows) + 8
    above = TITLE + HEAD + (math.ceil(tall * math.sin(SLOPE)) + 8 if turned else LEADING["name"])
    step = left + max(round(side * keys), math.ceil(right)) + GAP
    drop = above - TITLE + round(side * queries) + GAP
    lines = [text(0, 14, panel.title, "title start")]
    for head, (values, masked) in enumerate(zip(panel.values, panel.masked, strict=True)):
        x, y = left + head % across * step, above + head // across * drop
        name = escape(f"{panel.title} · head {head}")
        lines.append(f'<g class="cells" role="img" aria-label="{name}" '
                     f'transform="translate({x} {y})">')  # fmt: skip
        lines.append(text(0, TITLE + HEAD - 8 - above, f"head {head}", "head start"))
        for column, x, _ in columns:
            if turned:
                turn = f"translate({x + 4:.5g} -6) rotate({-math.degrees(SLOPE):.0f})"
                lines.append(f'<text class="name start" transform="{turn}">{escape(column)}</text>')
            else:
                lines.append(text(x, -6, column, "name"))
        lines += [text(-6, y + 4, row, "name end") for row, y, _ in rows]
        lines += [*cells(values, to_levels(values, *ends), masked, side, scale), "</g>"]
    grids = len(panel.values)
    width = max(min(grids, across) * step, text_width(panel.title, "bold") * 14 // 12 + 1)
    return width, TITLE + -(-grids // across) * drop, lines


def _shown(names: Sequence[str], side: float) -> list[tuple[str, float, int]]:
    """As many names as there is room for: as they are written, the middle, and the width."""
    every = math.ceil(LEADING["name"] / side)
    short = [shorten(name.replace(" ", "␣"), NAME) for name in names[::every]]
    return [
        (name, (i * every + 0.5) * side, text_width(name, "name")) for i, name in enumerate(short)
    ]


def hatching() -> str:
    """Define what masked cells are filled with."""
    return (
        f'<defs><pattern id="{HATCH}" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="5" height="5"/>'
        '<path d="M0 0V5" stroke-width="1.6"/></pattern></defs>'
    )


def cells(
    values: np.ndarray, levels: np.ndarray, masked: np.ndarray, side: float, scale: Sequence[Colour]
) -> Iterator[str]:
    """The cells of a grid (rows, columns), with a side of so many pixels."""
    rows, columns = values.shape
    size = f'width="{round(side * columns)}" height="{round(side * rows)}"'
    yield image(size, levels, scale)
    if runs := "".join(_hatched(masked, side)):
        yield f'<path class="masked" fill="url(#{HATCH})" d="{runs}"/>'
    if max(rows, columns) <= NUMBERED:
        for row, column in np.argwhere(~masked):
            ink = "#FFFFFF" if dark(scale[levels[row, column]]) else "#24292F"
            x, y = (column + 0.5) * side, (row + 0.5) * side + 4
            number = figure(float(values[row, column]))
            yield f'<text style="fill:{ink}" x="{x:.5g}" y="{y:.5g}">{number}</text>'
    yield f'<rect class="grid" {size}/>'


def _legend(ends: tuple[float, float], scale: Sequence[Colour], masked: bool) -> Iterator[str]:
    """The scale with its ends, and what hatching means if there is any."""
    size = 'width="120" height="10"'
    yield image(size, np.arange(LEVELS + 1)[None], scale)
    yield f'<rect class="grid" {size}/>'
    low, high = map(figure, ends)
    yield text(0, 22, low, "start") + text(120, 22, high)
    yield text(0, 38, "rows are queries, columns are keys", "start")
    if masked:
        hatch = f'style="fill:url(#{HATCH})" x="140" width="14" height="10"'
        yield f'<rect class="grid" {hatch}/>{text(159, 9, "masked", "start")}'


def image(size: str, levels: np.ndarray, scale: Sequence[Colour]) -> str:
    """A grid as a picture of one pixel for each cell."""
    address = png(levels, scale)
    return f'<image {size} preserveAspectRatio="none" href="{address}"/>'


def _hatched(masked: np.ndarray, side: float) -> Iterator[str]:
    """Paths around the masked cells, one for each run in a row."""
    changes = np.diff(np.pad(masked.astype(np.int8), ((0, 0), (1, 1))))
    rows, starts = np.nonzero(changes == 1)
    ends = np.nonzero(changes == -1)[1]
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        left, top, right, foot = (n * side for n in (start, row, end, row + 1))
        yield f"M{left:.5g} {top:.5g}H{right:.5g}V{foot:.5g}H{left:.5g}Z"


def figure(value: float) -> str:
    """A number in few letters: ``.25``, ``1.5``, ``120``, ``−3e-5``."""
    size = abs(value)
    if size == 0 or 0.005 <= size < 999.5:
        digits = 2 if size < 0.995 else 1 if size < 9.95 else 0
        text = f"{size:.{digits}f}"
        text = text.rstrip("0").rstrip(".") if digits else text
        text = text.removeprefix("0") or "0"
    elif np.isfinite(value):
        text = f"{size:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    else:
        return str(value)
    return f"−{text}" if value < 0 else text
