"""What the playground's worker runs, here in this Python: programs, examples and exercises."""

import builtins
import importlib.util
import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from minigrad.debugging import training_statistics

SITE = Path(__file__).resolve().parents[2] / "site"


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = loaded(SITE / "build.py")
runner = loaded(SITE / "playground/runner.py")
EXAMPLES = {example["name"]: example for example in build.examples()}


def run(code: str, **options: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(code, lambda message: messages.append(json.loads(message)), **options)
    return messages


def printed(messages: list[dict[str, Any]], stream: str = "out") -> str:
    return "".join(m["text"] for m in messages if m["kind"] == "output" and m["stream"] == stream)


def shown(messages: list[dict[str, Any]]) -> list[str]:
    return [m["tab"] for m in messages if m["kind"] == "shown"]


def error(messages: list[dict[str, Any]]) -> tuple[int, str]:
    (found,) = [m for m in messages if m["kind"] == "error"]
    assert messages[-1] is found
    return found["line"], found["text"]


def test_printing_is_told_line_by_line() -> None:
    messages = run("import sys\nprint('a', 1)\nprint('b\\nc', end='')\nprint('d', file=sys.stderr)")
    assert [m["text"] for m in messages] == ["a 1\n", "b\n", "d\n", "c"]
    assert printed(messages) == "a 1\nb\nc"
    assert printed(messages, "err") == "d\n"


def test_the_last_value_is_shown() -> None:
    assert printed(run("1 + 1\n2 + 2")) == "4\n"
    assert run("1 + 1\nNone") == []
    assert printed(run("x = 3\nx\nx + 1", interactive=True)) == "3\n4\n"


def test_tensors_graphs_pages_and_pictures() -> None:
    start = "import minigrad\nfrom minigrad import nn, viz\n"
    start += "x = minigrad.ones(2, requires_grad=True)\n"
    computed = run(f"{start}x.exp().sum()")
    assert printed(computed).startswith("tensor(")
    assert shown(computed) == ["graph"]
    assert computed[-1]["svg"].startswith("<svg")
    assert shown(run(f"{start}viz.graph(x.exp())")) == ["graph"]
    (page,) = run(f"{start}viz.explore(nn.Linear(2, 1), x)")
    assert page["tab"] == "steps"
    assert page["html"].startswith("<!DOCTYPE html>")
    assert printed(run(f"{start}nn.Linear(2, 1)")).startswith("Linear(in_features=2")
    asked = run(f"{start}display(viz.graph(x.exp()), name='first')\nx.sum()")
    assert shown(asked) == ["graph"]
    assert asked[0]["name"] == "first"


def test_a_picture_moves_as_in_a_notebook() -> None:
    picture = "class Picture:\n    _repr_svg_ = lambda self: '<svg/>'\n"
    place = "shown = [display(Picture(), display_id=True) for _ in range(2)]"
    messages = run(f"{picture}{place}\nshown[0].update(Picture())")
    names = [message["name"] for message in messages]
    assert names == ["Picture 1", "Picture 2", "Picture 1"]
    assert not hasattr(builtins, "display")


def test_a_profile_shows_its_page() -> None:
    code = "from minigrad import ones\nfrom minigrad.debugging import Profile\n"
    (page,) = run(f"{code}with Profile() as profile:\n    ones(3).sum()\nprofile")
    assert page["tab"] == "figures"
    assert "Memory by line" in page["html"]


def test_an_error_is_told_with_its_line() -> None:
    code = "import minigrad\n\ndef f(x):\n    return x @ x\n\nf(minigrad.ones(2, 3))\n"
    line, text = error(run(code))
    assert line == 4
    assert text.startswith("ValueError: matmul: (2, 3) @ (2, 3)")
    assert "line 4, in f: return x @ x" in text
    assert error(run("x = 1\nx = = 2"))[0] == 2
    ended = error(run("print('a')\nraise SystemExit(3)"))
    assert ended == (0, "The program ended itself: exit(3).")
    assert "RecursionError" in error(run("def f():\n    f()\nf()"))[1]


def test_a_program_changes_nothing_for_the_next() -> None:
    before = sys.stdout
    run("import builtins\nbuiltins.print = None\nkept = 5")
    assert sys.stdout is before
    assert "NameError" in error(run("kept"))[1]
    run("kept = 5")
    assert printed(run("kept + 1", going_on=True)) == "6\n"
    first, second = (printed(run("import minigrad\nminigrad.rand(1)")) for _ in range(2))
    assert first == second


def test_future_imports_hold_for_the_whole_program() -> None:
    assert run("from __future__ import annotations\ndef f(x: unknown): pass\nf(1)") == []


EXPECTED = {
    "slope": (["graph"], "by autograd  4.75"), "expression": (["graph"], "24.7041"),
    "two_moons": (["figures"] * 16, "right 100%"), "softmax": (["steps"], "by hand: True"),
    "attention": (["steps"], ""), "encoder_layer": (["steps"], "600 parameters"),
    "gpt": (["figures"] * 2, "sat on the log"), "second_order": (["graph"], "x = 1.1309"),
    "nan_hunt": ([], "by minigrad [0.0, 0.0, 1.0]"), "gradcheck": ([], ""),
    "capture": ([], "captured"), "vmap": ([], "of the mean: True"),
}  # fmt: skip
ERRORS = {
    "nan_hunt": (11, "exp: its output float32 (3,)"), "gradcheck": (23, "the rule of Square"),
}  # fmt: skip


def test_there_are_twelve_examples() -> None:
    assert [*EXPECTED] == [*EXAMPLES]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n == "gpt" else ()) for n in EXPECTED]
)
def test_an_example(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_statistics, "PAUSE", math.inf)  # live: the first and the last
    messages = run(EXAMPLES[name]["code"])
    tabs, text = EXPECTED[name]
    assert shown(messages) == tabs
    assert text in printed(messages)
    failed = [m for m in messages if m["kind"] == "error"]
    assert bool(failed) == (name in ERRORS)
    if failed:
        line, words = ERRORS[name]
        assert failed[0]["line"] == line
        assert words in failed[0]["text"]


def test_exercises_are_those_of_the_command_line() -> None:
    listed = runner.exercise_list()
    numbers = [each["number"] for each in listed]
    assert sorted(numbers) == [*range(1, len(listed) + 1)]
    assert numbers[5] == 29  # after 5
    assert all(each["task"] and len(each["hints"]) == 3 for each in listed)
    as_json = [{**each, "hints": [*each["hints"]]} for each in listed]
    assert json.loads(json.dumps(listed)) == as_json
    open_gap = json.loads(runner.check(7, listed[numbers.index(7)]["skeleton"]))
    assert not open_gap["right"]
    assert "A gap is still open" in open_gap["text"]
    done = json.loads(runner.check(7, json.loads(runner.solution(7))["code"]))
    assert done["right"]
    assert done["drawing"].startswith("<svg")
