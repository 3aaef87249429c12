"""Grading: the files that the playground saves, checked again by running the code in them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from minigrad.learn import running
from minigrad.learn.statement import exercises
from minigrad.support.files import write
from minigrad.viz.record.writing import printable

__all__ = ["Grade", "grades", "report"]

KIND = "minigrad exercises"
LARGEST = 10**7
"""The number of bytes that a file may have."""


class Grade(NamedTuple):
    """The result of one exercise.

    Attributes:
        number: The number of the exercise.
        right: Whether the answer is right, by running it now.
        claimed: Whether the file says so.
        time: When the answer was first right, or last checked; as the file says.
        checks: How many checks there were.
        hints: How many hints were read.
        diagnosis: The name of the mistake; empty if the answer is right.
    """

    number: int
    right: bool
    claimed: bool
    time: str
    checks: int
    hints: int
    diagnosis: str


def grades(path: Path) -> Iterator[Grade]:
    """Check every answer in a file again, each in a process of its own.

    Raises:
        OSError: It cannot be read.
        ValueError: The playground has not saved it.
    """
    for number, known in sorted(_read(path).items()):
        checks = known["checks"]
        rights = [check for check in checks if check["right"]]
        chosen = rights[0] if rights else checks[-1]
        this = exercises()[number]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, this.file)
            write(file, chosen["code"].encode(errors="backslashreplace"))
            result = running.check_file(this, file, running.SECONDS)
        yield Grade(
            number, result.right, bool(rights), chosen["time"], len(checks), known["hints"],
            result.diagnosis,
        )  # fmt: skip


def report(paths: list[Path]) -> Iterator[str]:
    """The output of the command: a table for each file."""
    for path in paths:
        lines, right = [str(path)], 0
        for grade in grades(path):
            right += grade.right
            state = "right" if grade.right else f"not yet: {grade.diagnosis}"
            if grade.right != grade.claimed:
                state += " (the file says otherwise)"
            lines.append(
                f"{grade.number:4}  {exercises()[grade.number].title:36}  "
                f"{printable(grade.time)[:16]:16}  checks {grade.checks:3}  hints {grade.hints}  "
                f"{state}"
            )
        answers = len(lines) - 1
        lines.append(f"{right} of {answers} answers are right, of {len(exercises())} exercises")
        yield "\n".join(lines)


def _read(path: Path) -> dict[int, dict[str, Any]]:
    """The record in a file of each exercise that was checked."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        read = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(read, dict) or read.get("kind") != KIND:
            raise ValueError(f"it is not of the kind {KIND!r}")
        found = {}
        for number, known in read["exercises"].items():
            if int(number) not in exercises():
                raise ValueError(f"there is no exercise {number}")
            if not isinstance(known["hints"], int) or not 0 <= known["hints"] <= 3:
                raise ValueError(f"exercise {number}: hints {known['hints']!r}")
            for check in known["checks"]:
                kinds = {"time": str, "code": str, "right": bool}
                if not all(isinstance(check[key], kind) for key, kind in kinds.items()):
                    raise ValueError(f"exercise {number}: a check cannot be read")
            if known["checks"]:
                found[int(number)] = known
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"grade: {path} was not saved by the playground ({type(error).__name__}: {error})"
        ) from None
    return found
