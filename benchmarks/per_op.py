"""The cost of one recorded op on 8x8 float32, forward and backward, beside PyTorch eager.

Each op is repeated in a chain of 50, then the chain is differentiated. On one thread the libraries
do not disturb each other, so they take turns in this process. The gradients of a chain of 5 are
compared: the command fails if they differ. Without PyTorch only our own times are printed.
"""

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import _options

LENGTH = 50
Step = Callable[[Any, Any], Any]

OPS: list[tuple[str, Step]] = [
    ("h + w", lambda h, w: h + w),
    ("h * w", lambda h, w: h * w),
    ("h / w", lambda h, w: h / w),
    ("h * 1.01", lambda h, w: h * 1.01),
    ("-h", lambda h, w: -h),
    ("tanh(h)", lambda h, w: h.tanh()),
    ("exp(-h)", lambda h, w: (-h).exp()),
    ("relu(h)", lambda h, w: h.relu()),
    ("h @ w", lambda h, w: h @ w),
    ("h.T", lambda h, w: h.T),
    ("h.sum(0) + h", lambda h, w: h.sum(0) + h),
    ("h[:1] + h", lambda h, w: h[:1] + h),
    ("softmax(h)", lambda h, w: h.softmax(-1)),
]


def chain(
    step: Step, start: Any, weight: Any, seed: Any, length: int = LENGTH
) -> Callable[[], tuple[Any, Any]]:
    """A forward and a backward pass through a chain of one op, for two gradients."""

    def run() -> tuple[Any, Any]:
        h = start
        for _ in range(length):
            h = step(h, weight)
        h.backward(seed)
        gradients = start.grad, weight.grad
        start.grad = weight.grad = None
        return gradients

    return run


def gradients(step: Step, tensors: tuple[Any, Any, Any]) -> dict[str, Any]:
    """The gradients of a chain of 5, as arrays."""
    import numpy as np

    found = zip(("h", "w"), chain(step, *tensors, length=5)(), strict=True)
    return {name: np.asarray(gradient) for name, gradient in found if gradient is not None}


def main() -> None:
    parser = _options.parser(__doc__, seconds=2, threads=1)
    options = _options.read(parser)

    import numpy as np
    from _report import disagreements, fail_if, machine, ratios, spread, table
    from _turns import take_turns
    from _worker import turn
    from peers import PYTORCH

    import minigrad

    rng = np.random.default_rng(0)
    start, seed = rng.standard_normal((2, 8, 8), np.float32)
    weight = rng.standard_normal((8, 8), np.float32) * np.float32(0.3) + 1
    ours = [minigrad.tensor(x, requires_grad=True) for x in (start, weight)]
    given = {"minigrad": (*ours, minigrad.tensor(seed))}
    if PYTORCH.installed:
        import torch

        torch.set_num_threads(options.threads)
        theirs = [torch.tensor(x, requires_grad=True) for x in (start, weight)]
        given["PyTorch"] = (*theirs, torch.tensor(seed))

    print(f"{machine(options.threads)}\n", flush=True)
    rows, medians, faults = [], [], []
    for name, step in OPS:
        turns = {title: partial(turn, chain(step, *tensors)) for title, tensors in given.items()}
        with np.errstate(all="ignore"):
            taken = take_turns(turns, options.seconds, options.least, pause=0, length=0.01)
        times = [
            spread([seconds / LENGTH * 1e6 for runs in rounds for seconds in runs])
            for rounds in taken.values()
        ]
        if len(taken) == 1:
            rows.append([name, *times, "not installed", ""])
            continue
        ratio = ratios(*taken.values())
        medians.append(statistics.median(ratio))
        rows.append([name, *times, spread(ratio)])
        answers = [gradients(step, tensors) for tensors in given.values()]
        faults += [f"{name}: gradient of {line}" for line in disagreements(*answers)[1]]
    if medians:
        rows.append(["geometric mean", "", "", f"{statistics.geometric_mean(medians):.2f}"])
    what = ["minigrad µs (quartiles)", "PyTorch µs (quartiles)", "ratio (quartiles)"]
    print(table(["op", *what], rows))
    fail_if(faults)


if __name__ == "__main__":
    main()
