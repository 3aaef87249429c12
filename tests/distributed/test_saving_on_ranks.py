"""A training run on several ranks is saved whole or not at all, and resumed on any number."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from mpi_runs import passes, run

pytestmark = [pytest.mark.needs("mpi4py"), pytest.mark.slow]
PROGRAM = "saving_program.py"


def test_resumes_on_any_number_of_ranks(tmp_path: Path) -> None:
    """Bit for bit on as many ranks, within rounding on more, on fewer, and undivided."""
    folder = str(tmp_path / "save")
    assert passes(2, PROGRAM, "run", folder).count("passed") == 2
    for ranks, mode in ((2, "resume"), (3, "resume"), (4, "resume"), (1, "resume"), (1, "whole")):
        assert passes(ranks, PROGRAM, mode, folder, "2").count("passed") == ranks


RUNS = {
    "within an epoch": [
        (2, "run data"),
        (2, "resume data"),
        (1, "resume data"),
        (4, "resume data"),
    ],
    "running statistics": [(2, "statistics"), (1, "statistics"), (3, "statistics")],
    "a grid of ranks": [(4, "grid"), (2, "grid"), (1, "grid")],
}


@pytest.mark.parametrize("name", RUNS)
def test_what_some_ranks_have_saved_others_resume(name: str, tmp_path: Path) -> None:
    for ranks, mode in RUNS[name]:
        assert passes(ranks, PROGRAM, mode, str(tmp_path / "save")).count("passed") == ranks


def found_by(printed: str) -> int:
    """The step of the save that a run has found."""
    match = re.search(r"found (\d+)", printed)
    assert match, printed
    return int(match[1])


def test_a_killed_rank_leaves_the_last_save_whole(tmp_path: Path) -> None:
    """Killed before each step of writing to the disk; the next run checks what it finds."""
    folder = str(tmp_path / "save")
    assert passes(2, PROGRAM, "kill", folder, "0", "0").count("found 0") == 2
    moments = [(0, moment) for moment in range(1, 9)] + [(1, moment) for moment in range(1, 4)]
    found = []
    for victim, moment in moments:
        done = run(2, PROGRAM, "kill", folder, str(victim), str(moment))
        assert done.returncode, (victim, moment, done.stderr)
        assert "Error" not in done.stderr, (victim, moment, done.stderr)
        found.append(found_by(done.stdout))
    last = passes(2, PROGRAM, "kill", folder, "0", "0")
    found.append(found_by(last))
    grown = [after - before for before, after in pairwise(found)]
    assert {*grown} == {0, 1}, "killed before the index was there, and after"
    assert found[0] == 1
