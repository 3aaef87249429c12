"""What every picture is made of: one ``<svg>`` element, texts, and names that are escaped."""

import html
from collections.abc import Iterable

from minigrad.viz.record.writing import printable


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
