"""Collectives on two, three and four ranks; what goes wrong ends all ranks and says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_runs import ROOT, passes, run

pytestmark = [pytest.mark.needs("mpi4py"), pytest.mark.slow]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_collectives(ranks: int) -> None:
    assert passes(ranks, "collectives_program.py").count("passed") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_data_parallel(ranks: int) -> None:
    assert passes(ranks, "data_parallel_program.py").count("passed") == ranks


@pytest.mark.needs("sklearn", "matplotlib")
def test_the_demo_on_two_ranks_prints_what_one_prints(tmp_path: Path) -> None:
    lines = []
    for ranks in (1, 2):
        script = str(ROOT / "examples/digits.py")
        printed = passes(ranks, script, "--smoke", "--out", str(tmp_path / str(ranks)))
        lines.append([line for line in printed.splitlines() if "held-out" in line])
    assert len(lines[0]) == 3 and lines[0] == lines[1]
    names = [{path.name for path in (tmp_path / str(ranks)).iterdir()} for ranks in (1, 2)]
    assert names[0] == names[1] and len(names[0]) == 6


MISTAKES = {
    "shape": ["rank 0: all_reduce(float32 (3,))", "rank 1: all_reduce(float32 (4,))", "py:19:"],
    "dtype": ["rank 0: all_reduce(float32 (3,))", "rank 1: all_reduce(int64 (3,))"],
    "collective": ["rank 0: all_reduce(float32 (3,))", "rank 1: all_gather(float32 (3,), 0)"],
    "unused": ["rank 0: the backward pass of call", "rank 1: all_reduce(float32 (3,)) at"],
    "unused at the end": ["rank 0: the backward pass of call", "rank 1: the end of the program"],
    "no backward pass": ["backward pass of call 1 of Dist", "backward pass of call 2 of Dist"],
    "ended": ["rank 0: all_reduce(float32 (3,))", "rank 1: the end of the program"],
    "exception": ["Rank 1 of 2 raised", "LookupError: rank 1 does not find it"],
    "late": ["TimeoutError: rank 0 waited 1 s in all_reduce", "not yet there: rank 1", "py:51:"],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_all_ranks_and_says_why(mistake: str) -> None:
    done = run(2, "mistakes_program.py", mistake, seconds=30)
    assert done.returncode != 0
    for part in MISTAKES[mistake]:
        assert part in done.stderr, done.stderr


def test_a_slow_rank_brings_a_warning() -> None:
    done = run(2, "mistakes_program.py", "slow", seconds=30)
    assert done.returncode == 0 and done.stdout.count("passed") == 2, done.stderr
    assert "rank 0 has waited" in done.stderr and "not yet there: rank 1" in done.stderr


def test_an_interrupt_ends_all_ranks() -> None:
    done = run(2, "mistakes_program.py", "waits", seconds=30, interrupt="ready")
    assert done.returncode != 0 and "Traceback" not in done.stderr
