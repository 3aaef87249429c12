"""Check the rule of one op for one argument, at the values of a call: for errors and for drawings.

Everything is computed in float64. At a kink the rule is checked beside it, at a point so far away
that no step comes back to it: at the kink itself a rule may choose what it sends.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.call import call_path, wrap
from minigrad.autograd.node import Variable, data_of
from minigrad.autograd.primitives import Primitive
from minigrad.checking.comparison import by_size, judged
from minigrad.checking.finite_differences import PRECISION, Probe

TOLERATED = 1e-3
"""The largest relative error of a right rule."""

BESIDE, LEAST = 0.05, 0.1
"""How far beside a kink a rule is tried: a part of an element, or of a least size; many steps."""

SIDES = ((-1.0, 1.0), (1.0,), (-1.0,), (-1.0, 1.0))
"""To which sides of a kink the elements are moved, in one attempt after the other."""

ROUNDED = 64
"""How much coarser than its dtype a gradient of the run may be."""

ATOL = PRECISION[np.dtype(np.float64)].atol
"""The least gap between two slopes that is a kink, beside the largest cotangent."""


class Check(NamedTuple):
    """The gradient of a rule, compared with a central difference in float64.

    Attributes:
        relative: The relative difference; None if it is not known.
        reason: Why nothing can be measured at the point: then `relative` is that beside it.
        kink: The slopes on both sides of the point, along one direction, if they disagree.
    """

    relative: float | None
    reason: str = ""
    kink: tuple[float, float] | None = None

    @property
    def wrong(self) -> bool:
        """Whether the rule is wrong: nothing else explains that it differs."""
        return self.relative is not None and not self.relative < TOLERATED


def check_argument(
    op: Primitive, arguments: Sequence[Any], slot: int, cotangents: Sequence[np.ndarray],
    sent: np.ndarray,
) -> Check:  # fmt: skip
    """Compare what a rule sent to the argument in `slot` with differences.

    `cotangents` are those of the outputs.
    """
    given = [_exactly(value) for value in (arguments[0] if op.variadic else arguments)]
    function = with_one_argument(op, [given, *arguments[1:]] if op.variadic else given, slot)
    point, held = given[slot], held_back(op, arguments, slot)
    if not all(np.isfinite(array).all() for array in (*cotangents, sent)):
        return Check(None, "not measurable here: the gradient is not finite")
    weights = [g.astype(np.float64) for g in cotangents]

    def at(x: np.ndarray, sent: np.ndarray | None = None) -> Check:
        found = _measured(function, x, weights, held, sent)
        if found.wrong and (mirrored := of_one_triangle(function, x)) is not None:
            return _measured(mirrored, x, weights, held)
        return found

    found = there = at(point, sent)
    if found.relative is not None:
        return found
    for attempt in range(len(SIDES)):
        if there.relative is None:
            there = at(_beside(point, attempt))
    return Check(there.relative, f"not measurable here: {found.reason}", found.kink)


class _Probe(Probe):
    """A function of one array in float64, at a point."""

    def __init__(
        self, function: Callable[[Any], Any], point: np.ndarray, weights: list[np.ndarray]
    ) -> None:
        new: Any = Variable.result_class
        moved = new(point, requires_grad=True, dtype=np.float64)
        largest = max((float(np.abs(w).max(initial=0)) for w in weights), default=0.0)
        limits = {"atol": ATOL * largest}
        super().__init__(function, [moved], {"x": moved}, limits=limits, weights=weights)

    def allowed(self, analytic: float, numeric: float, step: float, finer: float) -> float:
        """A part of the derivative, and the rounding, for which a finer step has little room."""
        size, noise = max(abs(analytic), abs(numeric)), self.rounding(step)
        return self.precision.rtol * size + (noise if finer == 1 else min(noise, size / 20))


def _measured(
    function: Callable[[Any], Any], point: np.ndarray, weights: list[np.ndarray], held: Any,
    sent: np.ndarray | None = None,
) -> Check:  # fmt: skip
    """Compare the gradient of a function at a point with differences, and with what was sent."""
    try:
        probe = _Probe(function, point, weights)
        gradient = probe.gradient()
        if not np.isfinite(gradient[0]).all():
            return Check(None, "the gradient is not finite")
        found = [judged(probe, gradient, one) for one in by_size(probe, gradient, 0, held)]
    except (ArithmeticError, AssertionError, RuntimeError, TypeError, ValueError) as error:
        return Check(None, str(error))
    sizes = (max(abs(one.entry.analytic), abs(one.numeric)) for one in found)
    errors = [0.0 if sent is None else _coarseness(sent, gradient[0], weights)]
    for one, size in zip(found, sizes, strict=True):
        if one.wrong:
            return Check(one.error / size)
        errors.append(one.excess * probe.precision.rtol)  # beside rounding, where that is larger
    for one in found:
        if one.unmeasured:
            return Check(None, one.unmeasured, one.kink)
    return Check(max(errors))


def _coarseness(sent: np.ndarray, exact: np.ndarray, weights: Sequence[np.ndarray]) -> float:
    """The relative error of a gradient that was sent, beside that of the same rule in float64."""
    eps = float(np.finfo(sent.dtype).eps)
    # If the terms of a large cotangent cancel, only rounding is left.
    rounding = np.sqrt(eps * exact.size) * np.sqrt(sum(float((w * w).sum()) for w in weights))
    error = float(np.linalg.norm((sent - exact).ravel()))
    relative = error / max(float(np.linalg.norm(exact.ravel())), float(rounding), 1e-300)
    return relative if relative > ROUNDED * eps else 0.0


def _beside(point: np.ndarray, attempt: int) -> np.ndarray:
    """A point beside another one, far from it in every element."""
    rng = np.random.default_rng(attempt)
    typical = float(np.sqrt(np.square(point).mean())) if point.size else 0.0
    far = BESIDE * np.maximum(np.abs(point), max(typical, LEAST))
    sides = rng.choice(SIDES[attempt], point.shape)
    return np.asarray(point + far * sides * rng.uniform(1, 2, point.shape))


def _exactly(value: Any) -> Any:
    """The array of a tensor, floats as float64; anything else as it is."""
    array = data_of(value)
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        return array.astype(np.float64)
    return array


def held_back(op: Primitive, arguments: Sequence[Any], slot: int) -> int | None:
    """The row of an argument that a rule gives no gradient by definition; None if there is none."""
    if not op.holds_back:
        return None
    row = arguments[op.places[op.holds_back]]
    return None if row is None else int(row) % len(data_of(arguments[slot]))


def with_one_argument(op: Primitive, arguments: Sequence[Any], slot: int) -> Callable[[Any], Any]:
    """An op as a function of the argument in `slot`, the others held fixed."""
    tensors, rest = (arguments[0], arguments[1:]) if op.variadic else (arguments, ())
    values = [wrap(v._data) if isinstance(v, Variable) else v for v in tensors]
    run = call_path(op)

    def function(x: Any) -> Any:
        now = [*values[:slot], x, *values[slot + 1 :]]
        return op.call_with(run, [now, *rest] if op.variadic else now)

    return function


def without_row(function: Callable[[Any], Any], x: np.ndarray, row: int) -> Callable[[Any], Any]:
    """A function with a row of its argument held fixed."""
    held = np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1)) == row
    return lambda y: function(ops.where(held, wrap(x), y))


def of_one_triangle(function: Callable[[Any], Any], x: np.ndarray) -> Callable[[Any], Any] | None:
    """If a function reads only one triangle of its matrices: the same with that one as the other.

    It is a function of symmetric matrices, with the same value.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return None
    upper = np.triu(np.ones(x.shape[-2:], bool), 1)
    expected = _arrays_of(function, x)
    unread = [
        all(map(np.array_equal, expected, _arrays_of(function, np.where(part, x + 1, x))))
        for part in (upper, upper.T)
    ]
    if unread == [True, False]:
        return lambda y: function(ops.tril(y) + ops.tril(y, -1).mT)
    if unread == [False, True]:
        return lambda y: function(ops.triu(y) + ops.triu(y, 1).mT)
    return None


def _arrays_of(function: Callable[[Any], Any], x: np.ndarray) -> list[Any]:
    """The results of a function for an array, as arrays; none if it refuses it."""
    try:
        found = function(wrap(x))
    except (ValueError, np.linalg.LinAlgError):
        return [None]
    return [y._data for y in (found if isinstance(found, tuple) else (found,))]
