"""Runs work in forks of this process, so that their changes do not persist."""

import contextlib
import gc
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["A_CRASH", "NO_END", "in_child", "in_children", "limit_work", "say", "seconds"]

START = time.perf_counter()
A_CRASH = "a crash"
NO_END = "no end of it"


def in_children(
    tasks: Iterator[tuple[Any, Callable[[], Any]]], jobs: int
) -> Iterator[tuple[Any, Any]]:
    """Run each task in a fork of this process, some at a time.

    Args:
        tasks: Pairs of a key and a function to call; consumed when a process is free.
        jobs: The number of parallel processes.

    Returns:
        The keys, each with the result of its function, or with `A_CRASH` or `NO_END`.
    """
    gc.collect()
    gc.freeze()  # frozen objects need not be copied in a child
    running: dict[Any, tuple[Any, int]] = {}
    try:
        while True:
            while len(running) < jobs and (task := next(tasks, None)) is not None:
                receiver, pid = _fork(task[1])
                running[receiver] = task[0], pid
            if not running:
                return
            ready: list[Any] = multiprocessing.connection.wait(list(running))
            for receiver in ready:
                key, pid = running.pop(receiver)
                yield key, _result(receiver, pid)
    finally:
        for _, pid in running.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        gc.unfreeze()


def in_child(call: Callable[[], Any]) -> Any:
    """The result of a call in a fork of this process, or `A_CRASH` or `NO_END`."""
    return _result(*_fork(call))


def limit_work(seconds: float) -> None:
    """End this process after so much CPU time from now on, or if it waits far longer."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 30 + 10 * seconds)


def seconds() -> float:
    """How long the command has run."""
    return time.perf_counter() - START


def say(text: str) -> None:
    """Print the progress."""
    print(f"{seconds():6.0f} s  {text}", file=sys.stderr, flush=True)


def _result(receiver: Any, pid: int) -> Any:
    """What a child sends before it ends."""
    result: Any = A_CRASH
    with contextlib.suppress(EOFError):
        result = receiver.recv()
    receiver.close()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM):
        return NO_END
    return result


def _fork(call: Callable[[], Any]) -> tuple[Any, int]:
    """Start a child that sends the result of a call; its output is discarded."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    pid = os.fork()
    if pid:
        sender.close()
        return receiver, pid
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sender.send(call())
    finally:
        os._exit(0)
