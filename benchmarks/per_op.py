"""The cost of one recorded op on 8x8 float32, forward and backward, beside PyTorch eager.

Run `python benchmarks/per_op.py`. Each op is repeated in a chain of 50, then the chain is
differentiated; both libraries take turns in one process, on one thread. PyTorch is optional:
without it only our own times are printed.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy loads

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad

try:
    import torch
except ImportError:
    torch = None

LENGTH = 50
Step = Callable[[Any, Any], Any]

OPS: list[tuple[str, Step, Step]] = [
    ("h + w", lambda h, w: h + w, lambda h, w: h + w),
    ("h * w", lambda h, w: h * w, lambda h, w: h * w),
    ("h / w", lambda h, w: h / w, lambda h, w: h / w),
    ("h * 1.01", lambda h, w: h * 1.01, lambda h, w: h * 1.01),
    ("-h", lambda h, w: -h, lambda h, w: -h),
    ("tanh(h)", lambda h, w: h.tanh(), lambda h, w: h.tanh()),
    ("exp(-h)", lambda h, w: (-h).exp(), lambda h, w: (-h).exp()),
    ("relu(h)", lambda h, w: h.relu(), lambda h, w: h.relu()),
    ("h @ w", lambda h, w: h @ w, lambda h, w: h @ w),
    ("h.T", lambda h, w: h.T, lambda h, w: h.T),
    ("h.sum(0) + h", lambda h, w: h.sum(0) + h, lambda h, w: h.sum(0) + h),
    ("h[:1] + h", lambda h, w: h[:1] + h, lambda h, w: h[:1] + h),
    ("softmax(h)", lambda h, w: h.softmax(-1), lambda h, w: h.softmax(-1)),
]


def chain(step: Step, start: Any, weight: Any, seed: Any) -> Callable[[], None]:
    """One forward and backward pass through `LENGTH` repetitions of an op."""

    def run() -> None:
        h = start
        for _ in range(LENGTH):
            h = step(h, weight)
        h.backward(seed)
        start.grad = weight.grad = None

    return run


def interleaved(runs: list[Callable[[], None]], rounds: int) -> list[float]:
    """The median time per op in microseconds of each of several runs that take turns."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(rounds):
        for run, taken in zip(runs, times, strict=True):
            begin = time.perf_counter()
            run()
            taken.append((time.perf_counter() - begin) / LENGTH * 1e6)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200, help="turns per op (default 200)")
    rounds = parser.parse_args().rounds

    rng = np.random.default_rng(0)
    start = rng.standard_normal((8, 8)).astype(np.float32)
    weight = (rng.standard_normal((8, 8)) * 0.3 + 1).astype(np.float32)
    ours = [minigrad.tensor(x, requires_grad=True) for x in (start, weight)]
    seed = minigrad.ones(8, 8)
    if torch is not None:
        torch.set_num_threads(1)
        theirs = [torch.tensor(x, requires_grad=True) for x in (start, weight)]
        torch_seed = torch.ones(8, 8)

    print(f"{'op':16}{'minigrad us':>14}{'PyTorch us':>14}{'ratio':>8}")
    ratios = []
    for name, step, torch_step in OPS:
        runs = [chain(step, *ours, seed)]
        if torch is not None:
            runs.append(chain(torch_step, *theirs, torch_seed))
        with np.errstate(all="ignore"):
            taken = interleaved(runs, rounds)
        if torch is None:
            print(f"{name:16}{taken[0]:14.2f}{'-':>14}{'-':>8}")
            continue
        ratios.append(taken[0] / taken[1])
        print(f"{name:16}{taken[0]:14.2f}{taken[1]:14.2f}{ratios[-1]:8.2f}")
    if ratios:
        print(f"{'geometric mean':44}{statistics.geometric_mean(ratios):8.2f}")


if __name__ == "__main__":
    main()
