"""The benchmark of several ranks runs, and its model of messages is fitted rightly."""

import csv
import subprocess
import sys
from pathlib import Path

import distributed
import pytest
from mpi_runs import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.long
@pytest.mark.needs("mpi4py", "torch", "matplotlib")
def test_it_measures_both_libraries(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/distributed.py"), "--quick"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "GB/s" in done.stdout
    assert (tmp_path / "distributed.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "distributed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["ranks"], row["library"]) for row in rows] == [
        (ranks, library) for ranks in "12" for library in ("minigrad", "PyTorch")
    ]


def test_the_model_of_messages_is_found_again() -> None:
    link = distributed.Link(3e-6, 2e-10)
    points = [(n, 4**k, link.all_reduce(4**k, n)) for n in (2, 4, 8) for k in range(5, 12)]
    assert distributed.fit(points) == pytest.approx(link)
    assert max(map(abs, distributed.left_out(points))) < 1e-9
    shape = distributed.SHAPES["BERT-base"]
    alone = distributed.step_times(shape, 1, link, 1e11)
    assert len({*alone.values()}) == 1  # one machine sends nothing
    many = distributed.step_times(shape, 1024, link, 1e11)
    assert alone["data"] < many["data"] < many["tensor"]
