"""One encoder layer, forward and backward, beside other libraries, from the same weights.

Each library has its own process, and they take turns (see _turns.py). The outputs and all gradients
are compared with ours: the command fails if they differ. Post-norm, no dropout; the gradients are
those of all weights and of the input. "processor" is the time of all threads together, "apart by"
the largest difference of two elements, relative to the largest element of the array.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import _options
from _comparison import compare, setting
from _report import disagreements, fail_if, mebibytes, ratios, significant, spread, table
from _work import SIZES, TINY
from peers import COMPILED, OURS, PEERS, PYTORCH, Peer

HEADINGS = ["", "ms (quartiles)", "÷ PyTorch (quartiles)", "processor ms", "peak MiB"]
HEADINGS += ["apart by"]


def measure(
    peers: Sequence[Peer], work: str, *arguments: Any, options: argparse.Namespace
) -> tuple[str, list[str]]:
    """The table of some work in every library, and disagreements."""
    if options.quick:  # compiling takes a minute
        peers = [peer for peer in peers if peer is not COMPILED]
    results = compare(peers, work, *arguments, options=options)
    ours, beside = results[OURS.title], results.get(PYTORCH.title)
    rows, faults = [], []
    for title in (peer.title for peer in peers):
        if title not in results:
            rows.append([title, "not installed", "", "", "", ""])
            continue
        result = results[title]
        apart, lines = disagreements(ours.answer, result.answer)
        faults += [f"{title}: {line}" for line in lines]
        ratio = spread(ratios(result.rounds, beside.rounds)) if beside else "-"
        distance = "" if result is ours else f"{apart:.0e}"
        times, memory = spread(result.per(1e-3)), mebibytes(result.memory)
        rows.append([title, times, ratio, significant(result.processor * 1e3), memory, distance])
    return table(HEADINGS, rows), faults


def main() -> None:
    parser = _options.parser(__doc__, seconds=20)
    parser.add_argument("--sizes", default="SML", help="which of S, M and L (default SML)")
    options = _options.read(parser)
    sizes = TINY if options.quick else {name: SIZES[name] for name in options.sizes}
    print(setting(options), flush=True)
    faults = []
    for name, size in sizes.items():
        shown, found = measure(PEERS, "encoder", size, options=options)
        print(f"\n{name}: {size}\n\n{shown}", flush=True)
        faults += [f"{name}: {line}" for line in found]
    fail_if(faults)


if __name__ == "__main__":
    main()
