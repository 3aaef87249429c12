"""The time of each op in a training step, relative to the matrix products that it needs.

The step is that of training_step.py. An observer runs every op and every rule once more, alone, and
measures its time. The rest of the step is the time of modules, of the engine, and of adding
gradients. The floor is the time that no step can avoid: the same matrix products alone, in NumPy.
"""

import argparse
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import _options

FORWARD, BACKWARD = "forward", "backward"
Product = tuple[tuple[int, ...], tuple[int, ...]]
"""The shapes of two factors of a (stacked) matrix product."""


def seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def products(name: str, shapes: list[tuple[int, ...]]) -> list[Product]:
    """The matrix products of an op and of its gradients, by the shapes of its arguments."""
    if name == "linear":  # (rows, in) and (out, in)
        rows, (out, into) = math.prod(shapes[0][:-1]), shapes[1]
        return [
            ((rows, into), (into, out)),
            ((rows, out), (out, into)),
            ((out, rows), (rows, into)),
        ]
    if name == "attention":  # scores and weighted sum; four in the backward pass
        (*stack, length, width), (*_, count, _), (*_, wide) = shapes[:3]

        def product(n: int, k: int, m: int) -> Product:
            return (*stack, n, k), (*stack, k, m)

        return [
            product(length, width, count), product(length, count, wide),
            product(count, length, wide), product(length, wide, count),
            product(length, count, width), product(count, length, width),
        ]  # fmt: skip
    return []


def floor(needed: list[Product]) -> Callable[[], None]:
    """Compute the products alone, on existing arrays."""
    import numpy as np

    def ready(shape: tuple[int, ...]) -> Any:
        return arrays.setdefault(shape, np.full(shape, 0.5, np.float32))

    arrays: dict[tuple[int, ...], Any] = {}
    jobs = [(ready(a), ready(b), np.empty((*a[:-1], b[-1]), np.float32)) for a, b in needed]

    def run() -> None:
        for a, b, out in jobs:
            np.matmul(a, b, out=out)

    return run


def watch(step: Callable[[], Any]) -> tuple[dict[tuple[str, str], float], list[Product]]:
    """The seconds of each op in one step, forward and backward, and the matrix products."""
    from minigrad import Tensor
    from minigrad.autograd import Observer

    taken: dict[tuple[str, str], float] = defaultdict(float)
    needed: list[Product] = []

    def array(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(map(array, value))
        return value._data if isinstance(value, Tensor) else value

    class Watch(Observer):
        def ran(self, call: Any) -> None:
            op, values = call.op, [array(value) for value in call.arguments]
            needed.extend(products(op.name, [getattr(value, "shape", ()) for value in values]))
            taken[op.name, FORWARD] += seconds(lambda: op.call_with(op.forward, values))

        def pulled(self, pull: Any) -> None:
            node, g, saved = pull.node, pull.cotangent, pull.node.saved
            taken[node.plan.op.name, BACKWARD] += seconds(lambda: node.plan.pull(g, *saved))

    with Watch():
        step()
    return taken, needed


def measure(size: Any, options: argparse.Namespace) -> str:
    """The table of one size."""
    from _report import significant, table
    from _turns import take_turns
    from _worker import turn
    from peers.ours import Training

    training = Training(size, dropout=0.1)
    optimizing: list[float] = []

    def gradients() -> None:
        training.optimizer.zero_grad()
        training.loss().backward()

    def step() -> None:
        gradients()
        optimizing.append(seconds(training.optimizer.step))

    watched: list[dict[tuple[str, str], float]] = []
    turns = {
        "step": partial(turn, step),
        "watched": partial(turn, lambda: watched.append(watch(gradients)[0])),
        "products": partial(turn, floor(watch(gradients)[1])),
    }
    taken = take_turns(turns, options.seconds, options.least, length=options.length)
    entire, _, bound = (
        statistics.median(s * 1e3 for runs in rounds for s in runs) for rounds in taken.values()
    )
    ms = {kind: statistics.median(one[kind] for one in watched) * 1e3 for kind in watched[0]}
    both = {name: (ms.get((name, FORWARD), 0.0), ms.get((name, BACKWARD), 0.0)) for name, _ in ms}
    optimizer = statistics.median(optimizing) * 1e3

    def row(name: str, total: float, parts: tuple[str, str] = ("", "")) -> list[str]:
        return [name, *parts, significant(total), f"{total / entire:.0%}", f"{total / bound:.0%}"]

    rows = [
        row(name, sum(parts), (significant(parts[0]), significant(parts[1])))
        for name, parts in sorted(both.items(), key=lambda item: -sum(item[1]))
    ]
    rest = entire - optimizer - sum(ms.values())
    rows.append(row("AdamW", optimizer))
    rows.append(row("modules, engine, sums", rest))
    rows.append(row("whole step", entire))
    rows.append(row("the products alone", bound))
    return table(["", "forward ms", "backward ms", "both", "of the step", "of the floor"], rows)


def main() -> None:
    parser = _options.parser(__doc__, seconds=10)
    parser.add_argument("--sizes", default="SML", help="which of S, M and L (default SML)")
    options = _options.read(parser)

    from _report import machine
    from _work import SIZES, TINY

    print(machine(options.threads), flush=True)
    for name, size in (TINY if options.quick else SIZES).items():
        if options.quick or name in options.sizes:
            size = replace(size, depth=4)
            print(f"\n{name}: {size}\n\n{measure(size, options)}", flush=True)


if __name__ == "__main__":
    main()
