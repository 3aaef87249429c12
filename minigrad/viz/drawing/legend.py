"""The legend of a picture: the kinds of boxes and lines that occur in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from minigrad.viz.drawing.box import outline, sign, text
from minigrad.viz.drawing.labels import Line, text_width
from minigrad.viz.record.model import Kind, Node

__all__ = ["Legend", "entries"]

WIDTH, HEIGHT, ROW = 26, 14, 22
"""Of a sample, and of a row of them."""

SPACE, MARGIN = 18, 16
"""Between two entries, and at the sides."""

LEAST = 320
"""A legend may be wider than its picture, up to this."""

NAMES: dict[Kind, str] = {
    "input": "input, output",
    "op": "op",
    "fused": "op made of others",
    "parameter": "parameter",
    "buffer": "buffer",
    "constant": "constant",
    "module": "closed module",
}


class Legend:
    """Samples with names, in as many rows as needed.

    Attributes:
        width: What the widest row takes.
        height: What all rows take.
    """

    def __init__(self, shown: Sequence[Node], residual: bool, width: int) -> None:
        """Find what occurs.

        Args:
            shown: What the boxes of the picture stand for.
            residual: Whether an edge leads around something.
            width: Of the picture.
        """
        self.width = 0
        self._placed: list[tuple[int, int, str, str]] = []
        x, row = MARGIN, 0
        for sample, name in entries(shown, residual):
            end = x + WIDTH + 6 + text_width(name, "small")
            if end + MARGIN > max(width, LEAST) and x > MARGIN:
                x, row, end = MARGIN, row + 1, end - x + MARGIN
            self._placed.append((x, row, sample, name))
            self.width = max(self.width, end + MARGIN)
            x = end + SPACE
        self.height = (row + 1) * ROW + MARGIN // 2

    def draw(self, top: int) -> Iterator[str]:
        """Draw the rows below the picture."""
        yield '<g class="legend" role="img" aria-label="Legend">'
        for x, row, sample, name in self._placed:
            y = top + row * ROW
            yield f'<g transform="translate({x} {y})">{sample}'
            yield f"{text(WIDTH + 6, 11, Line(name, 'small'), 'start')}</g>"
        yield "</g>"


def entries(shown: Sequence[Node], residual: bool) -> Iterator[tuple[str, str]]:
    """A sample and a name for everything that occurs."""
    kinds = {"input" if node.kind == "output" else node.kind for node in shown}
    for kind, name in NAMES.items():
        if kind in kinds:
            yield _sample(kind), name
    if not all(node.recorded for node in shown):
        yield _sample("op", "unrecorded"), "not recorded"
    if any(node.error for node in shown):
        yield _sample("op", "error"), "error"
    if any(node.saved for node in shown):
        saved = '<rect class="saved" x="9" y="3" width="8" height="7"/>'
        yield saved, "keeps arrays for the backward pass"
    if residual:
        line = f'<path class="line" d="M0 7h{WIDTH}"/>'
        yield f'<g class="residual">{line}</g>', "residual"


def _sample(kind: Kind, *more: str) -> str:
    parts = outline(kind, WIDTH, HEIGHT)
    if kind in ("module", "fused"):
        parts.append(sign(8, 2))
    letter = {"parameter": "W", "buffer": "B"}.get(kind)
    if letter:
        parts.append(f'<text class="bold small glyph" x="13" y="11">{letter}</text>')
    return f'<g class="box {" ".join((kind, *more))}">{"".join(parts)}</g>'
