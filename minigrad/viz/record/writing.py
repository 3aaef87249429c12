"""How shapes, names and rows are written, wherever they are shown."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.debugging.tables import Text

WIDEST = 64
"""Shapes are in one column, unless the text before them is longer than this."""

Row = tuple[str, ...]
"""A line: what happens, what comes of it, and remarks."""


def shape_text(shape: tuple[int, ...], samples: int = 0) -> str:
    """Write a shape as people say it: ``2×10×64``, or ``scalar``; samples: ``32 × (10×64)``."""
    text = "×".join(map(str, shape[samples:])) or "scalar"
    return f"{'×'.join(map(str, shape[:samples]))} × ({text})" if samples else text


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things: ``1 step``, ``2 leaves``."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def number_text(value: float) -> str:
    """Write a number with four digits, as the page does: ``−0.25``, ``138.8``, ``1.2e−5``."""
    if not math.isfinite(value):
        return str(value).replace("inf", "∞").replace("-", "−").replace("nan", "NaN")
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        text = f"{float(f'{value:.4g}'):.7f}".rstrip("0").rstrip(".")
    else:
        text = f"{value:.1e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return text.replace("-", "−")


def size_text(tensor: Any) -> str:
    """Write the shape of a box or an edge."""
    return shape_text(tensor.shape, tensor.samples)


def printable(text: str) -> str:
    r"""Write a newline as ``\n``, and so on: one line, and valid XML."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def columns(rows: Iterable[Row]) -> Text:
    """Set rows in a column each for the first two parts; a very long part moves its row only."""
    table = [list(row) for row in rows]
    for at in (0, 1):
        followed = [row for row in table if any(row[at + 1 :])]
        width = max((len(row[at]) for row in followed if len(row[at]) <= WIDEST), default=0)
        for row in followed:
            row[at] = row[at].ljust(width)
    return Text("\n".join("  ".join(row).rstrip() for row in table))


def argument_text(value: Any) -> str:
    """Write an argument; a part of an array as a program would: ``:, [0 2]``."""
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return ":".join("" if end is None else str(end) for end in ends).removesuffix(":")
    if isinstance(value, tuple) and {slice, np.ndarray} & {*map(type, value)}:
        return ", ".join(map(argument_text, value))
    return " ".join(str(value).split()) if hasattr(value, "dtype") else repr(value)
