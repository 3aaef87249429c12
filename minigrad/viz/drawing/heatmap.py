"""A heatmap as SVG text: a grid for each head, and the scale below.

A grid is a small picture with one pixel for each cell, so that large grids stay small. Masked cells
are hatched. attention.py draws the attention of a whole model with the same grids.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import numpy as np

from minigrad.viz.drawing.colour_scale import BROKEN, Colour, dark, diverging, png, sequential
from minigrad.viz.drawing.style import FONT, LIGHT
from minigrad.viz.layout.labels import text_width
from minigrad.viz.record.heatmap import LEVELS, Heatmap, to_levels

NUMBERED = 12
"""Up to this many keys, and queries, the numbers are in the cells."""

NUMBER_CELL, ROOM = 34, 192
"""The side of a cell with a number; and the side of a grid without."""

EDGE, TITLE, GAP, SCALE = 18, 18, 16, 52
"""Around the picture, above a grid, between grids, and for the scale."""

Scales = Mapping[str, Sequence[Colour]]
"""The scale for each ground: ``day`` and ``night``; "" for every one."""

STYLE = (
    f".minigrad-heatmap text{{font:10px {FONT};text-anchor:middle;fill:{LIGHT['text']}}}"
    f".minigrad-heatmap .head{{font-weight:600;font-size:11px}}"
    f".minigrad-heatmap .strong{{fill:#FFFFFF}}.minigrad-heatmap .start{{text-anchor:start}}"
    f".minigrad-heatmap image{{image-rendering:pixelated}}"
    f".minigrad-heatmap .grid{{fill:none;stroke:{LIGHT['line']}}}"
)


def draw(heatmap: Heatmap, gradients: bool = False, across: int = 4) -> str:
    """Draw a heatmap on light ground, so many grids side by side; see `Heatmap.to_svg`."""
    return "\n".join(_Picture(heatmap, gradients, across).lines()) + "\n"


class _Picture:
    def __init__(self, heatmap: Heatmap, gradients: bool, across: int) -> None:
        self.heatmap, self.across = heatmap, across
        self.values = heatmap.gradient_values() if gradients else heatmap.values()
        given = heatmap.gradients if gradients and heatmap.gradients else heatmap.weights
        self.masked = heatmap.masked()
        self.what = "gradient of the weights" if gradients else "weights"
        if gradients:  # zero is in the middle
            far = max(abs(given.low), abs(given.high))
            self.ends, self.scale = (-far, far), diverging(LEVELS + 1)
        else:
            self.ends, self.scale = (given.low, given.high), sequential(LEVELS + 1)
        self.levels = to_levels(self.values, *self.ends)
        _, queries, keys = heatmap.shape
        longest = max(queries, keys)
        self.cell = NUMBER_CELL if longest <= NUMBERED else ROOM / longest
        self.width, self.height = round(self.cell * keys), round(self.cell * queries)
        self.hatch = f"hatch-{heatmap.node}{'-gradient' * gradients}"

    def lines(self) -> Iterator[str]:
        """All lines of the picture."""
        name, heads = escape(self._name()), self.heatmap.shape[0]
        width = 2 * EDGE + min(heads, self.across) * (self.width + GAP) - GAP
        width = max(width, 2 * EDGE + max(ROOM, text_width(self._name(), "small")))
        foot = EDGE + 14 + -(-heads // self.across) * (self.height + TITLE + GAP)
        size = f'width="{width}" height="{foot + SCALE}"'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="minigrad-heatmap" role="img" '
            f'aria-label="{name}" viewBox="0 0 {width} {foot + SCALE}" {size}>'
        )
        yield f"<style>{STYLE}</style><title>{name}</title>"
        yield hatching(self.hatch)
        yield f'<rect class="page" {size} fill="{LIGHT["page"]}"/>'
        yield f'<text class="start" x="{EDGE}" y="{EDGE}">{name}</text>'
        for head in range(heads):
            x = EDGE + head % self.across * (self.width + GAP)
            y = EDGE + 14 + head // self.across * (self.height + TITLE + GAP) + TITLE
            yield f'<g transform="translate({x} {y})">'
            yield f'<text class="head start" y="-5">head {head}</text>'
            values, masked, scale = self.values[head], self.masked[head], {"": self.scale}
            yield from cells(values, self.levels[head], masked, self.cell, self.hatch, scale)
            yield "</g>"
        yield f'<g transform="translate({EDGE} {foot})">'
        yield from legend(self.ends, {"": self.scale}, self.hatch if self.masked.any() else "")
        yield "</g></svg>"

    def _name(self) -> str:
        """The name of the picture."""
        shape, whole = self.heatmap.shape, self.heatmap.whole
        words = f"{self.what}, {whole[1]} queries by {whole[2]} keys"
        if whole[1:] != shape[1:]:
            words += f", the first {shape[1]} by {shape[2]}"
        if whole[0] != shape[0]:
            words += f", the first {shape[0]} of {whole[0]} heads"
        return f"{self.heatmap.name}: {words}" if self.heatmap.name else words


def hatching(name: str) -> str:
    """Define what masked cells are filled with."""
    return (
        f'<defs><pattern id="{name}" width="5" height="5" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="5" height="5" fill="{LIGHT["page"]}"/>'
        f'<path d="M0 0V5" stroke="{LIGHT["line"]}" stroke-width="1.6"/></pattern></defs>'
    )


def cells(
    values: np.ndarray, levels: np.ndarray, masked: np.ndarray, side: float, hatch: str,
    scales: Scales,
) -> Iterator[str]:  # fmt: skip
    """The cells of a head (queries, keys), with a side of so many pixels.

    There is an image for each scale; of a class, if the scale is for one ground only.
    """
    queries, keys = values.shape
    size = f'width="{round(side * keys)}" height="{round(side * queries)}"'
    yield from images(size, levels, scales)
    if runs := "".join(_hatched(masked, side)):
        yield f'<path class="masked" fill="url(#{hatch})" d="{runs}"/>'
    if max(queries, keys) <= NUMBERED:
        for row, column in np.argwhere(~masked):
            level = levels[row, column]
            strong = " ".join(
                f"strong {ground}".strip().replace(" ", "-")
                for ground, scale in scales.items()
                if dark((*scale, BROKEN)[level]) != (ground == "night")
            )
            kind = f' class="{strong}"' if strong else ""
            x, y = _short((column + 0.5) * side), _short((row + 0.5) * side + 4)
            yield f'<text{kind} x="{x}" y="{y}">{figure(float(values[row, column]))}</text>'
    yield f'<rect class="grid" {size}/>'


def legend(ends: tuple[float, float], scales: Scales, hatch: str) -> Iterator[str]:
    """The scale with its ends, and what hatching means if there is any."""
    low, high = map(figure, ends)
    yield from images('width="120" height="10"', np.arange(LEVELS + 1)[None], scales)
    yield '<rect class="grid" width="120" height="10"/>'
    yield f'<text class="start" y="22">{low}</text><text class="high" x="120" y="22">{high}</text>'
    yield '<text class="start" y="38">rows are queries, columns are keys</text>'
    if hatch:
        style = f'style="fill:url(#{hatch})"'
        yield f'<rect class="grid" {style} x="140" width="14" height="10"/>'
        yield '<text class="start" x="159" y="9">masked</text>'


def images(size: str, levels: np.ndarray, scales: Scales) -> Iterator[str]:
    """A grid as a picture of one pixel for each cell; one for each scale."""
    for ground, scale in scales.items():
        address = png(levels, (*scale, BROKEN))
        image = f'<image {size} preserveAspectRatio="none" href="{address}"/>'
        yield f'<g class="{ground}">{image}</g>' if ground else image


def _hatched(masked: np.ndarray, side: float) -> Iterator[str]:
    """Paths around the masked cells, one for each run in a row."""
    changes = np.diff(np.pad(masked.astype(np.int8), ((0, 0), (1, 1))))
    rows, starts = np.nonzero(changes == 1)
    ends = np.nonzero(changes == -1)[1]
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        left, right = _short(start * side), _short(end * side)
        yield f"M{left} {_short(row * side)}H{right}V{_short((row + 1) * side)}H{left}Z"


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


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
