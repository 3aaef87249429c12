"""What runs in a process of its own: one library at work, as the parent tells it over a pipe.

`serve` answers these commands:

    ("turn", n)     one run that is not timed, then the seconds of each of n
    ("memory",)     the most memory that the runs had at once, in bytes: see `peak_memory`
    ("answer",)     what the work comes to, as NumPy arrays by name

What goes wrong is sent as a text. The parent ends the process.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from _work import smallest


def serve(connection: Connection, peer: str, work: str, arguments: Any, threads: int) -> None:
    """Import one library, build its work, and do what is asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    try:
        keep_to_cores(threads)
        module = importlib.import_module(f"peers.{peer}")
        build = getattr(module, work)
        build(*map(smallest, arguments)).run()  # loads what is loaded on first use
        gc.collect()
        before = resident("VmRSS")
        task = build(*arguments)
        task.run()  # compiles what is compiled
        gc.collect()
        forget_peak()
        connection.send(None)
        while True:
            match connection.recv():
                case ("turn", runs):
                    connection.send(turn(task.run, runs))
                case ("memory",):
                    connection.send(peak_memory(before))
                case ("answer",):
                    connection.send(task.answer())
    except EOFError:  # the parent is gone
        pass
    except Exception:
        connection.send(traceback.format_exc())


def turn(run: Any, runs: int) -> list[float]:
    """The seconds of each of `runs` runs, after one that wakes threads and fills caches."""
    run()
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return seconds


def keep_to_cores(threads: int) -> None:
    """Let the process use as many cores as it may have threads, where the system can say so.

    Most libraries read a number from the environment; JAX asks how many cores there are.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:threads])


def resident(field: str) -> int | None:
    """Resident memory in bytes: now (VmRSS) or at its most (VmHWM); None where nobody can say."""
    if not sys.platform.startswith("linux"):
        return None
    for line in Path("/proc/self/status").read_text().splitlines():
        name, value = line.split(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return None


def forget_peak() -> None:
    """Let VmHWM start anew; where that is forbidden, the first run counts too."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory(before: int | None) -> int | None:
    """How far resident memory went above what imports and a rehearsal took."""
    peak = resident("VmHWM")
    return None if before is None or peak is None else peak - before
