"""Run an op or its rule again, for a finite difference, or to estimate rounding."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.autograd.engine import Update, unbroadcast
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.mode import State, state
from minigrad.autograd.node import Edge, Node, data_of
from minigrad.autograd.primitives import Primitive
from minigrad.checking.op_checks import Check, check_argument
from minigrad.debugging.memory import arrays
from minigrad.support.tree import mapped

LARGEST = 100_000
"""The most elements of an array of which differences are taken, and that are kept of a step."""


@contextmanager
def aside(*observers: Observer, recording: bool = False) -> Iterator[None]:
    """Within the block nothing warns, only these observers watch, and ops are recorded or not."""
    outer = state.get()
    try:
        state.set(State(recording, outer.frame if observers else None, observers))
        with np.errstate(all="ignore"):
            yield
    finally:
        state.set(outer)


@contextmanager
def unchanged(objects: Iterable[Any]) -> Iterator[None]:
    """Restore the attributes of objects after the block, such as a custom Function's context."""
    before = [(vars(one), {**vars(one)}) for one in objects if hasattr(one, "__dict__")]
    try:
        yield
    finally:
        for now, attributes in before:
            now.clear()
            now.update(attributes)


def checked(call: Call, slot: int, cotangents: Sequence[np.ndarray], sent: np.ndarray) -> Check:
    """Compare what a step sent to the argument `slot` with differences, beside the run."""
    if call.op.side_effects:  # a collective op would wait for the other ranks
        return Check(None, "an op with side effects is not run again")
    sizes = (array.size for array in arrays([data_of(value) for value in call.given]))
    if max(sizes, default=0) > LARGEST:
        return Check(None, f"more than {LARGEST:,} elements")
    with aside(recording=True), unchanged(call.residuals):
        return check_argument(call.op, call.arguments, slot, cotangents, sent)


def errors_sent(
    node: Node, cotangents: Sequence[np.ndarray], error: float, wanted: Sequence[bool]
) -> list[Any]:
    """Estimate the rounding error of what the rules of a node send, for each edge that is `wanted`.

    A rule is linear in its cotangent, and rounding leaves a small error of random sign in each
    element. So the rule, run on such errors, gives the error of what it sends, in units of the
    precision of the cotangent. `error` is the norm of the error that came with the cotangents.
    """
    if node.plan.op.side_effects:
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
    """The gradient that a rule sends to an edge, as an array."""
    if isinstance(part, Update):
        buffer = np.zeros(edge.shape, edge.dtype)
        part.add_to(buffer)
        return buffer
    array: np.ndarray = data_of(part)
    return array


def precision(array: np.ndarray) -> float:
    """The distance from 1 to the next number of the dtype of an array."""
    return float(np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps)


def given_to(
    node: Node, call: Call | None, cotangent: Any, sent: Mapping[str, np.ndarray]
) -> dict[str, Any] | None:
    """Copy what a node's rule could read; None if that cannot be used again."""
    op, plan = node.plan.op, node.plan
    values = {"g": cotangent}
    if call is not None:
        values |= {**dict(zip(op.params, call.arguments, strict=True)), "out": call.result}
    values |= dict(zip(plan.saved_names, node.saved, strict=True))
    values |= {f"g_{name}": array for name, array in sent.items()}  # a recurrence reads its own
    return copied(op, values)


def copied(op: Primitive, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Copy what an op computed with, by name; None if that is too much or cannot be used again."""
    values = {name: mapped(_copied, value) for name, value in values.items()}
    size = sum(array.size for array in arrays(tuple(values.values())))
    called = any(callable(value) and not isinstance(value, type) for value in values.values())
    if size > LARGEST or op.side_effects or called:
        return None  # a custom Function writes to its context when it runs
    for name in op.params:
        value = values.get(name)
        if op.variadic and name == op.params[0] and value is not None:
            values[f"{name}_shape"] = tuple(one.shape for one in value)
            values |= {f"{name}[{i}]": one for i, one in enumerate(value)}
        elif isinstance(value, np.ndarray):
            values[f"{name}_shape"] = value.shape
    return values


def _copied(value: Any) -> Any:
    """A copy of an array, floats as float64, also for a tensor; another value as it is."""
    value = data_of(value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return np.array(value, np.float64 if value.dtype.kind == "f" else None)
