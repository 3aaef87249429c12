"""Transforms of functions beside torch.func and JAX: per-sample gradients, Jacobians, a Hessian.

Gradients of each of 64 rows, of an MLP, a convolutional network and an encoder layer; the Jacobian
of each of 64 rows; a Hessian; a derivative along a direction. minigrad runs as it is, and captured;
PyTorch is eager; JAX is compiled. Each library has its own process, and they take turns (see
_turns.py). The results are compared: the command fails if they differ.
"""

import _options
from _comparison import compare
from _report import disagreements, fail_if, machine, ratios, spread, table
from _work import FUNCTIONS
from peers import Peer

OURS = Peer("minigrad", "ours_functions", "minigrad")
OTHERS = [
    Peer("minigrad, captured", "ours_functions_captured", "minigrad"),
    Peer("torch.func", "pytorch_functions", "torch"),
    Peer("JAX, compiled", "jax_functions", "jax"),
]


def main() -> None:
    parser = _options.parser(__doc__, seconds=8)
    parser.add_argument("--only", choices=FUNCTIONS, help="one of the rows")
    options = _options.read(parser)
    print(f"{machine(options.threads)}\n", flush=True)
    rows, faults = [], []
    for name in [options.only] if options.only else FUNCTIONS:
        results = compare([OURS, *OTHERS], "transform", name, options.quick, options=options)
        ours = results[OURS.title]
        row, worst = [FUNCTIONS[name], spread(ours.per(1e-3))], 0.0
        for peer in OTHERS:
            theirs = results.get(peer.title)
            if theirs is None:
                row.append("not installed")
                continue
            apart, lines = disagreements(ours.answer, theirs.answer)
            faults += [f"{name}, {peer.title}: {line}" for line in lines]
            worst = max(worst, apart)
            row.append(spread(ratios(ours.rounds, theirs.rounds)))
        rows.append([*row, f"{worst:.0e}"])
    headings = ["", "minigrad ms (quartiles)", *(f"÷ {peer.title}" for peer in OTHERS), "apart by"]
    print(table(headings, rows))
    fail_if(faults)


if __name__ == "__main__":
    main()
