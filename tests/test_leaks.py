"""What conftest.py sees to: what a test leaves behind, and what it needs and is not there.

A test that leaves something behind fails, and those after it do not. A missing tool skips a test on
a user's machine, with a reason, and fails it in CI.
"""

import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import leaks
import numpy as np
import pytest
from leaks import Surroundings

import minigrad
from minigrad import Tensor
from minigrad.autograd import Observer
from minigrad.ops import _parallel
from minigrad.support.random_state import take_snapshots

HERE = Path(__file__).resolve().parent
kept: list[Any] = []


def hook() -> None:
    y = Tensor(1.0, requires_grad=True) * 2
    y.register_hook(lambda g: None)
    kept.append(y)


def retain() -> None:
    y = Tensor(1.0, requires_grad=True) * 2
    y.retain_grad()
    kept.append(y)


def repeat() -> None:
    kept.append(take_snapshots()())
    kept[0].__enter__()


def run_a_thread() -> None:
    done = threading.Event()
    kept.append(done)
    threading.Thread(target=done.wait, name="forgotten").start()


def share() -> None:
    minigrad.set_num_threads(minigrad.get_num_threads() + 1)


def leave_a_file() -> None:
    (leaks.ROOT / "left_by_a_test").touch()


LEAKS: dict[str, tuple[Callable[[], Any], str]] = {
    "grad mode": (lambda: minigrad.set_grad_enabled(False), "recording=False"),
    "an observer": (lambda: Observer().__enter__(), "observers="),
    "default dtype": (
        lambda: minigrad.set_default_dtype("float64"),
        "dtype is minigrad.float64, it was",
    ),
    "a hook": (hook, "1 nodes with hooks"),
    "a retained gradient": (retain, "1 nodes with hooks or retained"),
    "repeated numbers": (repeat, "still repeats earlier numbers"),
    "NumPy's seed": (lambda: np.random.seed(1), "global generator"),  # noqa: NPY002
    "NumPy's numbers": (lambda: np.random.random(), "global generator"),  # noqa: NPY002
    "errstate": (lambda: np.seterr(over="ignore"), "np.geterr"),
    "printing": (lambda: np.set_printoptions(precision=3), "np.set_printoptions"),
    "a filter": (lambda: warnings.simplefilter("ignore"), "warnings.filters"),
    "a thread": (run_a_thread, "threads still run: forgotten"),
    "a number of threads": (share, "kernels share"),
    "BLAS": (lambda: _parallel._hold(0), "BLAS's threads and who holds them"),
    "the folder": (lambda: os.chdir(HERE), "the current folder"),
    "a file": (leave_a_file, "files are left in the repository: left_by_a_test"),
}


@pytest.fixture
def clean_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Surroundings]:
    monkeypatch.setattr(leaks, "PATIENCE", 0.01)
    monkeypatch.setattr(leaks, "ROOT", tmp_path)  # other workers look at the repository too
    before = Surroundings.now()
    with warnings.catch_warnings():
        yield before
        before.restore()
    for thing in kept:
        if isinstance(thing, threading.Event):
            thing.set()
    kept.clear()


@pytest.mark.parametrize(("leak", "message"), LEAKS.values(), ids=LEAKS)
def test_every_leak_is_named(
    leak: Callable[[], Any], message: str, clean_again: Surroundings
) -> None:
    assert clean_again.leaks() == []
    leak()
    assert any(message in found for found in clean_again.leaks())


def test_what_is_put_back_is_no_leak(
    clean_again: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaks.PATIENCE", 10)
    y = Tensor(1.0, requires_grad=True) * 2
    y.register_hook(lambda g: None)
    y.retain_grad()
    minigrad.randn(3)
    thread = threading.Thread(target=lambda: time.sleep(0.005))
    thread.start()
    del y
    assert clean_again.leaks() == []


def test_libraries_may_add_filters_of_their_own(clean_again: Surroundings) -> None:
    class TheirWarning(UserWarning):
        pass

    warnings.simplefilter("ignore", TheirWarning)
    warnings.filterwarnings("ignore", "a certain message")
    assert clean_again.leaks() == []
    warnings.resetwarnings()
    assert "warnings.filters" in clean_again.leaks()[0]


def test_the_random_numbers_of_a_test_are_its_own(clean_again: Surroundings) -> None:
    state = minigrad.random.get_state()
    minigrad.randn(3)
    assert minigrad.random.get_state() != state
    clean_again.restore()
    assert minigrad.random.get_state() == state


LEAKING = """
import threading
import numpy as np
import minigrad
kept = []

def test_grad_mode(): minigrad.set_grad_enabled(False)
def test_default_dtype(): minigrad.set_default_dtype("float64")
def test_random_state(): np.random.seed(1)
def test_thread():
    threading.Thread(target=threading.Event().wait, name="forgotten", daemon=True).start()
def test_hook():
    kept.append(minigrad.ones(1, requires_grad=True) * 2)
    kept[0].register_hook(lambda g: None)

def test_after_them():
    assert minigrad.is_grad_enabled()
    assert minigrad.get_default_dtype() == "float32"
"""


def run_pytest(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder with the conftest of these ones."""
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"]
    command += [*options, "-c", str(HERE.parent / "pyproject.toml"), str(folder)]
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    variables |= {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, env=os.environ | variables, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_tests_that_leak_fail_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "test_leaking.py").write_text(LEAKING)
    done = run_pytest(tmp_path)
    assert "6 passed, 5 errors" in done.stdout
    for test, message in (
        ("grad_mode", "the engine's state is State(recording=False"),
        ("default_dtype", "the default dtype is minigrad.float64"),
        ("hook", "1 nodes with hooks or retained gradients are still alive"),
        ("random_state", "np.random's global generator was seeded or drawn from"),
        ("thread", "threads still run: forgotten"),
    ):
        _, _, report = done.stdout.partition(f"ERROR at teardown of test_{test}")
        assert message in report.partition("ERROR at")[0]


# Missing tools ----------------------------------------------------------------------------------

NEEDS_ALL = """
import pytest
module = pytest.importorskip("a_module_that_nobody_has")
def test_never_collected(): pass
"""
NEEDS_ONE = """
import pytest
@pytest.mark.needs("a_program_that_nobody_has")
def test_skipped(): raise AssertionError
@pytest.mark.needs("sys", "python3")
def test_run(): pass
@pytest.mark.xfail(reason="known", strict=True)
def test_known_to_fail(): raise AssertionError
"""
REASONS = ("needs a_program_that_nobody_has", "could not import 'a_module_that_nobody_has'")


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "outcome"), [("", "2 skipped"), ("true", "2 errors")])
def test_a_missing_tool_skips_a_test_and_fails_it_in_ci(
    tmp_path: Path, ci: str, outcome: str
) -> None:
    (tmp_path / "test_one.py").write_text(NEEDS_ONE)
    (tmp_path / "test_all.py").write_text(NEEDS_ALL)
    done = run_pytest(tmp_path, "-p", "xdist", "-n", "1", CI=ci)
    assert (done.returncode == 0) == (not ci), done.stdout + done.stderr
    for part in ("1 passed", "1 xfailed", outcome, *REASONS):
        assert part in done.stdout
