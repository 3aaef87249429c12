"""A captured step as SVG text: what passes did with its instructions, and its arrays over time.

Below the drawing, the same as data: a `Row` for each instruction, a `Buffer` for each array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

from minigrad.compiler import CapturedStep, Program
from minigrad.compiler.program import Value
from minigrad.debugging.memory import readable
from minigrad.support.tree import leaves
from minigrad.viz.drawing.elements import escape, legend, picture, text
from minigrad.viz.drawing.pictures import save_picture
from minigrad.viz.drawing.style import STYLE
from minigrad.viz.layout.labels import shorten, text_width

__all__ = ["ProgramDrawing", "program"]

Stages = Sequence[tuple[str, Program]]

MOST, EDGE, HEAD, LINE = 80, 16, 40, 18
"""The most rows; the edge; the height of a heading, and of a row."""

TEXT, KIND, MARK, PHASE = 290, 130, 96, 64
"""The widths of an instruction, its shape, what became of it, and a phase."""

WIDE, PANEL = 1000, 170
"""The width of a picture, and the height of bars in all."""

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

    def to_svg(self, title: str = "") -> str:
        """Draw it as SVG text, readable in light and in dark; with a title above it."""
        first, last = (self._stages[at][1] for at in (0, -1))
        counts = [sum(not i.is_read for i in program.instructions) for program in (first, last)]
        lines = folded(self.rows, MOST)
        count = f"{counts[0]} instructions, {counts[1]} after the passes"
        parts = [text(EDGE, 32, title, "title start")]
        y = 56 if title else EDGE
        parts.append(text(EDGE, y + 12, count, "start bold"))
        y += HEAD // 2
        parts += [f'<g transform="translate({EDGE} {y})">', *_instructions(lines), "</g>"]
        y += LINE * len(lines) + EDGE
        y += _explain({word for row in lines for _, (word, _) in row.marks}, y, parts)

        copied = [place for place, (word, _) in last.marks.items() if word == "copied"]
        before, after = (buffers(program, copied) for program in (first, last))
        sizes = peak(before)[0], peak(after)[0]
        end = max((i.place for i in first.instructions), default=0) + 1
        for name, arrays in (("As recorded", before), ("After the passes", after)):
            parts.append(f'<g transform="translate({EDGE} {y})">')
            parts += [*_bars(name, arrays, WIDE - EDGE, end, max(*sizes, 1)), "</g>"]
            y += HEAD + PANEL + EDGE
        y += _explain({"peak", "kept"}, y, parts)
        said = f"{title or 'Captured step'}: {count}; at the peak {readable(sizes[0])} in arrays"
        label = f"{said}, {readable(sizes[1])} after"
        return picture("minigrad-graph", label, (WIDE + EDGE, y), STYLE, parts, role="group")

    def save(self, path: str | PathLike[str], *, title: str = "") -> Path:
        """Write it to an ``.svg``, ``.png`` or ``.pdf`` file, and return its path.

        For what the last two need see `minigrad.viz.Graph.save`.
        """
        return save_picture(self.to_svg(title), path)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"ProgramDrawing({len(self.rows)} instructions, {len(self._stages) - 1} passes)"


def _instructions(lines: Sequence[Row]) -> Iterator[str]:
    phase, end = "", TEXT + KIND + MARK
    for number, row in enumerate(lines):
        y = number * LINE
        if row.phase and row.phase != phase:
            phase = row.phase
            yield f'<path class="line" d="M0 {y}H{end + PHASE}"/>'
            yield text(end + 8, y + 13, phase, "small start")
        if row.stands_for:
            yield text(12, y + 13, row.text, "small start")
            continue
        became = "".join(f"; {name}: {_words(*mark)}" for name, mark in row.marks)
        more = " ".join((row.text, row.kind, row.path)).rstrip()
        short = row.text
        while text_width(short, "name") > TEXT - 8:
            short = shorten(short, len(short) - 2)
        yield (
            f'<g role="img" aria-label="{escape(row.text + became)}"><title>{escape(more + became)}'
            f"</title>{text(0, y + 13, short, 'start')}"
            f"{text(TEXT, y + 13, shorten(row.kind, 22), 'small start')}"
        )
        for _, mark in row.marks[-1:]:
            words = _words(*mark)
            left = end - (MARK + _width(words)) // 2
            yield f'<g transform="translate({left} {y + 2})">{_pill(mark[0], words)}</g>'
        yield "</g>"


def _words(word: str, about: str) -> str:
    return WORDS[word][1].format(about)


def _width(words: str) -> int:
    return text_width(words, "small") + 14


def _pill(word: str, words: str) -> str:
    width = _width(words)
    return (
        f'<g class="box {WORDS[word][0]}"><rect class="shape" width="{width}" height="14" rx="7"/>'
        f"{text(width / 2, 11, words, 'small')}</g>"
    )


def _explain(found: Collection[str], top: int, parts: list[str]) -> int:
    """Add what the marks mean, in rows; the height that they need."""
    entries = [
        (_pill(word, word), _width(word), meaning)
        for word, (_, _, meaning) in WORDS.items()
        if word in found
    ]
    explained, _, height = legend(entries, WIDE, top)
    parts += explained
    return height + EDGE // 2


def _bars(
    name: str, arrays: Sequence[Buffer], width: int, last: int, highest: int
) -> Iterator[str]:
    """A program's arrays as bars that do not touch, over its instructions; and the peak."""
    most, where = peak(arrays)
    makes = next((one.name for one in reversed(arrays) if one.start <= where), "")
    head = f"{name}: {len(arrays)} arrays, {readable(most)} at the peak, at {makes}"
    yield text(0, 12, head, "start bold")
    placed = _placed(arrays)
    top = max([highest, *[low + one.nbytes for one, low in placed]])
    for one, low in placed:
        x, right = (round(place * width / last, 1) for place in (one.start, one.end + 1))
        y, high = HEAD + PANEL * (1 - (low + one.nbytes) / top), one.nbytes * PANEL / top
        alive = one.start <= where <= one.end
        style = "parameter" if one.kept else "op" if alive else "input"
        said = f"{one.name}: {readable(one.nbytes)}, instructions {one.start} to {one.end}"
        said += ", kept" * one.kept + ", lives at the peak" * alive
        label = one.name if text_width(one.name, "small") < right - x else one.name.split()[0]
        if high < 12 or text_width(label, "small") > right - x:
            label = ""
        yield (
            f'<g class="box {style}" role="img" aria-label="{escape(said)}"><title>{escape(said)}'
            f'</title><rect class="shape" style="stroke-width:.8" x="{x}" y="{y:.1f}" '
            f'width="{right - x:.1f}" height="{high:.1f}"/>'
            f"{text((x + right) / 2, y + high / 2 + 4, label, 'small')}</g>"
        )
    x = round((where + 0.5) * width / last, 1)
    yield f'<path class="line" stroke-dasharray="4 3" d="M{x} {HEAD - 10}V{HEAD + PANEL}"/>'
    yield text(x, HEAD - 13, "peak", "small")
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


# As data ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a drawing: an instruction, or a line about several that are left out.

    Attributes:
        text: What it computes.
        kind: The dtypes and shapes of what it computes.
        path: The module that it belongs to.
        phase: "forward", "backward" or "effect".
        marks: What became of it, by the names of passes: a word, and what the word is about.
        stands_for: How many instructions are left out here; 0 for an instruction.
    """

    text: str
    kind: str = ""
    path: str = ""
    phase: str = ""
    marks: tuple[tuple[str, tuple[str, str]], ...] = ()
    stands_for: int = 0


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array that a program makes."""

    name: str  # the value that first has it, as in the listing, and what makes it
    start: int  # the place of the instruction that makes it
    end: int  # the place of the last one that uses it, or of the last of all if it is kept
    nbytes: int  # its size in bytes
    kept: bool = False  # whether it outlives the program: a result, or the gradient of a leaf


def rows(stages: Sequence[tuple[str, Program]]) -> list[Row]:
    """All instructions that were recorded, or that a pass made, in order, with their marks."""
    found: dict[int, Row] = {}
    marks: dict[int, list[tuple[str, tuple[str, str]]]] = {}
    before: dict[int, tuple[str, str]] = {}
    for name, program in stages:
        names = program.names()
        for each in program.instructions:
            if each.place not in found and not each.is_read:
                kind = "; ".join(
                    f"{v.dtype} {tuple(v.shape)}" for v in each.outputs if v is not None and v.shape
                )
                found[each.place] = Row(each.shown(names), kind, each.path, each.phase)
        for place, mark in program.marks.items():
            if before.get(place) != mark:
                marks.setdefault(place, []).append((name, mark))
        before = program.marks
    return [replace(found[place], marks=tuple(marks.get(place, ()))) for place in sorted(found)]


def folded(lines: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows: if they are more, one row is for those after it with the same marks."""
    if len(lines) <= most:
        return list(lines)
    found: list[Row] = []
    for words, group in groupby(lines, lambda row: [word for _, (word, _) in row.marks]):
        first, *others = group
        found.append(first)
        if others:
            text = f"… {len(others)} more, {' and '.join(words) or 'unchanged'}"
            found.append(Row(text, phase=first.phase, stands_for=len(others)))
    if len(found) > most:
        count = sum(row.stands_for or 1 for row in found[most - 1 :])
        found[most - 1 :] = [Row(f"… {count} more instructions", stands_for=count)]
    return found


def buffers(program: Program, copied: Collection[int] = ()) -> list[Buffer]:
    """The arrays that a program makes, in order; not its arguments, and not weights.

    `copied` are the places where a gradient is copied for a leaf: then the copy is kept.
    """
    outside = {value.memory for value in program.arguments}
    last = max((each.place for each in program.instructions), default=0)
    found: dict[object, Buffer] = {}
    written: dict[object, object] = {}  # the memory that a result was written into
    names = program.names()

    def used(value: Value, end: int, kept: bool = False) -> None:
        memory = written.get(value.memory, value.memory)
        if memory in found:
            before = found[memory]
            found[memory] = replace(before, end=max(end, before.end), kept=kept or before.kept)

    for each in program.instructions:
        to_leaf = each.to_leaf
        moved = to_leaf and each.place not in copied
        for value in each.reads:
            used(value, last if moved else each.place, moved)
            if to_leaf and not moved:
                shown = each.shown(names)
                found[shown] = Buffer(shown, each.place, last, value.bytes, True)
        for out in each.outputs:
            if out is None or out.memory is None or out.memory in outside:
                continue
            if each.is_read:
                outside.add(out.memory)
            elif each.into is not None:
                written[out.memory] = written.get(each.into.memory, each.into.memory)
            elif out.memory not in found:
                size = out.held or out.bytes
                found[out.memory] = Buffer(f"{out} = {each.name}", each.place, each.place, size)
    for value in leaves(program.result, Value):
        used(value, last, kept=True)
    return sorted(found.values(), key=lambda buffer: buffer.start)


def peak(arrays: Sequence[Buffer]) -> tuple[int, int]:
    """The largest sum of the sizes of arrays that live at once, in bytes, and its first place."""
    changes: Counter[int] = Counter()
    for one in arrays:
        changes[one.start] += one.nbytes
        changes[one.end + 1] -= one.nbytes
    most, where, now = 0, 0, 0
    for place in sorted(changes):
        now += changes[place]
        if now > most:
            most, where = now, place
    return most, where
