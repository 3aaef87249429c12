"""A whole training step, beside PyTorch: embeddings, four encoder layers, loss, AdamW.

Token and position embeddings, four post-norm layers with dropout 0.1, a linear head over 1,000
tokens, cross-entropy, the backward pass, AdamW and clearing the gradients. Both libraries start
from the same weights, each in its own process; they take turns (see _turns.py). As dropout is
random, five more steps without it are compared: the command fails if the losses differ.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import _options
from _comparison import compare
from _report import disagreements, fail_if, machine, mebibytes, ratios, spread, table
from _work import SIZES, TINY, Size
from peers import OURS, PYTORCH

HEADINGS = ["", "minigrad ms (quartiles)", "PyTorch ms (quartiles)", "ratio (quartiles)"]
HEADINGS += ["cores", "PyTorch's", "peak MiB", "PyTorch's", "losses apart by"]
LAYERS = 4


def measure(size: Size, options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The cells of one size, and disagreements."""
    results = compare((OURS, PYTORCH), "training", size, 0.1, options=options)
    ours, theirs = results[OURS.title], results.get(PYTORCH.title)
    time, memory = spread(ours.per(1e-3)), mebibytes(ours.memory)
    if theirs is None:
        return [time, "not installed", "", f"{ours.cores:.2f}", "", memory, "", ""], []
    apart, lines = disagreements(ours.answer, theirs.answer)
    ratio = spread(ratios(ours.rounds, theirs.rounds))
    other = spread(theirs.per(1e-3))
    cores = [f"{result.cores:.2f}" for result in (ours, theirs)]
    return [time, other, ratio, *cores, memory, mebibytes(theirs.memory), f"{apart:.0e}"], lines


def main() -> None:
    parser = _options.parser(__doc__, seconds=15)
    parser.add_argument("--sizes", default="SML", help="which of S, M and L (default SML)")
    options = _options.read(parser)
    sizes = TINY if options.quick else {name: SIZES[name] for name in options.sizes}
    print(f"{machine(options.threads)}\n", flush=True)
    rows, faults = [], []
    for name, size in sizes.items():
        size = replace(size, depth=LAYERS)
        print(f"{name}: {size}", flush=True)
        cells, found = measure(size, options)
        rows.append([name, *cells])
        faults += [f"{name}: {line}" for line in found]
    print(f"\n{table(HEADINGS, rows)}")
    fail_if(faults)


if __name__ == "__main__":
    main()
