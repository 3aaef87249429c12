"""A line of the user's program with the lines before and after it."""

from __future__ import annotations

import linecache
import re
import textwrap

__all__ = ["around"]

PLACE = re.compile(r"(?P<path>.*?):(?P<number>\d+): (?P<text>.*)", re.DOTALL)

LONGEST = 120
"""Of a longer neighbour, the beginning is shown."""


def around(line: str) -> tuple[str, str, str] | None:
    """Find what stands before and after a line.

    Args:
        line: Where it is and what it says: ``"train.py:31: loss = model(x).sum()"``.

    Returns:
        The line before, the line itself, the line after, with the indentation that they have
        towards one another; None if the line does not stand there (any more), or stands alone.

    Example:
        >>> from minigrad.viz.record.source_lines import around
        >>> around("nowhere.py:3: y = x * x") is None
        True
    """
    match = PLACE.fullmatch(line)
    if match is None:
        return None
    path, number = match["path"], int(match["number"])
    lines = [linecache.getline(path, at).rstrip() for at in (number - 1, number, number + 1)]
    if lines[1].strip() != match["text"] or not (lines[0].strip() or lines[2].strip()):
        return None
    before, own, after = textwrap.dedent("\n".join(lines)).split("\n")
    return before[:LONGEST], own, after[:LONGEST]
