"""What a learner types, and files that do not even run."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from minigrad import learn
from minigrad.__main__ import main
from minigrad.learn import command
from minigrad.learn.running import Result, check_file, run_text
from minigrad.learn.statement import exercise

RIGHT = exercise(1).solution
FILE = Path("minigrad_exercises/01_slope.py")
PROGRESS = FILE.with_name("progress.json")


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


@pytest.mark.slow
def test_from_the_list_to_a_right_answer(typed) -> None:
    listed = typed()
    assert "1         a slope by hand" in listed
    assert "0 of " in listed
    assert listed.rstrip().endswith(" -m minigrad learn 1")
    assert str(FILE) in typed("1")
    assert FILE.read_text() == exercise(1).skeleton
    assert "A gap is still open." in typed("check")
    FILE.write_text(exercise(1).skeleton + "# mine\n")
    assert "there already" in typed("01")
    assert FILE.read_text().endswith("# mine\n")
    for number in (1, 2, 3, 3):
        given = typed("hint")
        assert given.count("Hint ") == number
    assert "learn solution 1" in given
    assert RIGHT in typed("solution", "1")
    FILE.write_text(RIGHT)
    right = typed("check", str(FILE))
    for part in ("1 a slope by hand: right.", "Why:", "docs/guide/multiplication.md", "learn 2"):
        assert part in right
    assert FILE.with_suffix(".svg").read_text().startswith("<svg ")
    listed = typed()
    assert "1  done   a slope by hand" in listed
    assert listed.rstrip().endswith("learn 2")
    known = json.loads(PROGRESS.read_text())["exercises"]["1"]
    assert known == {"checks": 2, "hints": 3, "done": True}
    FILE.write_text("experiment = True\n")
    assert "not yet" in typed("check", "1")
    assert "   1  done " in typed()


def test_a_folder_of_ones_own(typed, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "learn check 2 --folder 'my course'" in typed("2", "--folder", "my course")
    assert Path("my course/02_chain_rule.py").exists()
    monkeypatch.chdir("my course")  # from within it needs no option
    assert "2  begun  the chain rule" in typed()


def test_watching_checks_after_each_save(typed, monkeypatch: pytest.MonkeyPatch) -> None:
    typed("1")
    sleep = lambda seconds: FILE.write_text(RIGHT)
    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=sleep))
    watched = typed("watch", "1")
    assert watched.index("A gap") < watched.index(f"Save {FILE}") < watched.index("right.")


REFUSED = {
    "check 3": "there is no file", "99": "there is no exercise '99': they are 1 to ",
    "chekc 1": "there is no command 'chekc'; 'check' is one", "answer": "no exercise 'answer'",
    "check 1 2": "one exercise expected, got 1, 2", "hint x": "no exercise 'x'",
    "1 --folder file": "file",
}  # fmt: skip


@pytest.mark.parametrize(("words", "told"), REFUSED.items())
def test_what_is_not_there_is_said(typed, words: str, told: str) -> None:
    Path("file").write_text("")
    assert told in typed(*words.split())


DAMAGED = (
    "{", "[]", "3", "null", '{"current": "x"}', '{"current": 99}', '{"current": null}',
    '{"exercises": []}', '{"exercises": {"x": {}}}', '{"exercises": {"1": 3}}',
    '{"exercises": {"1": {"done": 2}}}', '{"exercises": {"1": {"hints": "a"}}}',
    '{"exercises": {"1": {"checks": -1}}}', "[" * 10**5, "\x00",
)  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_progress_names_the_remedy(typed, text: str) -> None:
    typed("1")
    PROGRESS.write_text(text)
    for words in ((), ("1",), ("hint", "1")):
        assert "Delete it: your answers stay" in typed(*words)


def checked(folder: Path, text: str | bytes, seconds: float = 20) -> Result:
    """The result of a file of this text, run in a process of its own."""
    file = folder / "01_slope.py"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check_file(exercise(1), file, seconds)


HELD_UP = {
    "fork": "import os, time\nif os.fork() == 0:\n    time.sleep(99)\n",
    "a fork that goes on": "import os\nos.fork()\n",
    "all else": """\ufeffimport atexit, builtins, subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(99,)).start()
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])
atexit.register(time.sleep, 99)
class A:
    def __del__(self): time.sleep(99)
a = A()
print('\\ud800 \\x1b[31m')
builtins.isinstance = builtins.len = None
""",
}
"""What a file may do beside, and is right nonetheless."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("name", HELD_UP)
def test_a_right_file_is_right_whatever_it_does_beside(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    start = time.monotonic()
    result = checked(tmp_path, HELD_UP[name] + RIGHT)
    assert result.right, str(result)
    assert time.monotonic() - start < 60  # 99 seconds, if it were held up
    assert str(result).encode().isascii() or "\x1b" not in str(result)


ENDED = {
    "endless": ("while True: pass\n", "time", ", line 1"),
    "endless in a call": (
        "def numerical_slope(f, x, h):\n    while True: f(x)\n", "time", ", line 2"
    ),
    "memory": ("x = bytearray(20 * 2**30)\n", "MemoryError", ", line 1"),
    "exit": ("import os\nos._exit(3)\n", "ended", "Python ended with the exit status 3"),
    "signal": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "ended", "SIGKILL"),
    "segfault": ("x = 1\nimport ctypes\nctypes.string_at(0)\n", "ended", "SIGSEGV, without a "
                 "result. It was at\n01_slope.py, line 3:\n    ctypes.string_at(0)"),
    "bytes": (b"x = '\xff'\n", "error", "is not saved as UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDED)
def test_what_ends_a_file_is_said(name: str, tmp_path: Path) -> None:
    text, diagnosis, told = ENDED[name]
    result = checked(tmp_path, text, seconds=0.5 if diagnosis == "time" else 60)
    assert result.diagnosis == diagnosis, str(result)
    assert ("01_slope.py" + told if told.startswith(",") else told) in result.facts, str(result)
    assert len(result.facts) < 5000, str(result)


def test_pipes(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "minigrad", "learn"]
    done = subprocess.run(
        [*words, "hint", "11"], env=os.environ | {"PYTHONIOENCODING": "ascii"}, cwd=tmp_path,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.isascii()
    assert not done.stderr
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(words, cwd=tmp_path, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert not done.stderr


def run(text: str) -> Result:
    """The result of a text, run in this process."""
    return run_text(exercise(1), text, "01_slope.py")


SLOPE = "def numerical_slope(f, x, h):\n    return "


def test_a_browser_has_no_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(OSError, match="^check: .* the playground checks there"):
        check_file(exercise(1), tmp_path / "01.py")


BROKEN = [
    ("x = (1,\n", "syntax", "01_slope.py, line 1:"),
    ("def f(x):\nreturn x\n", "syntax", "IndentationError"),
    ("x = 1\ny = z\n", "NameError", "01_slope.py, line 2:\n    y = z\nNameError: name 'z'"),
    ("import nummpy\n", "error", "No module named 'nummpy'"),
    ("import sys\n\nsys.exit(3)\n", "error", "01_slope.py, line 3"),
    ("class A(BaseException): pass\nraise A('b')\n", "error", "01_slope.py, line 2:"),
    ("class A(Exception):\n    def __str__(self): raise KeyError\nraise A\n", "error",
     "A, whose text raises KeyError"),
    ("raise KeyboardInterrupt\n", "error", "01_slope.py, line 1"),
    ("raise ValueError('x' * 10**6)\n", "ValueError", "characters)"),
    (SLOPE + "x^2\n", "caret", "x**2"), ("", "missing", "does not define `numerical_slope`"),
    ("numerical_slope = 3\n", "missing", "`numerical_slope` is not a function"),
    ("def numerical_slope(f):\n    return f\n", "missing", "has other arguments now"),
    (SLOPE + "'a'\n", "form", "should be a number; got 'a'"),
    (SLOPE + "f\n", "form", "should be a number"),
    (SLOPE + "numerical_slope(f, x, h)\n", "RecursionError",
     "slope.py, line 2, in numerical_slope"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "diagnosis", "told"), BROKEN)
def test_a_file_that_does_not_work(text: str, diagnosis: str, told: str) -> None:
    result = run(text)
    assert result.diagnosis == diagnosis, str(result)
    assert told in str(result), str(result)
    assert len(result.facts) < 5000, str(result)


def test_an_answer_that_only_arrays_allow_is_right_without_a_drawing() -> None:
    text = exercise(7).solution.replace("return g @ b.T", "return np.asarray(g).dot(b.T)")
    result = run_text(exercise(7), text, "07_matmul.py")
    assert result.right
    assert not result.drawing
    assert "There is no drawing" in str(result)


def test_what_is_right_so_far_is_said() -> None:
    assert "Right so far: numerical_slope.\n" in str(run(RIGHT.replace(" - 2\n", "\n")))
    assert "so far" not in str(run(exercise(1).skeleton))


def test_what_the_code_prints_is_shown_and_shortened() -> None:
    text = RIGHT.replace("    return (f", "    print('seen', x)\n    return (f")
    assert "    seen 1.5\n    seen -1.0" in str(run(text))
    printed = run("for i in range(100):\n    print(i)\n").printed.splitlines()
    assert len(printed) == 21
    assert printed[-1] == "... and 80 lines more"


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
    assert missing.diagnosis == "missing"
    assert "layer_backward" in str(missing)
    with pytest.raises(ValueError, match="hints 1, 2 and 3"):
        learn.hint(7, 4)
