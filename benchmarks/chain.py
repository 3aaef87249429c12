"""The cost of a long chain of small ops, and of a module call, beside PyTorch.

A chain of `h * w` on eight numbers, forward and backward: time and memory of one op must not depend
on the length. Each length has its own processes. Then nested modules that do nothing: the time of
one level.
"""

import argparse
from typing import Any

import _options
from _comparison import compare
from _report import disagreements, fail_if, machine, ratios, spread, table
from peers import OURS, PYTORCH

LENGTHS = [12_500, 25_000, 50_000, 100_000]
LEVELS, CALLS = 100, 20


def measure(
    work: str, *arguments: Any, units: int, options: argparse.Namespace
) -> tuple[list[str], list[str]]:
    """The cells of a row (microseconds and bytes per unit), and disagreements."""
    results = compare((OURS, PYTORCH), work, *arguments, options=options)
    times = [spread(result.per(units * 1e-6)) for result in results.values()]
    bytes_each = [
        "-" if result.memory is None else f"{result.memory / units:.0f}"
        for result in results.values()
    ]
    if len(results) == 1:
        return [*times, "not installed", "", *bytes_each, ""], []
    ours, theirs = results.values()
    faults = disagreements(ours.answer, theirs.answer)[1]
    return [*times, spread(ratios(ours.rounds, theirs.rounds)), *bytes_each], faults


def main() -> None:
    options = _options.read(_options.parser(__doc__, seconds=5, threads=1))
    lengths = [50, 100] if options.quick else LENGTHS
    print(f"{machine(options.threads)}\n", flush=True)
    what = ["minigrad µs (quartiles)", "PyTorch µs (quartiles)", "ratio (quartiles)"]
    rows, faults = [], []
    for length in lengths:
        cells, found = measure("chain", length, units=length, options=options)
        rows.append([f"{length:,}", *cells])
        faults += [f"{length:,} operations: {line}" for line in found]
    print(table(["operations", *what, "bytes each", "PyTorch's"], rows), flush=True)

    calls = 2 if options.quick else CALLS
    cells, _ = measure("nested", LEVELS, calls, units=LEVELS * calls, options=options)
    print(f"\n{table(['one level of', *what], [['nn.Sequential', *cells[:3]]])}")
    fail_if(faults)


if __name__ == "__main__":
    main()
