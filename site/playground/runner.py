"""Runs programs and checks answers in the playground's worker, and tells the page what came of it.

It is loaded into Pyodide beside the wheel, and runs in any Python: the tests call it too.
"""

from __future__ import annotations

import ast
import builtins
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import minigrad
from minigrad import viz
from minigrad.learn.running import run_text
from minigrad.learn.statement import exercise, exercises
from minigrad.tracing.lines import remember_source

FILE = "program.py"
LARGEST_GRAPH = 300
"""A tensor whose graph has more nodes is not drawn unless the program asks for it."""

Tell = Callable[[str], None]
names: dict[str, Any] = {}
"""The names that the blocks of a page of the documentation have defined so far."""


class Stream:
    """The output of a program, told line by line."""

    encoding = "utf-8"

    def __init__(self, tell: Tell, stream: str) -> None:
        self._tell, self._stream, self._line = tell, stream, ""

    def write(self, text: str) -> int:
        """Tell the lines that are complete."""
        self._line += text
        if "\n" in self._line:
            whole, _, self._line = self._line.rpartition("\n")
            self._send(whole + "\n")
        return len(text)

    def flush(self) -> None:
        """Tell the rest."""
        if self._line:
            self._send(self._line)
            self._line = ""

    def isatty(self) -> bool:
        """No, it is not a terminal."""
        return False

    def _send(self, text: str) -> None:
        self._tell(json.dumps({"kind": "output", "stream": self._stream, "text": text}))


class Shown:
    """A value on the screen that another one can take the place of, as in a notebook."""

    def __init__(self, screen: Screen, name: str) -> None:
        self._screen, self._name = screen, name

    def update(self, value: Any) -> None:
        """Show a value in its place."""
        self._screen.display(value, self._name)


class Screen:
    """Shows values in the tabs of the page."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.drawn = False
        self._named = 0

    def display(self, value: Any, name: str = "", *, display_id: bool = False) -> Shown | None:
        """Show a value; one of the same name takes its place, so that a picture can move.

        Args:
            value: A page, a graph, anything that a notebook shows as a picture, or any value.
            name: The name of the picture.
            display_id: Whether to give it a name of its own, and return it as a notebook does:
                its `update` shows another value in its place.
        """
        if display_id:
            self._named += 1
            name = f"{type(value).__name__} {self._named}"
        shown: dict[str, str] = {"kind": "shown", "name": name}
        if isinstance(value, viz.Page):
            shown |= {"tab": "steps", "html": value.path.read_text(encoding="utf-8")}
        elif isinstance(value, viz.Graph):
            self.drawn = True
            shown |= {"tab": "graph", "svg": value.to_svg()}
        else:
            bundle = {} if isinstance(value, minigrad.Tensor) else _bundle(value)
            if "image/svg+xml" in bundle:
                shown |= {"tab": "figures", "svg": bundle["image/svg+xml"]}
            elif "text/html" in bundle:
                shown |= {"tab": "figures", "html": bundle["text/html"]}
        if "tab" in shown:
            self._tell(json.dumps(shown))
        else:
            print(repr(value))
        return Shown(self, name) if display_id else None

    def last(self, value: Any) -> None:
        """Show the value of a program's last line, and the graph of a tensor."""
        if value is None:
            return
        self.display(value)
        if isinstance(value, minigrad.Tensor) and value.grad_fn is not None and not self.drawn:
            graph = viz.graph(value)
            if len(graph.nodes) <= LARGEST_GRAPH:
                self.display(graph)


def _bundle(value: Any) -> dict[str, str]:
    """The display of a value in a notebook, by media type."""
    if isinstance(value, type):
        return {}
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    found = {}
    for kind, method in (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_")):
        text = getattr(value, method, lambda: None)()
        if text:
            found[kind] = text
    return found


def run(code: str, tell: Tell, *, going_on: bool = False, interactive: bool = False) -> None:
    """Run a program, and tell the page what it prints and shows, and its error.

    Args:
        code: The program.
        tell: Takes messages: JSON with a "kind": "output", "shown" or "error".
        going_on: Whether it sees the names of the programs before.
        interactive: Whether the value of every line is shown, as at a prompt, not of the last only.
    """
    if not going_on:
        names.clear()
        minigrad.random.seed(0)
    screen = Screen(tell)
    names["__name__"] = "__main__"
    remember_source(FILE, code)
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Stream(tell, "out"), Stream(tell, "err")  # type: ignore[assignment]
    ours = dict(vars(builtins))
    builtins.display = screen.display  # type: ignore[attr-defined]  # where a notebook has it
    try:
        for part in _parts(ast.parse(code, FILE).body, interactive):
            if isinstance(part, ast.Expression):
                screen.last(eval(compile(part, FILE, "eval"), names))
            else:
                exec(compile(part, FILE, "exec"), names)
    except BaseException as error:  # noqa: BLE001  # the page shows it
        sys.stdout.flush()
        tell(json.dumps({"kind": "error", **_failure(error)}))
    finally:
        vars(builtins).pop("display", None)
        vars(builtins).update(ours)  # which a program may have overwritten
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _parts(body: list[ast.stmt], interactive: bool) -> Iterator[ast.Expression | ast.Module]:
    """The parts that run as a whole: expressions whose value is shown, and the code between."""
    between: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Expr) and (interactive or statement is body[-1]):
            yield ast.Module(between, [])
            yield ast.Expression(statement.value)
            between = []
        else:
            between.append(statement)
    yield ast.Module(between, [])


def _failure(error: BaseException) -> dict[str, Any]:
    """The line of the program, and the text of an error."""
    if isinstance(error, SystemExit):
        return {"line": 0, "text": f"The program ended itself: exit({error.code})."}
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE
    ]
    text = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return {"line": error.lineno or 1, "text": f"{type(error).__name__}: {error.msg}"}
    inner = [f"line {f.lineno}, in {f.name}: {f.line}" for f in frames if f.name != "<module>"]
    return {"line": frames[-1].lineno if frames else 0, "text": "\n".join([text, *inner[-3:]])}


def exercise_list() -> list[dict[str, Any]]:
    """All exercises, for the file `exercises.json` of the site."""
    return [
        {
            "number": number, "title": each.title, "chapter": each.chapter, "task": each.task,
            "hints": each.hints, "skeleton": each.skeleton,
        }
        for number, each in exercises().items()
    ]  # fmt: skip


def check(number: int, code: str) -> str:
    """Check an answer; the result, as JSON."""
    result = run_text(exercise(number), code, FILE)
    text = result.text(width=10_000)  # the page breaks lines where it ends
    return json.dumps({"right": result.right, "text": text, "drawing": result.drawing})


def solution(number: int) -> str:
    """The solution of an exercise, as JSON."""
    return json.dumps({"code": exercise(number).solution, "why": exercise(number).why})
