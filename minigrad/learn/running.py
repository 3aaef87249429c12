"""Checking an answer: in this process, or a file in a process of its own with a time limit."""

from __future__ import annotations

import contextlib
import faulthandler
import inspect
import io
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from minigrad.learn.answer import GENERAL, Answer, Failure
from minigrad.learn.exercise import Exercise, exercise, paragraphs

__all__ = ["SECONDS", "Result", "check_file", "check_names", "run_text"]

SECONDS = 20.0
"""How long a learner's file may run."""

PRINTED = 20
"""How many of the lines that a learner's file prints are shown."""


@dataclass
class Result:
    """What came of a check.

    Attributes:
        number: The number of the exercise.
        diagnosis: The name of what is wrong; empty if the answer is right.
        facts: What was seen.
        passed: The functions that were found right before.
        printed: What the learner's code printed.
        drawing: The learner's graph as SVG, once the answer is right; empty otherwise.

    Example:
        >>> from minigrad import learn
        >>> def numerical_slope(f, x, h):
        ...     return (f(x + h) - f(x)) / h
        >>> learn.check(1, numerical_slope).facts.partition(";")[0].splitlines()
        ['numerical_slope(f=x³ - 2x, x=1.5, h=0.1):', 'the slope is 5.21']
    """

    number: int
    diagnosis: str = ""
    facts: str = ""
    passed: tuple[str, ...] = ()
    printed: str = ""
    drawing: str = ""

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return not self.diagnosis

    def __repr__(self) -> str:
        this = exercise(self.number)
        parts = [f"{self.number} {this.title}: {'right.' if self.right else 'not yet.'}"]
        if self.printed:
            parts.append("Your code printed\n" + _indented(self.printed))
        if self.right:
            parts.append(paragraphs(f"Why: {this.why}"))
        else:
            if self.passed:
                parts.append(f"Right so far: {', '.join(self.passed)}.")
            parts += [self.facts, paragraphs(this.advice(self.diagnosis))]
        return "\n\n".join(part for part in parts if part)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        import html

        page = f"<pre style='white-space: pre-wrap'>{html.escape(str(self))}</pre>{self.drawing}"
        return {"text/plain": str(self), "text/html": page}


def check_names(this: Exercise, names: Mapping[str, Any], drawn: bool = True) -> Result:
    """Check an answer in this process.

    Args:
        this: The exercise.
        names: What the answer defines, by name.
        drawn: Whether to draw a right answer.

    Returns:
        The result.
    """
    answer, result = Answer(names), Result(this.number)
    codes = [value.__code__ for value in _functions(names)]
    with _quiet() as printed:
        try:
            this.check(answer)
        except Exception as error:
            result = _result(this, error, {code.co_filename for code in codes})
            result.passed = answer.passed
        if result.right and drawn:
            with contextlib.suppress(Exception):  # what NumPy can and tensors cannot
                result.drawing = this.draw(answer).to_svg()
    result.printed = _first_lines(printed.getvalue())
    return result


def run_text(this: Exercise, text: str, file: str) -> Result:
    """Run the text of an answer in this process, and check it.

    Args:
        this: The exercise.
        text: The text of the learner's file.
        file: Where it stands.

    Returns:
        The result.
    """
    names: dict[str, Any] = {"__name__": "answer", "__file__": file}
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    with _quiet() as printed:
        try:
            exec(compile(text, file, "exec"), names)
        except (Exception, SystemExit) as error:
            result = _result(this, error, {file})
            result.printed = _first_lines(printed.getvalue())
            return result
    result = check_names(this, names)
    result.printed = _first_lines(printed.getvalue() + result.printed)
    return result


def check_file(this: Exercise, path: Path, seconds: float = SECONDS) -> Result:
    """Check a learner's file in a process of its own.

    Args:
        this: The exercise.
        path: The file.
        seconds: How long it may run.

    Returns:
        The result.
    """
    package = str(Path(minigrad.__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        arguments = [str(this.number), str(path.resolve()), str(report), str(seconds)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(
            [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        ), "PYTHONIOENCODING": "utf-8"}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-P", "-m", "minigrad.learn.running", *arguments],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        text = report.read_text(encoding="utf-8") if report.exists() else ""
    if text.startswith("{"):
        return Result(**json.loads(text))
    if text:  # the stack, where the time ran out
        inside = re.search(rf'File "{re.escape(str(path.resolve()))}", line (\d+)', text)
        where = _line(str(path.resolve()), int(inside[1])) if inside else path.name
        return Result(this.number, "time", f"After {seconds:g} seconds it was still at\n{where}")
    return Result(this.number, "error", f"Python ended without a result:\n{done.stderr[-2000:]}")


def _work(number: str, file: str, report: str, seconds: str) -> None:
    """Check one file and write the result: what `check_file` starts."""
    this = exercise(number)
    with open(report, "w", encoding="utf-8") as out:
        faulthandler.dump_traceback_later(float(seconds), exit=True, file=out)
        try:
            text = Path(file).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            result = Result(this.number, "error", f"{file} is not saved as UTF-8: {error}.")
        else:
            result = run_text(this, text, file)
        faulthandler.cancel_dump_traceback_later()
        json.dump(asdict(result), out)


@contextlib.contextmanager
def _quiet() -> Any:
    """Keep what is printed, and let NaN and infinities arise without warnings."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
        yield printed


def _functions(names: Mapping[str, Any]) -> list[Any]:
    """The functions of an answer, and those of its classes; not what it imports."""
    inside = [
        function
        for value in names.values()
        if inspect.isclass(value)
        for function in vars(value).values()
    ]
    functions = filter(inspect.isfunction, [*names.values(), *inside])
    return [
        one for one in functions if not f"{one.__module__}.".startswith(("minigrad.", "numpy."))
    ]


def _result(this: Exercise, error: BaseException, files: Collection[str]) -> Result:
    """Turn what stopped a check into what a learner is told."""
    if isinstance(error, Failure):
        return Result(this.number, error.diagnosis, error.facts)
    if isinstance(error, SyntaxError) and error.filename and error.filename in files:
        text = (error.text or "").rstrip()
        where = f"{Path(error.filename).name}, line {error.lineno}:\n    {text.strip()}"
        return Result(this.number, "syntax", f"{where}\n{type(error).__name__}: {error.msg}.")
    mine = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    what = f"{type(error).__name__}: {error}"
    if not mine:
        return Result(this.number, "form", f"The check cannot use what was returned.\n{what}")
    place = _line(mine[-1].filename, mine[-1].lineno or 0, mine[-1].name)
    if isinstance(error, NotImplementedError):
        return Result(this.number, "gap", f"A gap is still open.\n{place}")
    if isinstance(error, TypeError) and "for ^" in str(error):
        return Result(this.number, "caret", f"{place}\n{what}")
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ in GENERAL]
    return Result(this.number, [*kinds, "error"][0], f"{place}\n{what}")


def _line(file: str, line: int, function: str = "") -> str:
    """A place in the learner's file, with its text."""
    inside = f", in {function}" if function.isidentifier() else ""
    text = linecache.getline(file, line).strip()
    name = "your cell" if "ipykernel" in file or "<ipython" in file else Path(file).name
    return f"{name}, line {line}{inside}:\n    {text}"


def _first_lines(text: str) -> str:
    lines = text.splitlines()
    more = [f"... and {len(lines) - PRINTED} lines more"] if len(lines) > PRINTED else []
    return "\n".join([*lines[:PRINTED], *more])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


if __name__ == "__main__":
    _work(*sys.argv[1:])
