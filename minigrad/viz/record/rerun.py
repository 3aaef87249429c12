"""Run an op or its rule again, for a finite difference, or to estimate rounding."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.api import grad
from minigrad.autograd.call import call_path
from minigrad.autograd.engine import Update, unbroadcast
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.mode import State, state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Node, data_of
from minigrad.autograd.primitives import Primitive
from minigrad.debugging.memory import arrays
from minigrad.support.tree import mapped
from minigrad.tensors.creation import tensor
from minigrad.viz.record.steps import norm

LARGEST = 100_000
"""The most elements of an array of which differences are taken, and that are kept of a step."""

STEP = 6e-6
"""Of a difference, for points of norm 1 or less."""

TOLERATED = 1e-3
"""The largest relative difference of a right rule."""

DIRECTIONS, BESIDE = 8, 1e-3
"""In how many directions a kink is looked for, and how far beside it the rule is tried instead."""


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


def runs_alone(op: Primitive) -> bool:
    """Whether an op may run again: a collective one would wait for the other ranks."""
    return not op.side_effects


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


class Check(NamedTuple):
    """The gradient of a rule, compared with a central difference in float64.

    Attributes:
        relative: The relative difference, None if it is not known; at a kink that beside it.
        reason: Why it is not known.
        kink: The slopes on both sides of the point, along one direction, if they disagree.
    """

    relative: float | None
    reason: str = ""
    kink: tuple[float, float] | None = None


def checked(call: Call, slot: int, cotangents: Sequence[np.ndarray], sent: np.ndarray) -> Check:
    """Compare what a step sent to the argument `slot` with differences along random directions."""
    op = call.op
    if not runs_alone(op):
        return Check(None, "an op with side effects is not run again")
    given = list(call.arguments[0]) if op.variadic else list(call.arguments)
    plain = [data_of(v) for v in given]
    if max((a.size for a in plain if isinstance(a, np.ndarray)), default=0) > LARGEST:
        return Check(None, f"more than {LARGEST:,} elements")
    exact = [
        a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
        for a in plain
    ]
    around = _Surroundings(call, slot, cotangents, exact)
    point = exact[slot]
    try:
        with aside(), unchanged(call.residuals):
            relative, kink = around.error(point, sent), None
            unknown = "the gradient is not finite"
            if not relative < TOLERATED and (kink := around.kink(point)) is not None:
                typical = max(norm(point) / math.sqrt(max(point.size, 1)), 1e-2)
                noise = np.random.default_rng(0).standard_normal(point.shape)
                beside = point + BESIDE * np.maximum(np.abs(point), typical) * noise
                relative = around.error(beside, around.gradient(beside))
                unknown = "there is no slope"
            known = np.isfinite(relative)
            return Check(relative, kink=kink) if known else Check(None, unknown, kink)
    except (ArithmeticError, TypeError, ValueError) as error:
        return Check(None, str(error))


class _Surroundings:
    """An op as a function of one argument: the sum of its outputs times their cotangents."""

    def __init__(
        self, call: Call, slot: int, cotangents: Sequence[np.ndarray], exact: list[Any]
    ) -> None:
        self.op, self.run, self.slot, self.exact = call.op, call_path(call.op), slot, exact
        self.rest = call.arguments[1:]
        self.cotangents = [g.astype(np.float64) for g in cotangents]

    def outputs(self, x: Any) -> tuple[Any, ...]:
        now = [*self.exact[: self.slot], x, *self.exact[self.slot + 1 :]]
        result = self.op.call_with(self.run, [now, *self.rest] if self.op.variadic else now)
        return result if isinstance(result, tuple) else (result,)

    def value(self, x: np.ndarray) -> float:
        outputs = self.outputs(np.asarray(x))
        pairs = zip(self.cotangents, outputs, strict=True)
        return sum(float((g * y._data).sum()) for g, y in pairs)

    def direction(self, point: np.ndarray, number: int) -> np.ndarray:
        found = np.random.default_rng(number).standard_normal(point.shape)
        return np.asarray(found / max(norm(found), 1e-300))

    def error(self, point: np.ndarray, sent: np.ndarray) -> float:
        """The relative difference along one direction between a gradient and a difference."""
        step, way = STEP * max(1.0, norm(point)), self.direction(point, self.slot)
        numeric = (self.value(point + step * way) - self.value(point - step * way)) / (2 * step)
        analytic = float((sent.astype(np.float64) * way).sum())
        scale = max(abs(analytic), abs(numeric), self.scale(sent))
        return abs(analytic - numeric) / scale if scale else 0.0

    def scale(self, sent: np.ndarray) -> float:
        """A typical entry. If the terms of a large cotangent cancel, only rounding is left."""
        rounding = math.sqrt(precision(sent)) * math.hypot(*map(norm, self.cotangents))
        return max(norm(sent) / math.sqrt(max(sent.size, 1)), rounding)

    def kink(self, point: np.ndarray) -> tuple[float, float] | None:
        """The slopes on both sides, along the first of some directions in which they disagree."""
        step, here = STEP * max(1.0, norm(point)), self.value(point)
        for number in range(self.slot, self.slot + DIRECTIONS):
            way = self.direction(point, number)
            after = (self.value(point + step * way) - here) / step
            before = (here - self.value(point - step * way)) / step
            if abs(after - before) > TOLERATED * max(abs(after), abs(before)):
                return before, after
        return None

    def gradient(self, point: np.ndarray) -> np.ndarray:
        """The gradient of the rule at another point."""
        x = tensor(point, requires_grad=True)
        with aside(recording=True):
            outputs = [(y, g) for y, g in zip(self.outputs(x), self.cotangents, strict=True)
                       if history(y) is not None]  # fmt: skip
            (found,) = grad([y for y, _ in outputs], x, [g for _, g in outputs])
        return np.asarray(found._data)


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
    node: Node,
    call: Call | None,
    cotangent: Any,
    sent: Mapping[str, np.ndarray],
) -> dict[str, Any] | None:
    """Copy what a node's rule could read; None if that cannot be used again."""
    op, plan = node.plan.op, node.plan
    values = {"g": cotangent}
    if call is not None:
        values |= {**dict(zip(op.params, call.arguments, strict=True)), "out": call.result}
    values |= dict(zip(plan.saved_names, node.saved, strict=True))
    values |= {f"g_{name}": array for name, array in sent.items()}  # a recurrence reads its own
    values = {name: mapped(_copied, value) for name, value in values.items()}
    size = sum(array.size for array in arrays(tuple(values.values())))
    if size > LARGEST or not runs_alone(op) or _writes(values):
        return None  # a custom Function writes to its context when it runs
    for name in op.params:
        value = values.get(name)
        if op.variadic and name == op.params[0] and value is not None:
            values[f"{name}_shape"] = tuple(one.shape for one in value)
            values |= {f"{name}[{i}]": one for i, one in enumerate(value)}
        elif isinstance(value, np.ndarray):
            values[f"{name}_shape"] = value.shape
    return values


def _writes(values: Mapping[str, Any]) -> bool:
    """Whether a function is among the arguments: when it runs again, it may change something."""
    return any(callable(value) and not isinstance(value, type) for value in values.values())


def _copied(value: Any) -> Any:
    """A copy of an array, floats as float64, also for a tensor; another value as it is."""
    value = data_of(value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return np.array(value, np.float64 if value.dtype.kind == "f" else None)
