"""Several libraries do the same work in turns: times, memory, answers."""

import argparse
import copy
import statistics
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from _options import neighbours
from _report import Rounds, machine
from _turns import Worker, take_turns
from peers import OURS, PYTORCH, Peer


@dataclass(frozen=True)
class Result:
    """The result of a library.

    Attributes:
        rounds: The seconds of the runs of each round.
        processor: The processor seconds of a run, of all threads together.
        memory: The peak memory of the runs in bytes, None if unknown.
        answer: The arrays that the work computes.
    """

    rounds: Rounds
    processor: float
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
            title: Result(rounds[title], worker.processor(), memory[title], worker.answer())
            for title, worker in workers.items()
        }


def setting(options: argparse.Namespace) -> str:
    """Two lines that describe the machine, and what one product takes on it.

    The products are of float32 matrices of 1,024 × 1,024: most of the time of a large model goes
    into such products, and no library of ours or of others is faster than they are.
    """
    brief = copy.copy(options)
    brief.neighbours, brief.seconds = False, min(options.seconds, 1.5)
    width = 32 if options.quick else 1024
    results = compare([OURS, PYTORCH], "product", width, options=brief)
    rates = {
        title: 2 * width**3 / statistics.median(result.per(1e-9))
        for title, result in results.items()
    }
    names = {OURS.title: "NumPy"}
    said = ", ".join(f"{names.get(title, title)} {rate:.0f}" for title, rate in rates.items())
    return f"{machine(options.threads)}\nOne product, GFLOPS: {said}"
