"""What a learner types, and files that do not even run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from minigrad import learn
from minigrad.__main__ import main
from minigrad.learn import command
from minigrad.learn.exercise import exercise
from minigrad.learn.running import check_file, run_text


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Types a command in an empty folder, and reads what is printed."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["minigrad", "learn", *words])
        try:
            main()
        except SystemExit as stop:
            assert stop.code == 2
        done = capsys.readouterr()
        return done.out + done.err

    return run


def test_from_the_list_to_a_right_answer(typed) -> None:
    listed = typed()
    assert "1         a slope by hand" in listed and "0 of " in listed
    assert listed.rstrip().endswith(" -m minigrad learn 1")
    folder = Path("minigrad_exercises")
    file = folder / "01_slope.py"
    assert str(file) in typed("1")
    assert file.read_text() == exercise(1).skeleton
    assert "A gap is still open." in typed("check")
    file.write_text(exercise(1).skeleton + "# mine\n")
    assert "there already" in typed("01") and file.read_text().endswith("# mine\n")
    for number in (1, 2, 3, 3):
        given = typed("hint")
        assert given.count("Hint ") == number
    assert "learn solution 1" in given
    assert exercise(1).solution in typed("solution", "1")
    file.write_text(exercise(1).solution)
    right = typed("check", str(file))
    assert "1 a slope by hand: right." in right and "Why:" in right
    assert "docs/guide/multiplication.md" in right and "learn 2" in right
    assert file.with_suffix(".svg").read_text().startswith("<svg ")
    listed = typed()
    assert "1  done   a slope by hand" in listed and listed.rstrip().endswith("learn 2")
    known = json.loads((folder / "progress.json").read_text())["exercises"]["1"]
    assert known == {"checks": 2, "hints": 3, "done": True}


def test_a_folder_of_ones_own(typed, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = typed("2", "--folder", "my course")
    assert Path("my course/02_chain_rule.py").exists()
    assert 'learn check 2 --folder "my course"' in opened
    monkeypatch.chdir("my course")  # from within it needs no option
    assert "2  begun  the chain rule" in typed()


def test_watching_checks_after_each_save(typed, monkeypatch: pytest.MonkeyPatch) -> None:
    typed("1")
    file = Path("minigrad_exercises/01_slope.py")
    monkeypatch.setattr(
        command.time, "sleep", lambda seconds: file.write_text(exercise(1).solution)
    )
    watched = typed("watch", "1")
    assert watched.index("A gap") < watched.index(f"Save {file}") < watched.index("right.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("check", "3"), "there is no file"),
        (("99",), "there is no exercise '99': they are 1 to "),
        (("chekc", "1"), "no exercise 'chekc'"),
        (("hint", "x"), "no exercise 'x'"),
    ],
)
def test_what_is_not_there_is_said(typed, words: tuple[str, ...], told: str) -> None:
    assert told in typed(*words)


def test_a_damaged_progress_names_the_remedy(typed) -> None:
    typed("1")
    Path("minigrad_exercises/progress.json").write_text("{")
    assert "Delete it: your answers stay" in typed()


ANSWERS = {
    "endless": ("while True: pass\n", "time", ", line 1"),
    "endless in a call": (
        "def numerical_slope(f, x, h):\n    while True: f(x)\n", "time", ", line 2"
    ),
    "memory": ("x = bytearray(20 * 2**30)\n", "MemoryError", ", line 1"),
    "exit": ("import sys\n\nsys.exit(3)\n", "error", ", line 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_file_that_never_comes_back(name: str, tmp_path: Path) -> None:
    text, diagnosis, place = ANSWERS[name]
    file = tmp_path / "01_slope.py"
    file.write_text(text)
    result = check_file(exercise(1), file, seconds=0.5 if diagnosis == "time" else 60)
    assert result.diagnosis == diagnosis, str(result)
    assert f"01_slope.py{place}" in result.facts


@pytest.mark.parametrize(
    ("text", "diagnosis", "told"),
    [
        ("x = (1,\n", "syntax", "01_slope.py, line 1:"),
        ("def f(x):\nreturn x\n", "syntax", "IndentationError"),
        ("x = 1\ny = z\n", "NameError", "01_slope.py, line 2:\n    y = z\nNameError: name 'z'"),
        ("import nummpy\n", "error", "No module named 'nummpy'"),
        ("def numerical_slope(f, x, h):\n    return x^2\n", "caret", "x**2"),
        ("", "missing", "does not define `numerical_slope`"),
        ("numerical_slope = 3\n", "missing", "`numerical_slope` is no function"),
        ("def numerical_slope(f):\n    return f\n", "missing", "has other arguments now"),
        ("def numerical_slope(f, x, h):\n    return 'a'\n", "form", "should be a number; got 'a'"),
        ("def numerical_slope(f, x, h):\n    return f\n", "form", "should be a number"),
        (
            "def numerical_slope(f, x, h):\n    return numerical_slope(f, x, h)\n",
            "RecursionError", "01_slope.py, line 2, in numerical_slope",
        ),
    ],
)  # fmt: skip
def test_a_file_that_does_not_work(text: str, diagnosis: str, told: str) -> None:
    result = run_text(exercise(1), text, "01_slope.py")
    assert result.diagnosis == diagnosis and told in str(result), str(result)


def test_an_answer_that_only_arrays_allow_is_right_without_a_drawing() -> None:
    text = exercise(7).solution.replace("return g @ b.T", "return np.asarray(g).dot(b.T)")
    result = run_text(exercise(7), text, "07_matmul.py")
    assert result.right and not result.drawing and "There is no drawing" in str(result)


def test_what_is_right_so_far_is_said() -> None:
    text = exercise(1).solution.replace("3 * x * x - 2", "3 * x * x")
    assert "Right so far: numerical_slope.\n" in str(run_text(exercise(1), text, "01_slope.py"))
    assert "so far" not in str(run_text(exercise(1), exercise(1).skeleton, "01_slope.py"))


def test_what_the_code_prints_is_shown_and_shortened() -> None:
    text = exercise(1).solution.replace("    return (f", "    print('seen', x)\n    return (f")
    assert "    seen 1.5\n    seen -1.0" in str(run_text(exercise(1), text, "01_slope.py"))
    text = "for i in range(100):\n    print(i)\n"
    printed = run_text(exercise(1), text, "01_slope.py").printed.splitlines()
    assert len(printed) == 21 and printed[-1] == "... and 80 lines more"


def test_writing_into_an_argument_is_told() -> None:
    def matmul_backward(g, a, b):
        g *= 2
        return g @ b.T, a.T @ g

    result = learn.check(7, matmul_backward)
    assert result.diagnosis == "changed" and "changed its argument `g`" in result.facts


def test_a_cell_of_a_notebook_checks_functions_or_all_its_names() -> None:
    names: dict[str, object] = {"np": np}
    exec(exercise(7).solution, names)
    for answer in (names, [names["matmul_backward"], names["layer_backward"]]):
        result = learn.check("07", answer)
        assert result.right
        assert "<svg " in result._repr_mimebundle_()["text/html"]
    in_a_cell = "def matmul_backward(g, a, b):\n    return g @ c\n"
    told = str(run_text(exercise(7), in_a_cell, "/tmp/ipykernel_7/1234.py"))
    assert "your cell, line 2, in matmul_backward:\n    return g @ c\nNameError" in told
    missing = learn.check(7, names["matmul_backward"])
    assert missing.diagnosis == "missing" and "layer_backward" in str(missing)
    with pytest.raises(ValueError, match="hints 1, 2 and 3"):
        learn.hint(7, 4)
