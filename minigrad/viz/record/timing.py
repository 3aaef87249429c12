"""How long an op takes and how much it makes: measured apart from the trace, and said in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from minigrad.autograd.call import call_path
from minigrad.autograd.mode import State, state
from minigrad.autograd.primitive import Primitive
from minigrad.debugging.memory import readable
from minigrad.viz.record.model import Node

__all__ = ["cost", "fastest"]

RUNS = 3
"""The fastest of a few runs says most of the op, and least of what else the machine does."""


def fastest(op: Primitive, arguments: Sequence[Any]) -> float:
    """Run an op again, unrecorded and unwatched, and take the time.

    Args:
        op: The op.
        arguments: What it was called with, in the order of its parameters.

    Returns:
        The seconds that the fastest of three runs took.
    """
    run = call_path(op)
    outer = state.get()
    times = []
    try:
        state.set(State(False, None, ()))
        with np.errstate(all="ignore"):
            for _ in range(RUNS):
                start = perf_counter()
                op.call_with(run, arguments)
                times.append(perf_counter() - start)
    finally:
        state.set(outer)
    return min(times)


def cost(node: Node) -> str:
    """Say what a box cost in the forward pass.

    Args:
        node: An op, or a closed module.

    Returns:
        Its time, and the bytes that come out of an op; empty if no time was taken.

    Example:
        >>> from minigrad.viz import Node
        >>> from minigrad.viz.record.timing import cost
        >>> cost(Node("n0", "op", "exp", (64, 100), seconds=1.25e-5))
        '12.5 µs, 25.0 KiB'
    """
    if node.seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if node.seconds >= size or unit == "µs":
            time = f"{node.seconds / size:.3g} {unit}"
            break
    if node.kind == "module":
        return time
    return f"{time}, {readable(math.prod(node.shape) * np.dtype(node.dtype).itemsize)}"
