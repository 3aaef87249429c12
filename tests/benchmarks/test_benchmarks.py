"""Every benchmark runs at its tiny size: the tables come out, and the libraries agree.

No test says anything about how long something takes.
"""

import csv
import multiprocessing
import os
import re
import runpy
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import _comparison
import _instructions
import _report
import _turns
import encoder_layer
import numpy as np
import profile_step
import pytest
from _work import FUNCTIONS, TINY, Size
from peers import COMPILED, OURS, PEERS, PYTORCH, TRAINED

import minigrad

FOLDER = Path(_turns.__file__).parent
QUICK = Namespace(threads=1, seconds=0.0, least=2, length=0.0, neighbours=False, quick=True)
FIGURE = r"\d+(?:\.\d+)?"
Tables = list[list[list[str]]]
Run = Callable[..., Tables]
SPREAD = rf"{FIGURE} \({FIGURE} to {FIGURE}\)"


ALONE = f"""
import runpy, sys
sys.modules["torch"] = None  # as if it were not installed
sys.path.insert(0, {str(FOLDER)!r})
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def workers() -> BaseContext:
    """Makes processes from one that has imported the libraries, where the system can fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["preloaded"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        forkserver.ensure_running()
    return context


@pytest.fixture
def run(
    workers: BaseContext, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a script in this process, and reads the tables that it prints."""

    def run(script: str, *options: str) -> Tables:
        path = str(FOLDER / f"{script}.py")
        monkeypatch.setattr(multiprocessing, "get_context", lambda _: workers)
        monkeypatch.setattr(sys, "argv", [path, "--quick", "--threads", "2", *options])
        monkeypatch.setattr(os, "environ", {**os.environ})
        runpy.run_path(path, run_name="__main__")
        return tables(capsys.readouterr().out)

    return run


def run_alone(script: str) -> Tables:
    """The tables that a script prints as a command, on a machine without PyTorch."""
    command = [sys.executable, "-c", ALONE, FOLDER / f"{script}.py", "--quick", "--threads", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return tables(done.stdout)


def tables(printed: str) -> Tables:
    """The cells of each table, without the line below its headings."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", printed, re.MULTILINE):
        rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
        assert len({len(row) for row in rows}) == 1
        found.append([row for row in rows if not set("".join(row)) <= {"-"}])
    return found


# The scripts


def by_peer(rows: list[list[str]], peers: Sequence[Any]) -> Iterator[tuple[Any, list[str]]]:
    """The row of each library that is installed; the others are said to be missing."""
    peers = [peer for peer in peers if peer is not COMPILED]
    assert [row[0] for row in rows] == [peer.title for peer in peers]
    for peer, (_, times, ratio, *others) in zip(peers, rows, strict=True):
        if not peer.installed:
            assert times == "not installed"
            continue
        assert re.fullmatch(SPREAD, times)
        assert re.fullmatch(SPREAD if PYTORCH.installed else "-", ratio)
        yield peer, others


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "peers", "found"), [("encoder_layer", PEERS, 1), ("training_step", TRAINED, 2)]
)
def test_every_library_agrees(run: Run, script: str, peers: Any, found: int) -> None:
    printed = run(script)
    assert len(printed) == found
    for _, *rows in printed:
        for peer, (processor, *_, apart) in by_peer(rows, peers):
            assert float(processor) > 0
            assert (peer is OURS and not apart) or 0 <= float(apart) < _report.TOLERANCE


def weighed(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.slow if name == "perceptron" else pytest.mark.long)


@pytest.mark.parametrize("name", [weighed(name) for name in FUNCTIONS])
def test_transforms(run: Run, name: str) -> None:
    ((_, (_, times, captured, ratio, _, apart)),) = run("transforms", "--only", name)
    assert re.fullmatch(SPREAD, times)
    assert re.fullmatch(SPREAD, captured)
    assert re.fullmatch(SPREAD if PYTORCH.installed else "not installed", ratio)
    assert float(apart) < _report.TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "rows"), [("per_op", 13), ("forward_only", 1), ("chain", 2), ("layers", 6)]
)
def test_small_work(run: Run, script: str, rows: int) -> None:
    (headings, *found), *_ = run(script)
    if script == "per_op" and PYTORCH.installed:
        assert found.pop()[0] == "geometric mean"
    assert (len(found), "minigrad" in headings[1]) == (rows, True)
    assert all(re.fullmatch(SPREAD, row[1]) for row in found)


@pytest.mark.slow
def test_the_shape_of_bert(run: Run) -> None:
    ((_, *rows),) = run("scale")
    assert [row[1] for row in rows if row[1] == "minigrad"] == ["minigrad"] * 2
    assert len(rows) == (4 if PYTORCH.installed else 2)
    assert {row[2] for row in rows} == {"everything", "the inputs of layers"}


@pytest.mark.slow
@pytest.mark.needs("matplotlib")
def test_growth_is_drawn_and_listed(run: Run, tmp_path: Path) -> None:
    assert run("growth", "--out", str(tmp_path)) == []
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "growth.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    ours = [row for row in rows if row["library"] == "minigrad"]
    assert [(row["grows"], row["size"]) for row in ours] == [("length", "4"), ("length", "8")]
    for row in ours:
        assert 0 < float(row["lower"]) <= float(row["milliseconds"]) <= float(row["upper"])


@pytest.mark.slow
def test_a_step_is_accounted_for(run: Run) -> None:
    ((headings, *rows),) = run("profile_step")
    both = {row[0]: float(row[headings.index("both")]) for row in rows}
    assert {"linear", "attention", "layer_norm", "dropout", "AdamW"} <= set(both)
    parts = sum(ms for name, ms in both.items() if name not in {"whole step", "the products alone"})
    assert parts == pytest.approx(both["whole step"], rel=0.02, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["per_op", "chain"])
def test_without_pytorch_our_own_times_are_shown(script: str) -> None:
    for headings, *rows in run_alone(script):
        for row in rows:
            assert re.fullmatch(SPREAD, row[1])
            assert row[headings.index("ratio (quartiles)") - 1] == "not installed"


@pytest.mark.slow
def test_beside_busy_neighbours(run: Run) -> None:
    for _, *rows in run("training_step", "--neighbours"):
        assert re.fullmatch(SPREAD, rows[0][1])
    assert not multiprocessing.active_children()


# What they are made of


@pytest.mark.skipif(len(_instructions.modes()) < 2, reason="this processor has no AVX-512")
def test_libraries_can_be_held_to_avx2() -> None:
    code = "import _instructions; _instructions.hold('avx2'); import numpy; _instructions.check();"
    code += "print(_instructions.title(), *_instructions._found())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("held to AVX2 ('NumPy', 'AVX2') ('OpenBLAS', 'Haswell')")


def test_a_library_that_is_not_held_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_instructions, "_held", lambda: True)
    monkeypatch.setattr(_instructions, "_found", lambda: [("OpenBLAS", "SkylakeX")])
    with pytest.raises(RuntimeError, match="OpenBLAS is not held to AVX2: it uses SkylakeX"):
        _instructions.check()


def test_the_modes_of_a_machine(tmp_path: Path) -> None:
    listing = tmp_path / "cpuinfo"
    assert _instructions.modes(listing) == ["native"]
    listing.write_text("flags : fpu avx2 avx512f avx512dq\n")
    assert _instructions.modes(listing) == ["native", "avx2"]


def test_a_disagreement_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"output": np.ones(3, np.float32), "gradient": np.ones(2, np.float32)}
    wrong = {**right, "gradient": np.array([1, 1.01], np.float32)}
    results = {
        peer.title: _comparison.Result([[0.002, 0.004]], 1.5, None, values)
        for peer, values in ((OURS, right), (PEERS[-1], wrong))
    }
    monkeypatch.setattr(encoder_layer, "compare", lambda *_, **__: results)
    shown, faults = encoder_layer.measure(PEERS, "encoder", TINY["tiny"], options=QUICK)
    assert faults == [f"{PEERS[-1].title}: gradient: apart by 1.0e-02 of the largest element"]
    assert shown.count("not installed") == len(PEERS) - 3  # and one is not asked
    assert "| 3.00 (2.50 to 3.50) | -" in shown
    with pytest.raises(SystemExit, match="apart by"):
        _report.fail_if(faults)
    _report.fail_if([])


SINGLE = np.ones(2, np.float32)
FAULTS: list[tuple[dict[str, Any], str | None]] = [
    ({"x": 0 * SINGLE}, "x: apart by 1.0e[+]00 of"),
    ({"x": np.array([1, np.nan], np.float32)}, "x: apart by nan of"),
    ({"x": np.ones(2)}, "x: .* float32 and .* float64"),
    ({"x": np.ones(3, np.float32)}, "x: .2,. float32 and .3,. float32"),
    ({}, "x: only one of the two has it"),
    ({"x": SINGLE + np.float32(1e-6)}, None),
]


@pytest.mark.parametrize(("theirs", "fault"), FAULTS)
def test_what_counts_as_a_disagreement(theirs: dict[str, Any], fault: str | None) -> None:
    _, lines = _report.disagreements({"x": SINGLE}, theirs)
    assert len(lines) == (fault is not None)
    assert fault is None or re.match(fault, lines[0])


def test_figures() -> None:
    assert _report.quartiles([4.0, 1.0, 2.0, 3.0, 5.0]) == (2.0, 3.0, 4.0)
    assert _report.quartiles([7.0]) == (7.0, 7.0, 7.0)
    shown = [_report.significant(x) for x in (0.012, 1.234, 12.34, 123.4, 1234.0, -1.234)]
    assert shown == ["0.01", "1.23", "12.3", "123", "1234", "-1.23"]
    assert _report.ratios([[2.0, 2.0, 9.0], [6.0]], [[1.0], [2.0, 2.0]]) == [2.0, 3.0]


def test_turns_are_taken_round_by_round() -> None:
    log: list[tuple[str, int]] = []

    def turn(name: str, seconds: float, runs: int) -> list[float]:
        log.append((name, runs))
        return [seconds] * runs

    turns = {"quick": partial(turn, "quick", 0.01), "slow": partial(turn, "slow", 1.0)}
    taken = _turns.take_turns(turns, 0.0, least=2, pause=0.0, length=0.1)
    assert log[:2] == [("quick", 1), ("slow", 1)]
    assert log[2:] == [("quick", 10), ("slow", 1), ("slow", 1), ("quick", 10)]
    assert taken == {"quick": [[0.01] * 10] * 2, "slow": [[1.0]] * 2}


@pytest.mark.slow
def test_memory_is_that_of_the_work() -> None:
    def peak(size: Size) -> int | None:
        with _turns.Worker("ours", "encoder", size, threads=1) as worker:
            worker.turn(1)
            return worker.memory()

    small, large = peak(Size(1, 64, 64, 2, 64)), peak(Size(8, 512, 64, 2, 64))
    if not sys.platform.startswith("linux"):
        assert small is large is None
        return
    one = 8 * 512 * 64 * 4  # bytes of one activation; some ten of them live at once
    assert small < 4 * one
    assert 5 * one < large < 40 * one


@pytest.mark.slow
def test_what_goes_wrong_in_a_process_is_told() -> None:
    worker = _turns.Worker("ours", "encoder", "no size", threads=1)
    with worker, pytest.raises(RuntimeError, match=r"ours:\n(.*\n)*AttributeError"):
        worker.wait()


def test_a_process_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_turns, "PATIENCE", 0.01)
    worker = _turns.Worker("ours", "encoder", TINY["tiny"], threads=1)
    with worker, pytest.raises(RuntimeError, match="ours: no answer within"):
        worker.turn(1)


def test_the_floor_counts_every_product() -> None:
    """As many multiplications as the ops need: forward, and twice as many backward."""
    x, weight = minigrad.randn(2, 3, 4), minigrad.randn(5, 4)
    q, k, v = minigrad.randn(2, 7, 4), minigrad.randn(2, 6, 4), minigrad.randn(2, 6, 3)

    def step() -> None:
        minigrad.ops.linear(x, weight)
        minigrad.ops.attention(q, k, v)

    taken, needed = profile_step.watch(step)
    assert set(taken) == {("linear", "forward"), ("attention", "forward")}
    counts = [int(np.prod(a)) * b[-1] for a, b in needed]
    assert sum(counts[:3]) == 3 * (6 * 4 * 5)
    assert sum(counts[3:]) == 3 * (2 * 7 * 6 * 4 + 2 * 7 * 6 * 3)
    for a, b in needed:
        np.matmul(np.ones(a), np.ones(b))
    profile_step.floor(needed)()
