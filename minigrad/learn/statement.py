"""One exercise: what it asks, how an answer is checked, and what a learner is told."""

from __future__ import annotations

import importlib
import importlib.resources
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from minigrad.learn.answer import GENERAL, Answer

__all__ = ["Exercise", "Wrong", "exercise", "exercises", "paragraphs"]

GAP = re.compile(r"^( *)# gap(?:: ([^\n]*))?\n(.*?)^ *# end of gap\n", re.MULTILINE | re.DOTALL)


class Wrong:
    """A wrong answer that learners give: the solution with some of its text replaced.

    Args:
        diagnosis: What its author must be told: a name from the diagnoses of the exercise, or from
            `minigrad.learn.answer.GENERAL`.
        edits: Pairs of a text that occurs in the solution exactly once, and its replacement.
        code: The replacement of a whole gap.
        gap: Which gap, from 1.
    """

    def __init__(
        self, diagnosis: str, *edits: tuple[str, str], code: str = "", gap: int = 1
    ) -> None:
        self.diagnosis = diagnosis
        self.edits = edits
        self.code = code
        self.gap = gap

    def apply(self, marked: str) -> str:
        """Write the wrong answer; `marked` is the solution with its gaps marked.

        Raises:
            ValueError: A text to replace is not there, or is there more than once.
        """
        for old, new in self.edits:
            if marked.count(old) != 1:
                raise ValueError(f"{old!r} occurs {marked.count(old)} times in the solution")
            marked = marked.replace(old, new)
        if self.code:
            gap = [*GAP.finditer(marked)][self.gap - 1]
            code = textwrap.indent(textwrap.dedent(self.code).strip("\n"), gap[1])
            marked = f"{marked[: gap.start()]}{code}\n{marked[gap.end() :]}"
        return GAP.sub(lambda gap: gap[3], marked)


@dataclass(frozen=True)
class Exercise:
    """One exercise. Its task is the docstring of its solution, whose gaps the learner fills.

    Attributes:
        title: Its subject, as it is listed.
        chapter: The page of docs/guide that it belongs to.
        hints: Three: where to look; what to do; nearly the code.
        why: Why the solution is right, told after it.
        diagnoses: By name, the texts about misconceptions.
        wrong: Wrong answers, at least three, and the diagnosis of each.
        check: Fails with `Failure` if the answer is not right.
        draw: A graph of the learner's own answer, as an object with ``to_svg()``.
        after: After which exercise it comes on the path, if not after the number before its own:
            a number stays what it is, since learners' files and progress have it.
        staged: Whether each case of the check presumes that the cases before it were right. Then a
            misconception is judged by the first case that fails, and not by all of them.
    """

    title: str
    chapter: str
    hints: tuple[str, str, str]
    why: str
    diagnoses: Mapping[str, str]
    wrong: tuple[Wrong, ...]
    check: Callable[[Answer], None]
    draw: Callable[[Answer], Any]
    after: int = 0
    staged: bool = False
    name: str = ""

    @property
    def number(self) -> int:
        """The number by which it is called, from 1."""
        return int(self.name[1:3])

    @property
    def file(self) -> str:
        """The name of a learner's file."""
        return f"{self.name[1:]}.py"

    @property
    def marked(self) -> str:
        """The solution with its gaps marked."""
        folder = importlib.resources.files("minigrad.learn.solutions")
        return (folder / f"{self.name}.py").read_text(encoding="utf-8")

    @property
    def solution(self) -> str:
        """The text of the solution."""
        return GAP.sub(lambda gap: gap[3], self.marked)

    @property
    def skeleton(self) -> str:
        """The text that a learner starts from: it runs, but for what the gaps should compute."""
        return GAP.sub(_open, self.marked)

    @property
    def task(self) -> str:
        """The task, without code."""
        return self.marked.split('"""')[1].strip()

    def advice(self, diagnosis: str) -> str:
        """The text that a learner reads about a mistake."""
        return self.diagnoses.get(diagnosis) or GENERAL[diagnosis]


def _open(gap: re.Match[str]) -> str:
    indent, note = gap[1], gap[2]
    lines = [f"# To do: {note}"] if note else []
    lines.append('raise NotImplementedError("replace this line by your code")')
    return "".join(f"{indent}{line}\n" for line in lines)


@cache
def exercises() -> dict[int, Exercise]:
    """Every exercise by its number, in the order of the path."""
    folder = importlib.resources.files("minigrad.learn.exercises")
    names = sorted(entry.name[:-3] for entry in folder.iterdir() if entry.name.startswith("e"))
    found = sorted(map(_load, names), key=lambda one: (one.after or one.number, one.number))
    return {one.number: one for one in found}


def _load(name: str) -> Exercise:
    module = importlib.import_module(f"minigrad.learn.exercises.{name}")
    found: Exercise = module.EXERCISE
    object.__setattr__(found, "name", name)
    return found


def exercise(number: int | str) -> Exercise:
    """The exercise of a number, such as 7 or ``"07"``.

    Raises:
        ValueError: There is no exercise of this number.
    """
    known = exercises()
    try:
        return known[int(number)]
    except (KeyError, ValueError):
        last = max(known)
        raise ValueError(f"there is no exercise {number!r}: they are 1 to {last}") from None


def paragraphs(text: str, width: int = 79) -> str:
    """Break lines at 79 characters, for a terminal; an indented line stays as it is."""
    lines = [
        line if line.startswith(" ") else textwrap.fill(line, width, break_on_hyphens=False)
        for line in text.split("\n")
    ]
    return "\n".join(lines)
