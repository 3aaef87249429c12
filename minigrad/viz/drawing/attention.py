"""Attention maps as SVG text: a row for each layer, a grid for each head, tokens on both axes."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from minigrad.viz.drawing.colour_scale import sequential
from minigrad.viz.drawing.heatmap import EDGE, GAP, NUMBER_CELL, NUMBERED, SCALE, cells, hatching
from minigrad.viz.drawing.heatmap import STYLE as GRIDS
from minigrad.viz.drawing.heatmap import legend as scale_of
from minigrad.viz.drawing.style import DARK, LIGHT
from minigrad.viz.layout.labels import LEADING, shorten, text_width
from minigrad.viz.record.attention import AttentionMap
from minigrad.viz.record.heatmap import LEVELS, to_levels

SCALES = {"day": sequential(LEVELS + 1), "night": sequential(LEVELS + 1, on_dark=True)}

WIDEST, LONGEST, LEAST = 16, 384, 1
"""The largest side of a cell without a number; of a grid; and the least of a cell all the same."""

HEAD, TOKEN = 24, 16
"""The room for the name of a layer; and the most letters of a token that are shown."""

SLOPE = math.radians(60)
"""By how much the tokens above a grid are turned."""

HATCH = "minigrad-attention-masked"

NIGHT = """
text {{ fill: {text} }}
.page {{ fill: {page} }}
.strong-day {{ fill: {text} }}
.strong-night {{ fill: {page} }}
.day {{ display: none }}
.night {{ display: inline }}
.grid {{ stroke: {line} }}
pattern rect {{ fill: {page} }}
pattern path {{ stroke: {line} }}
"""

STYLE = (
    f"{GRIDS}.minigrad-heatmap .token,.minigrad-attention .head{{font-size:12px}}"
    ".minigrad-attention .layer{font-size:14px;font-weight:600}"
    ".minigrad-attention .end{text-anchor:end}.minigrad-attention .strong-day{fill:#FFFFFF}"
    ".minigrad-attention .night{display:none}@media screen and (prefers-color-scheme:dark){"
    + "".join(f".minigrad-attention {rule}" for rule in NIGHT.format_map(DARK).split("\n") if rule)
    + "}"
)


class Piece(NamedTuple):
    """A part of a picture, and its size."""

    width: int
    height: int
    lines: list[str]


def draw(pieces: Sequence[Piece], label: str, styled: bool = True) -> str:
    """Put pieces below each other, as a picture that is called by `label`.

    Of several pictures in a page, the first has the style for all.
    """
    width = max(piece.width for piece in pieces) + 2 * EDGE
    height = sum(piece.height for piece in pieces) + 2 * EDGE
    size, y = f'width="{width}" height="{height}"', EDGE
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="minigrad-heatmap minigrad-attention" '
        f'role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}" {size}>',
        f"<style>{STYLE}</style>{hatching(HATCH)}" if styled else "",
        f'<rect class="page" {size} fill="{LIGHT["page"]}"/>',
    ]
    for piece in pieces:
        lines += [f'<g transform="translate({EDGE} {y})">', *piece.lines, "</g>"]
        y += piece.height
    return "\n".join([*lines, "</svg>\n"])


def legend(high: float, masked: bool) -> Piece:
    """The scale from 0 to the largest weight."""
    return Piece(220, SCALE - EDGE, [*scale_of((0.0, high), SCALES, HATCH if masked else "")])


def layer(one: AttentionMap, sample: int, heads: Sequence[int], high: float) -> Piece:
    """The grids of a layer, side by side, in a scale from 0 to `high`."""
    queries, keys = one.weights.shape[2:]
    longest = max(queries, keys)
    side = max(LEAST, min(WIDEST, LONGEST / longest)) if longest > NUMBERED else NUMBER_CELL
    rows, columns = _shown(one.queries, side), _shown(one.keys, side)
    left = max(width for _, _, width in rows) + 8
    top = HEAD + 24 + math.ceil(max(width for _, _, width in columns) * math.sin(SLOPE))
    right = math.ceil(max(x + width * math.cos(SLOPE) for _, x, width in columns))
    step = left + max(round(side * keys) + GAP, right + 4)
    lines = [f'<text class="layer start" y="14">{escape(one.path)}</text>']
    for place, head in enumerate(heads):
        name = escape(f"{one.path} · head {head}: {queries} queries by {keys} keys")
        lines.append(
            f'<g class="cells" role="img" aria-label="{name}" data-head="{head}" '
            f'transform="translate({left + place * step} {top})">'
        )
        lines.append(f'<text class="head start" y="{HEAD + 12 - top}">head {head}</text>')
        for token, x, _ in columns:
            turned = f"translate({x + 4:.5g} -6) rotate({-math.degrees(SLOPE):.0f})"
            lines.append(f'<text class="token start" transform="{turned}">{token}</text>')
        for token, y, _ in rows:
            lines.append(f'<text class="token end" x="-6" y="{y + 4:.5g}">{token}</text>')
        values, masked = one.weights[sample, head], one.masked[sample, head]
        levels = to_levels(values, 0.0, high)
        lines += [*cells(values.round(2), levels, masked, side, HATCH, SCALES), "</g>"]
    width = max(len(heads) * step, text_width(one.path, "bold") * 14 // 12 + 1)
    return Piece(width, top + round(side * queries) + 2 * GAP, lines)


def _shown(tokens: Sequence[str], side: float) -> list[tuple[str, float, int]]:
    """As many tokens as there is room for: as they are written, the middle, and the width."""
    every = math.ceil(LEADING["name"] / side)
    short = [shorten(token.replace(" ", "␣"), TOKEN) for token in tokens[::every]]
    return [
        (escape(token), (i * every + 0.5) * side, text_width(token, "name"))
        for i, token in enumerate(short)
    ]
