"""The process of one library, which the parent controls over a pipe.

`serve` answers these commands:

    ("turn", n)     one run that is not timed, then the seconds of each of n
    ("processor",)  the processor seconds of one of these runs
    ("memory",)     the peak memory of the runs in bytes: see `peak_memory`
    ("answer",)     the arrays that the work computes, by name

Errors are sent as text. The parent ends the process.
"""

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

import _instructions
from _work import smallest


def serve(connection: Connection, peer: str, work: str, arguments: Any, threads: int) -> None:
    """Import one library, build its work, and answer commands."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    try:
        keep_to_cores(threads)
        module = importlib.import_module(f"peers.{peer}")
        build = getattr(module, work)
        build(*map(smallest, arguments)).run()  # triggers imports on first use
        gc.collect()
        before = resident("VmRSS")
        task = build(*arguments)
        task.run()  # triggers compilation
        gc.collect()
        forget_peak()
        _instructions.check()
        connection.send(None)
        done, busy = 0, 0.0
        while True:
            match connection.recv():
                case ("turn", runs):
                    begin = time.process_time()
                    connection.send(turn(task.run, runs))
                    done, busy = done + runs + 1, busy + time.process_time() - begin
                case ("processor",):
                    connection.send(busy / done)
                case ("memory",):
                    connection.send(peak_memory(before))
                case ("answer",):
                    connection.send(task.answer())
    except EOFError:  # the parent has ended
        pass
    except Exception:  # noqa: BLE001  # the parent is told
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
    """Limit the process to as many cores as threads, where the system supports it.

    Most libraries read the number from the environment; JAX counts the cores.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:threads])


def resident(field: str) -> int | None:
    """Resident memory in bytes: current (VmRSS) or peak (VmHWM); None if unknown."""
    if not sys.platform.startswith("linux"):
        return None
    for line in Path("/proc/self/status").read_text().splitlines():
        name, value = line.split(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return None


def forget_peak() -> None:
    """Reset VmHWM; if that is not allowed, the first run counts too."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory(before: int | None) -> int | None:
    """Peak resident memory, minus that of imports and a rehearsal."""
    peak = resident("VmHWM")
    return None if before is None or peak is None else peak - before
