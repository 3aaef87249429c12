"""Several libraries do the same work in turns: times, memory, answers."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from _options import neighbours
from _report import Rounds
from _turns import Worker, take_turns
from peers import Peer


@dataclass(frozen=True)
class Result:
    """The result of a library.

    Attributes:
        rounds: The seconds of the runs of each round.
        cores: The processor seconds of a second of the runs.
        memory: The peak memory of the runs in bytes, None if unknown.
        answer: The arrays that the work computes.
    """

    rounds: Rounds
    cores: float
    memory: int | None
    answer: dict[str, Any]

    def per(self, units: float) -> list[float]:
        """The seconds of every run, divided by `units`."""
        return [seconds / units for runs in self.rounds for seconds in runs]


def compare(
    peers: Iterable[Peer], work: str, *arguments: Any, options: argparse.Namespace
) -> dict[str, Result]:
    """Let every installed library do the work.

    Args:
        peers: The libraries.
        work: The name of a function in the module of each.
        *arguments: The arguments of this function.
        options: The command line: threads, seconds, least, length, neighbours.

    Returns:
        The result of each library, by its title.
    """
    with ExitStack() as stack:
        workers = {
            peer.title: stack.enter_context(
                Worker(peer.module, work, *arguments, threads=options.threads)
            )
            for peer in peers
            if peer.installed
        }
        for worker in workers.values():
            worker.wait()  # no timing while another library is being imported
        turns = {title: worker.turn for title, worker in workers.items()}
        with neighbours(options.neighbours):
            rounds = take_turns(turns, options.seconds, options.least, length=options.length)
        memory = {title: worker.memory() for title, worker in workers.items()}
        return {
            title: Result(rounds[title], worker.cores(), memory[title], worker.answer())
            for title, worker in workers.items()
        }
