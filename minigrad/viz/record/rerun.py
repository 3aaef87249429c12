"""Run an op or its rule again, to measure time, a finite difference, or rounding."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from minigrad.autograd.call import call_path
from minigrad.autograd.engine import Update, unbroadcast
from minigrad.autograd.events import Observer
from minigrad.autograd.mode import State, state
from minigrad.autograd.node import Edge, Node, Variable
from minigrad.autograd.primitive import Primitive
from minigrad.viz.record.steps import norm

RUNS = 3
"""How often an op is run to time it; the fastest run counts."""

LARGEST = 100_000
"""The most elements of an array of which a finite difference is taken: larger ones are slow."""

STEP = 6e-6


@contextmanager
def aside(*observers: Observer, recording: bool = False) -> Iterator[None]:
    """Within the block nothing warns, only these observers watch, and ops are recorded or not."""
    outer = state.get()
    try:
        state.set(State(recording, outer.scope if observers else None, observers))
        with np.errstate(all="ignore"):
            yield
    finally:
        state.set(outer)


def runs_alone(op: Primitive) -> bool:
    """Whether an op may run again: a collective one would wait for the other ranks."""
    return not op.side_effects


def fastest(op: Primitive, arguments: Sequence[Any]) -> float:
    """Run an op three more times, and return the seconds of the fastest run."""
    run, times = call_path(op), []
    with aside():
        for _ in range(RUNS):
            start = perf_counter()
            op.call_with(run, arguments)
            times.append(perf_counter() - start)
    return min(times)


def difference(
    op: Primitive, arguments: Sequence[Any], slot: int, cotangents: Sequence[np.ndarray], sent: Any
) -> tuple[float | None, str]:
    """Compare what a step sent to the argument `slot` with a central difference in float64.

    It returns the relative error along one random direction, or None and the reason.
    """
    if not runs_alone(op):
        return None, "an op with side effects is not run again"
    tensors = list(arguments[0]) if op.variadic else list(arguments)
    arrays = [v._data if isinstance(v, Variable) else v for v in tensors]
    if max((a.size for a in arrays if isinstance(a, np.ndarray)), default=0) > LARGEST:
        return None, f"more than {LARGEST:,} elements"
    exact = [
        a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
        for a in arrays
    ]
    point = exact[slot]
    direction = np.random.default_rng(slot).standard_normal(point.shape)
    direction /= max(norm(direction), 1e-300)
    run = call_path(op)

    def weighted(x: np.ndarray) -> float:
        now = [*exact[:slot], np.asarray(x), *exact[slot + 1 :]]
        result = op.call_with(run, [now, *arguments[1:]] if op.variadic else now)
        outputs = result if isinstance(result, tuple) else (result,)
        return sum(
            float((g.astype(np.float64) * y._data).sum())
            for g, y in zip(cotangents, outputs, strict=True)
        )

    step = STEP * max(1.0, norm(point))
    try:
        with aside():
            change = weighted(point + step * direction) - weighted(point - step * direction)
            numeric = change / (2 * step)
    except (ArithmeticError, TypeError, ValueError) as error:
        return None, str(error)
    analytic = float((sent.astype(np.float64) * direction).sum())
    typical = norm(sent) / math.sqrt(max(sent.size, 1))
    # If the terms of a large cotangent cancel, only rounding is left.
    rounding = math.sqrt(precision(sent)) * math.hypot(*map(norm, cotangents))
    scale = max(abs(analytic), abs(numeric), typical, rounding)
    relative = abs(analytic - numeric) / scale if scale else 0.0
    return (relative, "") if np.isfinite(relative) else (None, "the gradient is not finite")


def errors_sent(
    node: Node, cotangents: Sequence[np.ndarray], error: float, wanted: Sequence[bool]
) -> list[Any]:
    """Estimate the rounding error of what the rules of a node send, for each edge that is `wanted`.

    A rule is linear in its cotangent, and rounding leaves a small error of random sign in each
    element. So the rule, run on such errors, gives the error of what it sends, in units of the
    precision of the cotangent. `error` is the norm of the error that came with the cotangents.
    """
    if not runs_alone(node.plan.op):
        return [np.zeros(edge.shape, edge.dtype) for edge in node.edges]
    signs = np.random.default_rng(0)
    size = sum(g.size for g in cotangents)
    typical = error / precision(cotangents[0]) / math.sqrt(max(size, 1))
    with aside():
        noise = tuple(
            (np.hypot(g, typical) * signs.choice((-1.0, 1.0), g.shape)).astype(g.dtype)
            for g in cotangents
        )
        plan = node.plan if all(wanted) else node.plan.narrow(tuple(wanted))
        found = plan.pull(noise if node.plan.op.multiple_outputs else noise[0], *node.saved)
    return [
        None if part is None else unbroadcast(dense(part, edge), edge.shape)
        for part, edge in zip(found, node.edges, strict=True)
    ]


def dense(part: Any, edge: Edge) -> np.ndarray:
    """What a rule sends to an edge, as an array."""
    if isinstance(part, Update):
        buffer = np.zeros(edge.shape, edge.dtype)
        part.add_to(buffer)
        return buffer
    array: np.ndarray = part._data if isinstance(part, Variable) else part
    return array


def relative_difference(one: np.ndarray, other: np.ndarray, scale: float = 0.0) -> float:
    """The norm of the difference of two arrays, relative to that of one, or to `scale` if larger.

    Infinite where only one of them is finite.
    """
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(all="ignore"):
        gap = norm(np.where(same, 0, np.subtract(one, other, dtype=np.float64)))
        relative = gap / (max(norm(one[np.isfinite(one)]), scale) or 1.0)
    return relative if np.isfinite(relative) else math.inf


def precision(array: np.ndarray) -> float:
    """The distance from 1 to the next number of the dtype of an array."""
    return float(np.finfo(array.dtype).eps)
