"""``python -m minigrad learn``: lists the exercises, opens one, checks it, helps."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from minigrad.learn import running
from minigrad.learn.grading import report
from minigrad.learn.running import Result, check_file
from minigrad.learn.statement import Exercise, exercise, exercises, paragraphs
from minigrad.support.files import check_place, folder_for, write

__all__ = ["Folder", "add_arguments", "run"]

FOLDER = "minigrad_exercises"
ACTIONS = ("check", "watch", "hint", "solution", "grade")
PROGRESS = "progress.json"


class Folder:
    """A learner's folder: the files, and which are done.

    Args:
        path: The folder, which need not exist.

    Raises:
        OSError: Its progress is not a regular file.
        ValueError: Its progress cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.progress: dict[str, Any] = {}
        file = path / PROGRESS
        if check_place(file) is not None:
            try:
                self.progress = _progress(json.loads(file.read_text(encoding="utf-8")))
            except (ValueError, TypeError, RecursionError) as error:
                raise ValueError(
                    f"{file} cannot be read ({error}). Delete it: your answers stay, and a check "
                    "marks them as done again."
                ) from None

    def of(self, number: int) -> dict[str, Any]:
        """The record of an exercise: ``checks``, ``hints``, ``done``; to be changed."""
        known: dict[str, dict[str, Any]] = self.progress.setdefault("exercises", {})
        return known.setdefault(str(number), {"checks": 0, "hints": 0, "done": False})

    def save(self, current: int) -> None:
        """Write which exercises are done, and at which the learner is."""
        self.progress["current"] = current
        known = self.progress["exercises"]
        self.progress["exercises"] = {key: known[key] for key in sorted(known, key=int)}
        folder_for(self.path, [PROGRESS])
        write(self.path / PROGRESS, json.dumps(self.progress, indent=1) + "\n")


def _progress(read: Any) -> dict[str, Any]:
    """The content of a file of progress, checked."""
    if not isinstance(read, dict) or not isinstance(read.get("exercises", {}), dict):
        raise TypeError("a dict with the key 'exercises' expected")
    if not isinstance(read.get("current", 1), int) or read.get("current", 1) not in exercises():
        raise ValueError(f"there is no exercise {read['current']!r}")
    for number, known in read.get("exercises", {}).items():
        if not isinstance(known, dict) or not number.isascii() or not number.isdecimal():
            raise TypeError(f"what is known of exercise {number!r}")
        for key, kind in (("checks", int), ("hints", int), ("done", bool)):
            if type(known.setdefault(key, kind())) is not kind or known[key] < 0:
                raise TypeError(f"{key!r} of exercise {number} is {known[key]!r}")
    return read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "action", nargs="?", default="", metavar="NUMBER | check | watch | hint | solution | grade",
        help="a number opens that exercise; without it, all are listed",
    )  # fmt: skip
    help_number = (
        "which exercise; by default the one that was opened last; after grade: files that the "
        "playground has saved, whose answers are run and checked again"
    )
    parser.add_argument("number", nargs="*", metavar="number | file", help=help_number)
    parser.add_argument(
        "--folder", type=Path, default=None,
        help=f"where your files are (default: this folder if it has them, or {FOLDER})",
    )  # fmt: skip


def run(options: argparse.Namespace) -> Iterator[str]:
    """Run the command, and yield texts to print.

    Raises:
        ValueError: There is no such exercise, action or file.
    """
    action, given = options.action, options.number
    if action == "grade":
        if not given:
            raise ValueError("grade: name the files that the playground has saved")
        yield from report([Path(file) for file in given])
        return
    if action not in ("", *ACTIONS):
        meant = difflib.get_close_matches(action, ACTIONS, 1)
        if meant and not action[0].isdecimal():
            raise ValueError(f"there is no command {action!r}; {meant[0]!r} is one")
        action, given = "open", [action, *given]
    if len(given) > 1:
        raise ValueError(f"one exercise expected, got {', '.join(given)}")
    which = given[0] if given else ""
    path = options.folder
    if path is None:
        path = Path() if Path(PROGRESS).exists() else Path(FOLDER)
    folder = Folder(path)
    command = f"{_python()} -m minigrad learn"
    suffix = "" if options.folder is None else f" --folder {_quoted(options.folder)}"

    def say(words: str) -> str:
        return f"{command} {words}{suffix}"

    if not action:
        yield _listed(folder, say)
        return
    this = exercise(_number(which, folder))
    number, file = this.number, folder.path / this.file
    if action == "open":
        yield from _opened(this, folder, file)
        yield f"Check it:  {say(f'check {number}')}\nA hint:    {say(f'hint {number}')}"
    elif action == "hint":
        known = folder.of(number)
        known["hints"] = min(known["hints"] + 1, 3)
        folder.save(number)
        for step in range(known["hints"]):
            yield paragraphs(f"Hint {step + 1} of 3: {this.hints[step]}")
        if known["hints"] == 3:
            yield f"The solution:  {say(f'solution {number}')}"
    elif action == "solution":
        yield this.solution
        yield paragraphs(f"Why: {this.why}")
        yield f"Chapter of the guide: docs/guide/{this.chapter}.md"
    else:
        if not file.exists():
            raise ValueError(
                f"there is no file {file}. `{say(str(number))}` writes it; if it is elsewhere, add "
                "--folder and where"
            )
        while True:
            saved = _saved(file)
            result = check_file(this, file, running.SECONDS)
            yield from _told(this, folder, file, result)
            if action == "check" or result.right:
                break
            yield f"Save {file} to have it checked again. Ctrl+C ends this."
            while _saved(file) in (saved, 0):
                time.sleep(0.2)
        if not result.right:
            yield f"A hint:  {say(f'hint {number}')}"
        elif following := [*exercises()][[*exercises()].index(number) + 1 :]:
            yield f"Compare:  {say(f'solution {number}')}\nNext:     {say(str(following[0]))}"
        else:
            yield f"Compare:  {say(f'solution {number}')}\nThat was the last one."


def _quoted(path: Path | str) -> str:
    """A path as a shell takes it."""
    return subprocess.list2cmdline([str(path)]) if os.name == "nt" else shlex.quote(str(path))


def _python() -> str:
    """How to start this Python again: `python`, unless that would start another one."""
    found = shutil.which("python")
    if found is not None and os.path.abspath(found) == sys.executable:
        return "python"
    here = Path(sys.executable)
    return _quoted(here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here)


def _number(which: str, folder: Folder) -> str | int:
    """The number in an argument: 7, 07, 07_matmul.py or a path."""
    if not which:
        return int(folder.progress.get("current", 1))
    found = re.match(r"\d+", os.path.basename(which))
    return found[0] if found else which


def _listed(folder: Folder, say: Callable[[str], str]) -> str:
    """The exercises, and which are done."""
    lines, done = [], 0
    for number, this in exercises().items():
        known = folder.of(number)
        state = "done" if known["done"] else "begun" if (folder.path / this.file).exists() else ""
        done += known["done"]
        lines.append(f"{number:4}  {state:5}  {this.title}")
    lines.append(f"\n{done} of {len(lines)} done. Your files: {folder.path.resolve()}")
    todo = [number for number in exercises() if not folder.of(number)["done"]]
    if todo:
        lines.append(f"Next:  {say(str(todo[0]))}")
    return "\n".join(lines)


def _opened(this: Exercise, folder: Folder, file: Path) -> Iterator[str]:
    """Write the file, unless it is there."""
    folder.of(this.number)
    folder.save(this.number)
    if file.exists():
        yield f"{file} is there already: yours. To begin again, rename it first."
    else:
        write(file, this.skeleton)
        yield f"{file} is written: the task, and a gap for your code. Open it in your editor."


def _told(this: Exercise, folder: Folder, file: Path, result: Result) -> Iterator[str]:
    """Keep the result of a check, and write the drawing; an exercise that is done stays done."""
    known = folder.of(this.number)
    known["checks"] += 1
    known["done"] = known["done"] or result.right
    folder.save(this.number)
    yield str(result)
    if result.right:
        yield f"Chapter of the guide: docs/guide/{this.chapter}.md"
    if result.drawing:
        picture = file.with_suffix(".svg")
        write(picture, result.drawing)
        yield f"The graph of your code, for a browser: {picture}"


def _saved(file: Path) -> int:
    """When a file was saved; 0 while it is not there, as some editors have it for a moment."""
    return file.stat().st_mtime_ns if file.exists() else 0
