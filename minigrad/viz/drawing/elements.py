"""What every picture is made of: one ``<svg>`` element, texts, and names that are escaped."""

import html
from collections.abc import Iterable

from minigrad.viz.layout.labels import text_width
from minigrad.viz.record.writing import printable

ROW, SPACE, MARGIN = 22, 18, 16
"""The height of a row of a legend; between two entries; and at the sides."""


def escape(text: str) -> str:
    """Make a text safe within an element and an attribute; only tooltips have several lines."""
    return html.escape("\n".join(map(printable, text.split("\n"))))


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of text, or nothing if it is empty: `x` is its middle, or with ``start`` its left."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.5g}" y="{y:.5g}">{escape(words)}</text>' if words else ""


def picture(
    kind: str, label: str, size: tuple[int, int], style: str, parts: Iterable[str], *,
    role: str = "img", scale: float = 1.0,
) -> str:  # fmt: skip
    """A picture of a kind, called by a label, with a style sheet; `scale` pixels for each unit."""
    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="{role}" '
        f'aria-label="{escape(label)}" viewBox="0 0 {width} {height}" '
        f'width="{round(scale * width)}" height="{round(scale * height)}">'
    )
    page = f'<rect class="page" width="{width}" height="{height}"/>'
    sheet = [f"<style>{style}</style>"] * bool(style)
    return "\n".join([head, *sheet, page, *parts, "</svg>\n"])


def legend(
    entries: Iterable[tuple[str, int, str]], width: int, top: int
) -> tuple[list[str], int, int]:
    """A legend in rows: of each entry a sample, how wide that is, and what it means.

    It returns the elements, and the width and the height that they need.
    """
    widest, x, row = 0, MARGIN, 0
    parts = ['<g class="legend" role="img" aria-label="Legend">']
    for sample, wide, meaning in entries:
        end = x + wide + 6 + text_width(meaning, "small")
        if end + MARGIN > width and x > MARGIN:
            x, row, end = MARGIN, row + 1, end - x + MARGIN
        parts.append(f'<g transform="translate({x} {top + row * ROW})">{sample}')
        parts.append(f"{text(wide + 6, 11, meaning, 'small start')}</g>")
        widest = max(widest, end + MARGIN)
        x = end + SPACE
    return [*parts, "</g>"], widest, (row + 1) * ROW + MARGIN // 2
