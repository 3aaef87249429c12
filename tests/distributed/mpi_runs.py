"""Running a program on several ranks, within a time limit."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from gallery import MPIEXEC

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 90
"""How long a program may take: a few seconds, but on a busy machine."""


class Run(NamedTuple):
    """How a program ended."""

    returncode: int
    stdout: str
    stderr: str
    ended: float  # when, in seconds since 1970


def run(
    ranks: int, program: str, *arguments: str, interrupt: str = "", timeout: str = "600"
) -> Run:  # fmt: skip
    """Run a program of this folder, or a path, on `ranks` ranks; what it printed, and its code.

    With `interrupt`, mpiexec gets what Ctrl-C sends once a line begins so. No rank waits longer for
    another than `timeout` seconds.
    """
    if MPIEXEC is None:
        pytest.skip("needs mpiexec: pip install mpi4py mpich")
    command = [MPIEXEC, "-n", str(ranks), sys.executable]
    path = Path(__file__).parent / program
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    environment["MINIGRAD_DISTRIBUTED_TIMEOUT"] = timeout
    process = subprocess.Popen(
        [*command, str(path), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True, env=environment,
    )  # fmt: skip
    try:
        while interrupt and process.stdout is not None:
            if process.stdout.readline().startswith(interrupt):
                process.send_signal(signal.SIGINT)
                break
        out, error = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, error = process.communicate()
        pytest.fail(f"{program}: still running after {SECONDS} s\n{out}\n{error}", pytrace=False)
    return Run(process.returncode, out, error, time.time())


def passes(ranks: int, program: str, *arguments: str) -> str:
    """Run a program that must succeed; what it printed."""
    done = run(ranks, program, *arguments)
    if done.returncode or done.stderr:
        pytest.fail(
            f"{program}, {ranks} ranks: code {done.returncode}\n{done.stdout}\n{done.stderr}",
            pytrace=False,
        )
    return done.stdout
