"""The options that the scripts share, and the number of threads, set before NumPy is loaded."""

import argparse
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager

import _instructions


def whole(text: str) -> int:
    """Read a positive whole number."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"a positive whole number, not {text!r}")
    return int(text)


def parser(description: str, seconds: float, threads: int = 2) -> argparse.ArgumentParser:
    """A parser with --threads, --seconds, --isa, --neighbours and --quick.

    Args:
        description: The docstring of the script.
        seconds: The default time to measure one table or point.
        threads: The default number of threads of each library.
    """
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--threads", type=whole, default=threads,
        help=f"how many threads each library has (default {threads})",
    )  # fmt: skip
    made.add_argument(
        "--seconds", type=float, default=seconds,
        help=f"how long to measure for one table or point (default {seconds:g})",
    )  # fmt: skip
    made.add_argument(
        "--isa", choices=(_instructions.NATIVE, _instructions.AVX2), default=_instructions.NATIVE,
        help="which instructions libraries may use (default native: all that the processor has)",
    )  # fmt: skip
    made.add_argument(
        "--neighbours", action="store_true",
        help="measure while another process keeps each core busy",
    )  # fmt: skip
    made.add_argument(
        "--quick", action="store_true", help="tiny sizes, two rounds: does it work at all?"
    )
    return made


def read(made: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line, and set threads and instructions for this process and its children."""
    options = made.parse_args()
    options.least, options.length = (2, 0.0) if options.quick else (5, 0.15)
    if options.quick:
        options.seconds = 0.0
    set_threads(options.threads)
    _instructions.hold(options.isa)
    return options


def set_threads(number: int) -> None:
    for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
        os.environ[f"{library}_NUM_THREADS"] = str(number)  # read when a library is imported


@contextmanager
def neighbours(wanted: bool) -> Iterator[None]:
    """Keep every core of this process busy meanwhile, with a process on each."""
    processes = multiprocessing.get_context("spawn")
    cores = sorted(os.sched_getaffinity(0)) if wanted else []
    busy = [processes.Process(target=_compute, args=(core,), daemon=True) for core in cores]
    for process in busy:
        process.start()
    try:
        yield
    finally:
        for process in busy:
            process.terminate()
            process.join()


def _compute(core: int) -> None:
    os.sched_setaffinity(0, {core})
    while True:
        sum(range(10_000))
