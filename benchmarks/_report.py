"""Formatting results: medians with quartiles, ratios by round, tables, disagreements."""

import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import _instructions
import numpy as np

Rounds = list[list[float]]
"""The seconds of the runs of each round."""

TOLERANCE = 5e-5
"""The allowed difference of float32 answers, relative to the largest element."""


def machine(threads: int) -> str:
    """One line that describes the machine of the measurements, and what libraries may use of it."""
    model = platform.processor() or platform.machine()
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        fields = [line.split(":") for line in listing.read_text().splitlines()]
        model = next((f[1].strip() for f in fields if f[0].strip() == "model name"), model)
    return (
        f"{model}, {_instructions.title()}, {os.cpu_count()} cores, "
        f"{threads} thread{'s' * (threads > 1)}; "
        f"Python {platform.python_version()}, NumPy {version('numpy')}; float32"
    )


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, method="inclusive")
    return low, middle, high


def spread(values: Sequence[float], digits: int = 3) -> str:
    """The median, with the quartiles in brackets."""
    low, middle, high = (significant(value, digits) for value in quartiles(values))
    return f"{middle} ({low} to {high})"


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, never in scientific notation."""
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:.{max(digits - max(whole, 1), 0)}f}"


def ratios(rounds: Rounds, others: Rounds) -> list[float]:
    """The ratio of the times in each round."""
    pairs = zip(rounds, others, strict=True)
    return [statistics.median(runs) / statistics.median(other) for runs, other in pairs]


def mebibytes(size: int | None) -> str:
    return "-" if size is None else significant(size / 2**20)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its columns aligned to be read as it is."""
    lines = [list(headings), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return f"| {' | '.join([first, *rest])} |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([line(lines[0]), rule, *map(line, lines[1:])])


def disagreements(
    ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]
) -> tuple[float, list[str]]:
    """Compare two answers.

    Returns:
        The largest difference of two elements, relative to the largest element of the array; and a
        line for each array that differs by more than `TOLERANCE`, in shape or in dtype.
    """
    worst, lines = 0.0, []
    for name in sorted({*ours, *theirs}):
        if name not in ours or name not in theirs:
            lines.append(f"{name}: only one of the two has it")
            continue
        a, b = ours[name], theirs[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            lines.append(f"{name}: {a.shape} {a.dtype} and {b.shape} {b.dtype}")
            continue
        apart = float(np.max(np.abs(a - b), initial=0)) / max(float(np.max(np.abs(a))), 1e-30)
        worst = apart if not apart <= worst else worst  # a NaN is the largest difference
        if not apart <= TOLERANCE:
            lines.append(f"{name}: apart by {apart:.1e} of the largest element")
    return worst, lines


def fail_if(faults: Sequence[str]) -> None:
    """End the command with an error message, if there is one."""
    if faults:
        raise SystemExit("\nFailed:\n" + "\n".join(faults))
