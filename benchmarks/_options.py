"""The options that the scripts share, and the number of threads, set before NumPy is loaded."""

from __future__ import annotations

import argparse
import os


def whole(text: str) -> int:
    """Read a positive whole number."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"a positive whole number, not {text!r}")
    return int(text)


def parser(description: str, seconds: float, threads: int = 2) -> argparse.ArgumentParser:
    """A parser with --threads, --seconds and --quick.

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
        "--quick", action="store_true", help="tiny sizes, two rounds: does it work at all?"
    )
    return made


def read(made: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line, and set the number of threads for this process and its children."""
    options = made.parse_args()
    options.least, options.length = (2, 0.0) if options.quick else (5, 0.15)
    if options.quick:
        options.seconds = 0.0
    set_threads(options.threads)
    return options


def set_threads(number: int) -> None:
    for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
        os.environ[f"{library}_NUM_THREADS"] = str(number)  # read when a library is imported
