"""Collectives on two, three and four ranks; what goes wrong ends all ranks and says why."""

from pathlib import Path

import pytest
from mpi_runs import ROOT, passes, run

pytestmark = [pytest.mark.needs("mpi4py"), pytest.mark.slow]


@pytest.mark.parametrize("ranks", [2, 3, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("program", ["collectives", "data_parallel", "model_parallel"])
def test_programs_of_several_ranks(program: str, ranks: int) -> None:
    """Models divided among ranks, too, are as they are undivided."""
    assert passes(ranks, f"{program}_program.py").count("passed") == ranks


def test_the_demo_on_two_ranks_prints_what_one_prints(tmp_path: Path) -> None:
    lines = []
    for ranks in (1, 2):
        script = str(ROOT / "examples/digits.py")
        printed = passes(ranks, script, "--smoke", "--out", str(tmp_path / str(ranks)))
        lines.append([line for line in printed.splitlines() if "held-out" in line])
    assert len(lines[0]) == 3
    assert lines[0] == lines[1]
    names = [{path.name for path in (tmp_path / str(ranks)).iterdir()} for ranks in (1, 2)]
    assert names[0] == names[1]
    assert len(names[0]) == 6


MISTAKES = {
    "shape": ["rank 0: all_reduce(float32 (3,))", "rank 1: all_reduce(float32 (4,))",
              "_program.py:"],
    "dtype": ["rank 0: all_reduce(float32 (3,))", "rank 1: all_reduce(int64 (3,))"],
    "collective": ["rank 0: all_reduce(float32 (3,))", "rank 1: all_gather(float32 (3,), 0)"],
    "unused": ["rank 0: the backward pass of call", "rank 1: all_reduce(float32 (3,)) at"],
    "unused at the end": ["rank 0: the backward pass of call", "rank 1: the end of the program"],
    "no backward pass": ["backward pass of call 1 of Dist", "rank 1: DistributedDataParallel"],
    "ended": ["rank 0: all_reduce(float32 (3,))", "rank 1: the end of the program"],
    "exception": ["Rank 1 of 2 raised", "LookupError: rank 1 does not find it"],
    "late": ["TimeoutError: rank 0 waited 0.5 s in all_reduce", "not yet there: rank 1",
             "_program.py:"],
    "threads": ["two threads of rank", "comm.split(0)"],
    "group": ["rank 0: barrier at", "rank 1: all_reduce(float32 (3,)) at", "will not come"],
    "ended, with another communicator": ["rank 0: Communicator at", "rank 1: the end of the pro"],
    "exit": ["rank 0: all_reduce(float32 (3,))", "rank 1: the end of the program, after all_reduc"],
    "stopped at the end": ["rank 0 waited 0.5 s at the end of the program, after all_reduce",
                           "rank 0 has waited 0 s at the end", "not yet there: rank 1"],
    "models": ["the first difference is 1.weight", "rank 0: float32 (1, 2)", "rank 1: float32 (2"],
    "rate": ["after step 0", "is lr of AdamW, group 0", "rank 0: 0.01", "rank 1: 0.02"],
    "schedule": ["after step 10", "lr of SGD, group 0", "rank 0: 0.01", "rank 1: 0.02"],
    "loaded on one": ["after step 0", "is the values of 0.weight", "rank 0: checksum"],
    "gradients taken": ["after step 1:", "is the values of 0.weight", "rank 0: checksum"],
    "told to some": ["after step 1:", "is the values of 0.weight", "rank 1: checksum"],
    "never averaged": ["after step 1:", "is the values of 0.weight", "rank 1: checksum"],
    "saved": ["in save_training, model:", "is the values of 0.weight", "rank 1: checksum"],
    "module called": ["after step 10", "is the values of 0.weight", "rank 0: checksum"],
    "added": ["1.weight was added, replaced or unfrozen", "wrap the model again"],
    "unfrozen": ["0.weight was added, replaced or unfrozen", "wrap the model again"],
    "divided rate": ["parallelize, after step 0", "lr of SGD, group 0", "rank 1: 0.02"],
    "one evaluates a divided model": [
        "rank 0: parallelize, after step 0", "rank 1, 2, 3: the end of the program, after"],
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_all_ranks_and_says_why(mistake: str, tmp_path: Path) -> None:
    ranks = 4 if mistake == "one evaluates a divided model" else 2
    done = run(ranks, "mistakes_program.py", mistake, str(tmp_path))
    assert done.returncode != 0
    for part in MISTAKES[mistake]:
        assert part in done.stderr, done.stderr


LATE = ["rank 0 has waited 1 s for other ranks to import minigrad.distributed",
        "TimeoutError: rank 0 waited 3 s", "is late, or ended before"]  # fmt: skip
EARLY = {
    "import, exception": [*LATE, "FileNotFoundError: data.csv"], "import, exit": LATE,
    "world, exception": ["Rank 1 of 2 raised", "FileNotFoundError: data.csv"],
    "world, exit": ["rank 0: barrier", "rank 1: the end of the program, after Communicator at"],
}  # fmt: skip


@pytest.mark.parametrize("end", EARLY)
def test_a_rank_that_ends_before_its_first_call(end: str) -> None:
    """`MPI_Init` holds the interpreter's lock while it waits, so another process counts."""
    late = end.startswith("import")
    done = run(2, "early_program.py", end, timeout="3" if late else "600")
    assert done.returncode != 0
    for part in EARLY[end]:
        assert part in done.stderr, done.stderr


@pytest.mark.parametrize(
    "program", ["collected", "one works on", "functional_call", "a thread each"]
)
def test_no_mistake(program: str) -> None:
    """What is collected at another time on one rank, and a rank that ends later than others."""
    assert passes(2, "mistakes_program.py", program).count("passed") == 2


STALLS = {
    "maximum": "all_reduce", "backward": "backward pass of call 1",
    "save_training": "DistributedDataParallel, in save_training",
    "all_gather_object": "all_gather_object",
}  # fmt: skip


OTHERS = "all_gather", "reduce_scatter", "broadcast", "all_to_all", "ppermute", "split"
"""Calls that wait as `all_reduce` does."""


@pytest.mark.parametrize(
    "call",
    [*STALLS, "all_reduce", "barrier", *(pytest.param(c, marks=pytest.mark.long) for c in OTHERS)],
)
def test_a_rank_that_is_stopped_within_a_call(call: str) -> None:
    """A warning after a third of the time limit, which is 0.5 s, and the error at its end."""
    done = run(2, "stalls_program.py", call)
    assert done.returncode != 0
    said = f"rank 0 waited 0.5 s in {STALLS.get(call, call)}"
    for part in (said, "rank 0 has waited 0 s in", "not yet there: rank 1"):
        assert part in done.stderr.replace("the backward", "backward"), done.stderr
    assert 0.5 <= done.ended - float(done.stdout) < 20, "the silence"


def test_a_slow_rank_brings_a_warning() -> None:
    done = run(2, "mistakes_program.py", "slow")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("passed") == 2, done.stderr
    assert "rank 0 has waited" in done.stderr
    assert "not yet there: rank 1" in done.stderr


def test_replicas_that_differ_at_the_end_bring_a_warning() -> None:
    """An error would come too late, and accuse programs that load the best weights on one rank."""
    done = run(2, "mistakes_program.py", "at the end")
    assert done.returncode == 0, done.stderr
    assert "the values of 0.weight differs between ranks; was it trained or" in done.stderr


def test_an_interrupt_ends_all_ranks() -> None:
    done = run(2, "mistakes_program.py", "waits", interrupt="ready")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
