"""How time and peak memory grow with length, width, depth and batch, beside PyTorch.

Encoder layers, forward and backward, as in encoder_layer.py. One of the four grows, the others are
fixed. Each point has its own processes, because a process may keep memory that it
once had. The results are written as a table (CSV), and drawn on logarithmic axes: a straight line
is a power, its slope the exponent.
"""

import argparse
import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import _options
from _comparison import compare
from _report import disagreements, fail_if, machine, quartiles, significant
from _work import TINY, Size
from peers import OURS, PYTORCH

BATCH = Size(batch=8, length=128, width=256, heads=8, hidden=1024)
GROWTH = {
    "length": [
        replace(BATCH, batch=1, length=length) for length in (128, 256, 512, 1024, 2048, 4096)
    ],
    "width": [replace(BATCH, width=width, hidden=4 * width) for width in (64, 128, 256, 512, 1024)],
    "depth": [replace(BATCH, depth=depth) for depth in (1, 2, 4, 8, 12)],
    "batch": [replace(BATCH, batch=batch) for batch in (1, 2, 4, 8, 16, 32)],
}
TINY_GROWTH = {"length": [replace(TINY["tiny"], length=length) for length in (4, 8)]}
FIELDS = ["grows", "size", "library", "milliseconds", "lower", "upper", "peak_mebibytes"]

Rows = list[dict[str, Any]]


def measure(what: str, size: Size, options: argparse.Namespace) -> tuple[Rows, list[str]]:
    """The rows of one point, and disagreements."""
    results = compare((OURS, PYTORCH), "encoder", size, options=options)
    rows = []
    for title, result in results.items():
        low, median, high = quartiles(result.per(1e-3))
        memory = None if result.memory is None else result.memory / 2**20
        values = [what, getattr(size, what), title, median, low, high, memory]
        rows.append(dict(zip(FIELDS, values, strict=True)))
    first, *others = results.values()
    faults = [line for other in others for line in disagreements(first.answer, other.answer)[1]]
    return rows, [f"{size}: {line}" for line in faults]


def draw(rows: Rows, path: Path) -> None:
    """Draw time above and memory below; one column for each quantity that grows."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    kinds = list(dict.fromkeys(row["grows"] for row in rows))
    figure, axes = plt.subplots(
        2, len(kinds), figsize=(3.4 * len(kinds), 6), squeeze=False, sharey="row", sharex="col"
    )
    for column, kind in enumerate(kinds):
        for title in dict.fromkeys(row["library"] for row in rows):
            points = [row for row in rows if row["grows"] == kind and row["library"] == title]
            sizes = [row["size"] for row in points]
            times, style = [row["milliseconds"] for row in points], {"marker": "o", "label": title}
            line = axes[0, column].plot(sizes, times, **style)[0]
            axes[0, column].fill_between(
                sizes, [row["lower"] for row in points], [row["upper"] for row in points],
                color=line.get_color(), alpha=0.25, linewidth=0,
            )  # fmt: skip
            memory = [row["peak_mebibytes"] for row in points]
            if None not in memory:
                axes[1, column].plot(sizes, memory, **style)
        axes[1, column].set_xlabel(kind)
        ticks = sorted({row["size"] for row in rows if row["grows"] == kind})
        axes[1, column].set_xscale("log")
        axes[1, column].set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=45)
        axes[1, column].minorticks_off()
    for axis, label in zip(axes[:, 0], ("ms, forward and backward", "peak MiB"), strict=True):
        axis.set_yscale("log")
        axis.set_ylabel(label)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    axes[0, 0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = _options.parser(__doc__, seconds=2)
    parser.add_argument(
        "--out", type=Path, default=Path("out/bench"), help="a folder (default out/bench)"
    )
    options = _options.read(parser)
    options.out.mkdir(parents=True, exist_ok=True)
    print(machine(options.threads), flush=True)
    rows: Rows = []
    faults: list[str] = []
    for what, sizes in (TINY_GROWTH if options.quick else GROWTH).items():
        for size in sizes:
            found, differing = measure(what, size, options)
            rows += found
            faults += differing
            shown = [
                f"{row['library']} {significant(row['milliseconds'])} ms"
                + (f", {significant(row['peak_mebibytes'])} MiB" if row["peak_mebibytes"] else "")
                for row in found
            ]
            print(f"{what} {getattr(size, what):,}: {'; '.join(shown)}", flush=True)
    table, picture = options.out / "growth.csv", options.out / "growth.png"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, picture)
    print(f"table:   {table}\nfigure:  {picture}")
    fail_if(faults)


if __name__ == "__main__":
    main()
