"""Layers beyond attention, forward and backward, beside PyTorch: convolution, pooling, recurrence.

Each layer has the same arguments and weights in both libraries. Each library has its own process,
and they take turns (see _turns.py). The outputs and all gradients are compared: the command fails
if they differ.
"""

from __future__ import annotations

import _options
from _comparison import compare
from _report import disagreements, fail_if, machine, ratios, spread, table
from _work import LAYERS, Layer
from peers import OURS, PYTORCH

QUICK = [Layer("Conv1d", (2, 4, 3), {"groups": 2}, (2, 2, 9))]
HEADINGS = ["", "minigrad ms (quartiles)", "÷ PyTorch (quartiles)", "apart by"]


def main() -> None:
    parser = _options.parser(__doc__, seconds=3)
    options = _options.read(parser)
    print(f"{machine(options.threads)}\n", flush=True)
    rows, faults = [], []
    for layer in QUICK if options.quick else LAYERS:
        results = compare([OURS, PYTORCH], "layer", layer, options=options)
        ours, theirs = results[OURS.title], results.get(PYTORCH.title)
        row = [str(layer), spread(ours.per(1e-3)), "not installed", ""]
        if theirs is not None:
            apart, lines = disagreements(ours.answer, theirs.answer)
            faults += [f"{layer}: {line}" for line in lines]
            row[2:] = [spread(ratios(ours.rounds, theirs.rounds)), f"{apart:.0e}"]
        rows.append(row)
    print(table(HEADINGS, rows))
    fail_if(faults)


if __name__ == "__main__":
    main()
