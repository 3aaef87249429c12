"""Command-line helpers of the examples: mistakes and Ctrl-C print one line, of rank 0 alone."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from minigrad import distributed


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        line = f"{self.prog}: {message} (--help shows the options)\n"
        self.exit(2, None if distributed.world().rank else line)


def whole(least: int) -> Callable[[str], int]:
    """Read whole numbers of at least `least`."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} on, not {text!r}")
        return int(text)

    return read


def number(least: float, most: float) -> Callable[[str], float]:
    """Read numbers from `least` to `most`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"a number from {least} to {most}, not {text!r}")
        return value

    return read


def prepare(parser: argparse.ArgumentParser, out: Path) -> None:
    """Check that a folder can be written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    except OSError as error:
        parser.error(f"cannot write into --out {out}: {error.strerror}")


def progress(
    total: int, unit: str, done: int = 0, every: int = 1
) -> tuple[Iterable[int], Callable[[str], None]]:
    """Iterate over rounds of training; returns them and a function that prints progress.

    Where there is no progress bar, it prints for the first round, each `every`-th and the last.
    """
    if importlib.util.find_spec("tqdm") and sys.stderr.isatty():
        from tqdm import tqdm

        bar = tqdm(range(done, total), "training", total, unit=unit, initial=done)
        return bar, bar.set_postfix_str

    def rounds() -> Iterator[int]:
        nonlocal done
        while done < total:
            yield done
            done += 1

    def say(text: str) -> None:
        current = done + 1
        if current % every == 0 or current in (1, total):
            print(f"{unit} {current}/{total}: {text}", flush=True)

    return rounds(), say


def print_files(files: dict[str, Path]) -> None:
    """Print the path of each file."""
    width = max(map(len, files)) + 1
    for what, path in files.items():
        print(f"{what + ':':<{width}} {shown(path)}")


def shown(path: Path) -> Path:
    """A path for printing: relative if that is shorter."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def run(main: Callable[[], None]) -> None:
    """Run an example; if it is stopped, end with one line. Of several ranks, rank 0 prints."""
    if distributed.world().rank:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        main()
    except KeyboardInterrupt as stop:
        kept = f"; {stop}" if stop.args else ""
        print(f"\n{Path(sys.argv[0]).name}: stopped{kept}", file=sys.stderr)
        sys.exit(130)
