"""Processes that take turns, so that libraries do not disturb each other.

The threads of two libraries in one process would busy-wait and compete. So each library has its own
process, and only one of them works at a time. In each round every library gets a turn: one run that
is not timed, then a few timed runs. In a pause before each turn the threads of the previous library
go to sleep. A temporary disturbance of the machine affects a whole round, so ratios are computed
for each round.
"""

import multiprocessing
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from _worker import serve

Turn = Callable[[int], list[float]]
"""Does something n times, and returns the seconds of each."""

PATIENCE = 600.0
"""After how many seconds without an answer a process counts as stuck."""


class Worker:
    """A process in which one library does one kind of work; a context manager.

    Args:
        peer: The module of `peers` for the library.
        work: The function in it that builds the work.
        *arguments: The arguments of that function.
        threads: Its number of threads.
    """

    def __init__(self, peer: str, work: str, *arguments: Any, threads: int) -> None:
        processes = multiprocessing.get_context("spawn")
        self._connection, theirs = processes.Pipe()
        self._process = processes.Process(
            target=serve, args=(theirs, peer, work, arguments, threads), daemon=True
        )
        self._process.start()
        theirs.close()
        self._peer, self._ready = peer, False

    def turn(self, runs: int) -> list[float]:
        """The seconds of each of so many runs, after one that is not timed."""
        return self._ask("turn", runs)

    def processor(self) -> float:
        """The processor seconds of a run, of all threads together."""
        return self._ask("processor")

    def memory(self) -> int | None:
        """The peak memory of the runs in bytes; None if unknown."""
        return self._ask("memory")

    def answer(self) -> dict[str, Any]:
        """The arrays that the work computes."""
        return self._ask("answer")

    def wait(self) -> None:
        """Return when the work is built and has run once."""
        if not self._ready:
            self._receive()
            self._ready = True

    def close(self) -> None:
        self._process.terminate()
        self._process.join()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _ask(self, *command: Any) -> Any:
        self.wait()
        self._connection.send(command)
        return self._receive()

    def _receive(self) -> Any:
        if not self._connection.poll(PATIENCE):
            raise RuntimeError(f"{self._peer}: no answer within {PATIENCE:g} seconds")
        try:
            reply = self._connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            raise RuntimeError(f"{self._peer}: the process ended with code {code}") from None
        if isinstance(reply, str):
            raise RuntimeError(f"{self._peer}:\n{reply}")
        return reply


def take_turns(
    turns: Mapping[str, Turn],
    seconds: float,
    least: int = 5,
    *,
    pause: float = 0.05,
    length: float = 0.15,
) -> dict[str, list[list[float]]]:
    """Give each a turn, round after round.

    Args:
        turns: The functions that take turns, by name.
        seconds: The total time.
        least: The minimum number of rounds.
        pause: The seconds of a pause before each turn.
        length: The approximate timed seconds of a turn.

    Returns:
        For each name the seconds of the runs of each round.
    """
    runs = {name: how_many(turn, length) for name, turn in turns.items()}
    taken: dict[str, list[list[float]]] = {name: [] for name in turns}
    order, begin = list(turns), time.perf_counter()
    while least > 0 or time.perf_counter() - begin < seconds:
        for name in order:
            time.sleep(pause)
            taken[name].append(turns[name](runs[name]))
        order.reverse()  # so that a slow drift, such as heat, favours nobody
        least -= 1
    return taken


def how_many(turn: Turn, length: float) -> int:
    """The number of runs in a turn of about `length` seconds."""
    return min(max(round(length / max(turn(1)[0], 1e-9)), 1), 200)
