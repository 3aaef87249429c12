"""A captured step as SVG text: what passes did with its instructions, and its arrays over time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from minigrad.compiler import CapturedStep, Program
from minigrad.debugging.memory import readable
from minigrad.support.files import write
from minigrad.viz.drawing.pictures import convert
from minigrad.viz.drawing.style import STYLE
from minigrad.viz.layout.labels import shorten, text_width
from minigrad.viz.record.program import Buffer, Row, buffers, folded, peak, rows
from minigrad.viz.record.writing import printable

__all__ = ["ProgramDrawing", "program"]

Stages = Sequence[tuple[str, Program]]
Show = Literal["all", "instructions", "buffers"]

TALL, MOST, EDGE, HEAD, LINE = 40, 80, 16, 40, 18
"""The most rows of a column, and of all; the edge; the height of a heading, and of a row."""

TEXT, KIND, MARK, PHASE = 290, 130, 96, 64
"""The widths of an instruction, its shape, what became of it, and a phase."""

WIDE, PANEL = 1000, 170
"""The least width of bars, and their height in all."""

WORDS = {
    "dropped": ("unrecorded", "dropped", "nothing uses its result"),
    "shared": ("op", "is {}", "an equal instruction has the result"),
    "into": ("parameter", "into {}", "the result takes the memory of an operand"),
    "copied": ("input", "copied", "a gradient gets memory of its own"),
    "peak": ("op", "", "lives at the peak"),
    "kept": ("parameter", "", "kept after the step: a result, or the gradient of a leaf"),
}
"""For each mark, and for bars, the style, the text, and the entry of the legend."""


def program(captured: CapturedStep) -> ProgramDrawing:
    """Draw what the passes did with a captured step, and its arrays over time.

    Args:
        captured: What `minigrad.capture` made, after two calls.

    Returns:
        The drawing. In a notebook it shows itself.

    Raises:
        TypeError: `captured` is not a captured step.
        RuntimeError: It has no program yet.

    Example:
        >>> import minigrad
        >>> from minigrad import viz
        >>> step = minigrad.capture(lambda x: (x * 2 + x * 2).exp())
        >>> for _ in range(2):
        ...     y = step(minigrad.ones(3))
        >>> [row.marks for row in viz.program(step).rows if row.marks][0]
        (('share equal', ('shared', '%1')),)
    """
    if not isinstance(captured, CapturedStep):
        name = type(captured).__name__
        raise TypeError(f"program: what minigrad.capture returns is expected, got {name}")
    if not captured.stages:
        raise RuntimeError("program: the step has no program before its second call")
    return ProgramDrawing(captured.stages)


class ProgramDrawing:
    """A drawing of a captured step; `program` makes it.

    A row for each instruction that was recorded, with what the passes made of it. Below, each array
    that the program makes is a bar, from the instruction that makes it to the last that uses it, as
    high as its bytes.

    Args:
        stages: A program as it was recorded, and after each pass, with the name of the pass.

    Attributes:
        rows: The instructions, and what became of them.

    Example:
        >>> import minigrad
        >>> from minigrad import viz
        >>> step = minigrad.capture(lambda x: x * 2 + 1)
        >>> for _ in range(2):
        ...     y = step(minigrad.ones(3))
        >>> viz.program(step)
        ProgramDrawing(2 instructions, 5 passes)
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = list(stages)
        self.rows = rows(stages)

    def to_svg(self, show: Show = "all", title: str = "") -> str:
        """Draw it as SVG text, readable in light and in dark.

        Args:
            show: Which parts: ``"all"``, ``"instructions"`` or ``"buffers"``.
            title: The title above it.

        Raises:
            ValueError: There is no such part.
        """
        if show not in get_args(Show):
            raise ValueError(f"program: show is one of {get_args(Show)}, got {show!r}")
        counts = [sum(not i.is_read for i in self._stages[at][1].instructions) for at in (0, -1)]
        lines = folded(self.rows, MOST)
        columns = [lines[at : at + TALL] for at in range(0, len(lines), TALL)]
        wide = TEXT + KIND + MARK + PHASE + EDGE
        width, y, parts = max(len(columns) * wide, WIDE) + EDGE, EDGE, list[str]()
        count = f"{counts[0]} instructions, {counts[1]} after the passes"
        said = f"{title or 'Captured step'}: {count}"
        if title:
            parts, y = [f'<text class="title start" x="{EDGE}" y="32">{_safe(title)}</text>'], 56
        if show != "buffers":
            parts.append(f'<text class="start bold" x="{EDGE}" y="{y + 12}">{count}</text>')
            y += HEAD // 2
            for number, column in enumerate(columns):
                parts.append(f'<g transform="translate({EDGE + number * wide} {y})">')
                parts += [*_column(column), "</g>"]
            y += LINE * max(map(len, columns), default=0) + EDGE
            found = {word for row in lines for _, (word, _) in row.marks}
            y += _legend(found, width, y, parts)
        if show != "instructions":
            copied = [p for p, (word, _) in self._stages[-1][1].marks.items() if word == "copied"]
            before, after = (buffers(self._stages[i][1], copied) for i in (0, -1))
            sizes = peak(before)[0], peak(after)[0]
            last = max((i.place for i in self._stages[0][1].instructions), default=0) + 1
            for name, arrays in (("As recorded", before), ("After the passes", after)):
                parts.append(f'<g transform="translate({EDGE} {y})">')
                parts += [*_bars(name, arrays, width - 2 * EDGE, last, max(*sizes, 1)), "</g>"]
                y += HEAD + PANEL + EDGE
            y += _legend({"peak", "kept"}, width, y, parts)
            said += f"; at the peak {readable(sizes[0])} in arrays, {readable(sizes[1])} after"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="minigrad-graph" role="group" '
            f'aria-label="{_safe(said)}" viewBox="0 0 {width} {y}" width="{width}" height="{y}">'
        )
        page = f'<rect class="page" width="{width}" height="{y}"/>'
        return "\n".join([head, f"<style>{STYLE}</style>", page, *parts, "</svg>\n"])

    def save(self, path: str | PathLike[str], *, show: Show = "all", title: str = "") -> Path:
        """Write it to a file.

        Args:
            path: The ending says what to write: ``.svg``, ``.png`` or ``.pdf`` (by cairosvg).
            show: Which parts: see `to_svg`.
            title: The title above it.

        Returns:
            The path.

        Raises:
            ImportError: cairosvg is needed and not installed.
            ValueError: The ending is not one of these, or there is no such part.
        """
        path, svg = Path(path), self.to_svg(show, title)
        if path.suffix not in (".svg", ".png", ".pdf"):
            raise ValueError(f"save: {path.name!r} should end in .svg, .png or .pdf: what to write")
        write(path, convert(svg, path.suffix))
        return path

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"ProgramDrawing({len(self.rows)} instructions, {len(self._stages) - 1} passes)"


def _column(lines: Sequence[Row]) -> Iterator[str]:
    phase, end = "", TEXT + KIND + MARK
    for number, row in enumerate(lines):
        y = number * LINE
        if row.phase and row.phase != phase:
            phase = row.phase
            yield f'<path class="line" d="M0 {y}H{end + PHASE}"/>'
            yield f'<text class="start small" x="{end + 8}" y="{y + 13}">{phase}</text>'
        if row.stands_for:
            yield f'<text class="start small" x="12" y="{y + 13}">{_safe(row.text)}</text>'
            continue
        became = "".join(f"; {name}: {_words(*mark)}" for name, mark in row.marks)
        more = " ".join((row.text, row.kind, row.path)).rstrip()
        text = row.text
        while text_width(text, "name") > TEXT - 8:
            text = shorten(text, len(text) - 2)
        middle = TEXT + KIND + MARK // 2
        pill = "".join(_pill(middle, y, mark[0], _words(*mark)) for _, mark in row.marks[-1:])
        yield (
            f'<g role="img" aria-label="{_safe(row.text + became)}"><title>{_safe(more + became)}'
            f'</title><text class="start" y="{y + 13}">{_safe(text)}</text>'
            f'<text class="start small" x="{TEXT}" y="{y + 13}">{_safe(shorten(row.kind, 22))}'
            f"</text>{pill}</g>"
        )


def _words(word: str, about: str) -> str:
    return WORDS[word][1].format(about)


def _pill(middle: int, top: int, word: str, text: str) -> str:
    width, style = text_width(text, "small") + 14, WORDS[word][0]
    return (
        f'<g class="box {style}"><rect class="shape" x="{middle - width // 2}" y="{top + 2}" '
        f'width="{width}" height="14" rx="7"/>'
        f'<text class="small" x="{middle}" y="{top + 13}">{_safe(text)}</text></g>'
    )


def _legend(found: Collection[str], width: int, top: int, parts: list[str]) -> int:
    """Add what the marks mean, in rows; the height that they need."""
    x, y = EDGE, top
    for word, (_, _, meaning) in WORDS.items():
        if word in found:
            pill, wide = text_width(word, "small") + 14, text_width(meaning, "small")
            if x > EDGE and x + pill + wide + EDGE > width:
                x, y = EDGE, y + LINE
            parts.append(_pill(x + pill // 2, y, word, word))
            label = f'class="start small" x="{x + pill + 6}" y="{y + 13}"'
            parts.append(f"<text {label}>{meaning}</text>")
            x += pill + wide + 6 + EDGE
    return y - top + LINE + EDGE


def _bars(
    name: str, arrays: Sequence[Buffer], width: int, last: int, highest: int
) -> Iterator[str]:
    """A program's arrays as bars that do not touch, over its instructions; and the peak."""
    most, where = peak(arrays)
    makes = next((one.name for one in reversed(arrays) if one.start <= where), "")
    head = f"{name}: {len(arrays)} arrays, {readable(most)} at the peak, at {makes}"
    yield f'<text class="start bold" y="12">{_safe(head)}</text>'
    placed = _placed(arrays)
    top = max([highest, *[low + one.nbytes for one, low in placed]])
    for one, low in placed:
        x, right = (round(place * width / last, 1) for place in (one.start, one.end + 1))
        y, high = HEAD + PANEL * (1 - (low + one.nbytes) / top), one.nbytes * PANEL / top
        alive = one.start <= where <= one.end
        style = "parameter" if one.kept else "op" if alive else "input"
        text = f"{one.name}: {readable(one.nbytes)}, instructions {one.start} to {one.end}"
        text += ", kept" * one.kept + ", lives at the peak" * alive
        label = one.name if text_width(one.name, "small") < right - x else one.name.split()[0]
        if high < 12 or text_width(label, "small") > right - x:
            label = ""
        yield (
            f'<g class="box {style}" role="img" aria-label="{_safe(text)}"><title>{_safe(text)}'
            f'</title><rect class="shape" style="stroke-width:.8" x="{x}" y="{y:.1f}" '
            f'width="{right - x:.1f}" height="{high:.1f}"/><text class="small" '
            f'x="{(x + right) / 2:.1f}" y="{y + high / 2 + 4:.1f}">{_safe(label)}</text></g>'
        )
    x = round((where + 0.5) * width / last, 1)
    yield f'<path class="line" stroke-dasharray="4 3" d="M{x} {HEAD - 10}V{HEAD + PANEL}"/>'
    yield f'<text class="small" x="{x}" y="{HEAD - 13}">peak</text>'
    yield f'<path class="line" d="M0 {HEAD + PANEL}H{width}"/>'


def _placed(arrays: Sequence[Buffer]) -> list[tuple[Buffer, int]]:
    """Each array with a height above which it fits: the large ones first, as low as they can be."""
    placed: list[tuple[Buffer, int]] = []
    for one in sorted(arrays, key=lambda each: (-each.nbytes, each.start)):
        low = 0
        for other, begin in sorted(placed, key=lambda each: each[1]):
            together = other.start <= one.end and one.start <= other.end
            if together and begin < low + one.nbytes and low < begin + other.nbytes:
                low = begin + other.nbytes
        placed.append((one, low))
    return placed


def _safe(text: str) -> str:
    return escape(printable(text))
