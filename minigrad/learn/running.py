"""Checking an answer: in this process, or a file in a process of its own with a time limit."""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import inspect
import io
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from minigrad.learn.answer import GENERAL, Answer, Failure, confirmed
from minigrad.learn.statement import Exercise, exercise, paragraphs
from minigrad.tracing.lines import remember_source
from minigrad.viz.record.writing import printable

__all__ = ["SECONDS", "Result", "check_file", "check_names", "run_text"]

SECONDS = 20.0
"""How long a learner's file may run."""

STARTING = 20.0
"""How long Python may take beside, to start and to end."""

MEMORY = 8 * 2**30
"""How much memory it may take, in bytes."""

PRINTED = 20
"""The number of printed lines of a learner's file that are shown."""

LONGEST = 4000
"""The number of characters of a text that are shown."""


@dataclass
class Result:
    """The result of a check.

    Attributes:
        number: The number of the exercise.
        diagnosis: The name of the mistake; empty if the answer is right.
        facts: The observation.
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
        return self.text()

    def text(self, width: int = 79) -> str:
        """Return the result in words.

        Args:
            width: After how many characters a line is broken, unless it is indented.

        Returns:
            The text.
        """
        this = exercise(self.number)
        parts = [f"{self.number} {this.title}: {'right.' if self.right else 'not yet.'}"]
        if self.printed:
            parts.append("Your code printed\n" + _indented(self.printed))
        if self.right:
            parts.append(paragraphs(f"Why: {this.why}", width))
            if not self.drawing:
                parts.append("There is no drawing: the code works on arrays, but not on tensors.")
        else:
            if self.passed:
                parts.append(f"Right so far: {', '.join(self.passed)}.")
            parts += [self.facts, paragraphs(this.advice(self.diagnosis), width)]
        return "\n\n".join(part for part in parts if part)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        import html

        page = f"<pre style='white-space: pre-wrap'>{html.escape(str(self))}</pre>{self.drawing}"
        return {"text/plain": str(self), "text/html": page}


def check_names(this: Exercise, names: Mapping[str, Any]) -> Result:
    """Check an answer in this process: `names` is what it defines."""
    return _check(this, names, lambda: None, frozenset())


def run_text(this: Exercise, text: str, file: str, names: dict[str, Any] | None = None) -> Result:
    """Run the text of a learner's file in this process, and check what it puts into `names`."""
    names = {} if names is None else names
    names |= {"__name__": "answer", "__file__": file}
    remember_source(file, text)
    return _check(this, names, lambda: exec(compile(text, file, "exec"), names), {file})


def _check(
    this: Exercise, names: Mapping[str, Any], prepare: Callable[[], None], files: Collection[str]
) -> Result:
    answer, result, printed = Answer(names), Result(this.number), _Printed()
    ours = dict(vars(builtins))
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
        try:
            try:
                prepare()
            finally:
                vars(builtins).update(ours)  # which a file may have overwritten
            this.check(answer)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and not files:
                raise  # in a notebook
            codes = {function.__code__.co_filename for function in _functions(names)}
            result = _result(this, error, {*files, *codes})
            result.passed = answer.passed
            if isinstance(error, Failure) and error.suspected:
                result.diagnosis = error.suspected[0]
                if not this.staged:
                    with contextlib.redirect_stdout(_Printed()):
                        result.diagnosis = confirmed(this.check, names, error)
        else:
            with contextlib.suppress(Exception):  # what arrays can and tensors cannot
                result.drawing = this.draw(answer).to_svg()
    result.facts, result.printed = _shown(result.facts), _shown(str(printed))
    return result


def _shown(text: str) -> str:
    """A text that every terminal takes and that is not too long."""
    text = "\n".join(map(printable, text.expandtabs().split("\n")))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ... ({len(text):,} characters)"


def check_file(this: Exercise, path: Path, seconds: float = SECONDS) -> Result:
    """Check a learner's file in a process of its own, which may run for so long.

    Whatever the file does, this ends: the process and all that it started are killed then.
    """
    if sys.platform == "emscripten":
        raise OSError("check: Python in a browser starts no processes; the playground checks there")
    file = str(path.resolve())
    package = str(Path(minigrad.__file__).resolve().parent.parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(
        [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    ), "PYTHONIOENCODING": "utf-8"}  # fmt: skip
    environment.pop("PYTHONWARNINGS", None)  # may make errors of them
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        report, stack, said = (Path(folder) / name for name in ("report", "stack", "said"))
        command = [sys.executable, "-P", "-m", "minigrad.learn.running",
                   str(this.number), file, folder, str(seconds)]  # fmt: skip
        # Files, not pipes: what the learner's code has started may keep a pipe open for ever.
        with open(said, "wb") as out:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip
            try:
                process.wait(seconds + STARTING)
            except subprocess.TimeoutExpired:
                pass
            finally:
                _kill(process)
        if report.exists():
            return Result(**json.loads(report.read_text(encoding="utf-8")))
        traced, told = (
            _shown(one.read_text(encoding="utf-8", errors="replace")) if one.exists() else ""
            for one in (stack, said)
        )
    inside = re.search(rf'File "{re.escape(file)}", line (\d+)', traced)
    where = _line(file, int(inside[1])) if inside else path.name
    if traced.startswith("Timeout") or process.returncode is None:
        return Result(this.number, "time", f"After {seconds:g} seconds it was still at\n{where}")
    how = f"Python {_status(process.returncode)}, without a result."
    last = f"What it said last:\n{_indented(told)}" if told else ""
    last = f"It was at\n{where}" if inside else last
    return Result(this.number, "ended", f"{how} {last}".strip())


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process, and those that it has started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STARTING)


def _status(code: int) -> str:
    if code >= 0:
        return f"ended with the exit status {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _work(number: str, file: str, folder: str, seconds: str) -> None:
    """Check one file and write the result: what `check_file` starts."""
    this, report, process = exercise(number), Path(folder) / "report", os.getpid()
    with contextlib.suppress(ImportError, OSError, ValueError):  # where there are such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    names: dict[str, Any] = {}  # kept until the end: what is deleted may run code
    with open(Path(folder) / "stack", "w", encoding="utf-8") as stack:
        faulthandler.enable(stack)
        faulthandler.dump_traceback_later(float(seconds), exit=True, file=stack)
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            result = Result(this.number, "error", f"{file} is not saved as UTF-8: {error}.")
        else:
            result = run_text(this, text, file, names)
        faulthandler.cancel_dump_traceback_later()
        if os.getpid() == process:  # and not a fork of the learner's
            part = report.with_suffix(".part")
            part.write_text(json.dumps(asdict(result)), encoding="utf-8")
            part.replace(report)
        os._exit(0)  # no other thread, no `atexit` and no `__del__` can hold this up


class _Printed(io.TextIOBase):
    """Keeps the first printed lines: an endless loop may print, too."""

    def __init__(self) -> None:
        self.text, self.lines = "", 0

    def write(self, text: str) -> int:
        if self.lines < PRINTED:
            self.text += text[:2000]
        self.lines += text.count("\n")
        return len(text)

    def __str__(self) -> str:
        more = self.lines - PRINTED
        lines = self.text.splitlines()[:PRINTED]
        return "\n".join([*lines, f"... and {more} lines more"] if more > 0 else lines)


def _functions(names: Mapping[str, Any]) -> list[Any]:
    """The functions of an answer, and those of its classes; not what it imports."""
    classes = filter(inspect.isclass, names.values())
    inside = [function for kind in classes for function in vars(kind).values()]
    functions = filter(inspect.isfunction, [*names.values(), *inside])
    imported = ("minigrad.", "numpy.")
    return [one for one in functions if not f"{one.__module__}.".startswith(imported)]


def _result(this: Exercise, error: BaseException, files: Collection[str]) -> Result:
    """Turn what stopped a check into what a learner is told."""
    if isinstance(error, Failure):
        return Result(this.number, error.diagnosis, error.facts)
    if isinstance(error, SyntaxError) and error.filename and error.filename in files:
        text = (error.text or "").rstrip()
        where = f"{Path(error.filename).name}, line {error.lineno}:\n    {text.strip()}"
        return Result(this.number, "syntax", f"{where}\n{type(error).__name__}: {error.msg}.")
    mine = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    try:
        what = f"{type(error).__name__}: {error}"
    except BaseException as another:  # noqa: BLE001  # a learner wrote it
        what = f"{type(error).__name__}, whose text raises {type(another).__name__}"
    if not mine:
        return Result(this.number, "form", f"The check cannot use what was returned.\n{what}")
    place = _line(mine[-1].filename, mine[-1].lineno or 0, mine[-1].name)
    if isinstance(error, NotImplementedError):
        return Result(this.number, "gap", f"A gap is still open.\n{place}")
    if isinstance(error, TypeError) and "for ^" in what:
        return Result(this.number, "caret", f"{place}\n{what}")
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ in GENERAL]
    return Result(this.number, [*kinds, "error"][0], f"{place}\n{what}")


def _line(file: str, line: int, function: str = "") -> str:
    """A place in the learner's file, with its text."""
    inside = f", in {function}" if function.isidentifier() else ""
    text = linecache.getline(file, line).strip()
    name = "your cell" if "ipykernel" in file or "<ipython" in file else Path(file).name
    return f"{name}, line {line}{inside}:\n    {text}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


if __name__ == "__main__":
    _work(*sys.argv[1:])
