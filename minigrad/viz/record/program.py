"""A captured step as data to draw: what became of each instruction, and how long arrays live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from minigrad.compiler.program import Program, Value
from minigrad.support.tree import leaves

__all__ = ["Buffer", "Row", "buffers", "folded", "peak", "rows"]


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
