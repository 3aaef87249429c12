"""Processes that take turns: how libraries are compared that would disturb one another.

The threads of two libraries in one process wait for each other, busily; so each library has a
process of its own. Only one of them works at a time. In each round every one gets a turn: one run
that is not timed, and then a few that are. A pause before each turn lets the threads of the one
before fall asleep. What disturbs the machine for a while disturbs a whole round, so the ratios
are taken round by round.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from _worker import serve

Turn = Callable[[int], list[float]]
"""Does something so often, and says how many seconds each time took."""


class Worker:
    """A process in which one library does one kind of work; a context manager.

    Args:
        peer: The module of `peers` that knows the library.
        work: The function in it that builds the work.
        *arguments: What that function takes.
        threads: How many threads it may have.
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
        """Seconds of each of so many runs, after one that does not count."""
        return self._ask("turn", runs)

    def memory(self) -> int | None:
        """The most memory that the runs had at once, in bytes; None where nobody can say."""
        return self._ask("memory")

    def answer(self) -> dict[str, Any]:
        """What the work comes to."""
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
    """Let each have a turn, round after round.

    Args:
        turns: What takes turns, by name.
        seconds: How long to go on.
        least: How many rounds there are at least, however long they take.
        pause: How many seconds there are before each turn.
        length: About how many seconds of a turn are timed.

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
        order.reverse()  # what grows steadily, such as heat, favours nobody
        least -= 1
    return taken


def how_many(turn: Turn, length: float) -> int:
    """How many runs make a turn of about `length` seconds."""
    return min(max(round(length / max(turn(1)[0], 1e-9)), 1), 200)
