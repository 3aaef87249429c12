"""L-BFGS: a quasi-Newton method for losses of the whole data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.events import effect
from minigrad.autograd.grad_mode import enable_grad
from minigrad.optim.optimizer import Optimizer, Params, State, options_of
from minigrad.support.checks import check_choice, check_size
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

_COUNTS = {"func_evals", "n_iter"}
_VECTORS = {"d", "prev_flat_grad", "old_dirs", "old_stps"}


class LBFGS(Optimizer):
    r"""L-BFGS: steps along -H g, where H approximates the inverse of the Hessian.

    H is computed from the last `history_size` steps s and the changes y of the gradient (two-loop
    recursion). One call of `step` makes up to `max_iter` such steps, each with a call of the
    closure. It is meant for the loss of all data, not for batches that change.

    Source: Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989;
    as in PyTorch.

    Args:
        params: Tensors that require gradients, in one group.
        lr: The step size; with a line search, the first step size to try.
        max_iter: The maximum number of steps in one call.
        max_eval: The maximum number of calls of the closure; max_iter · 5 / 4 if None.
        tolerance_grad: Stop if no element of the gradient is larger.
        tolerance_change: Stop if the loss, or every parameter, changes by less.
        history_size: The number of steps from which H is computed.
        line_search_fn: "strong_wolfe" to search for a step size that satisfies the strong Wolfe
            conditions; None for steps of size `lr`.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([-1.0, 2.0], requires_grad=True)
        >>> optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
        >>> def closure():  # Rosenbrock's valley
        ...     optimizer.zero_grad()
        ...     loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        ...     loss.backward()
        ...     return loss
        >>> for _ in range(3):
        ...     loss = optimizer.step(closure)
        >>> [round(value, 3) for value in x.tolist()]
        [1.0, 1.0]
    """

    _whole_only = True
    _at_least_0 = ("lr", "tolerance_grad", "tolerance_change")

    def __init__(
        self, params: Params, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_size("LBFGS", "max_iter", max_iter)
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options_of(locals()))

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        if self.param_groups:
            raise ValueError("LBFGS: all parameters are in one group, got a second one")
        super().add_param_group(param_group)

    def _check_options(self, options: Mapping[str, Any]) -> None:
        super()._check_options(options)
        for name in ("max_iter", "max_eval", "history_size"):
            check_size("LBFGS", name, options[name])
        check_choice("LBFGS", "line_search_fn", options["line_search_fn"], ("strong_wolfe", None))

    @effect
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make up to `max_iter` steps, and return the loss before them.

        The closure resets the gradients, computes the loss and its gradients, and returns the loss.
        """
        if not callable(closure):
            wanted = "a function that calls zero_grad() and backward() and returns the loss"
            raise TypeError(f"LBFGS: step(closure) needs {wanted}, got {closure!r}")
        (group,) = self.param_groups
        self._check_options(group)
        lr, least_change = float(group["lr"]), float(group["tolerance_change"])
        state = self.state.setdefault(group["params"][0], {})
        state.update({"func_evals": 0, "n_iter": 0, **state})
        first, loss, grad = self._evaluate(closure)
        if "d" in state and state["d"].size != grad.size:
            sizes = f"{grad.size} elements, in the last step {state['d'].size}"
            raise ValueError(f"LBFGS: the parameters have {sizes}; make a new optimizer")
        calls = steps = 1
        while group["tolerance_grad"] < np.abs(grad).max(initial=0.0) < math.inf:
            direction = self._direction(state, grad, group["history_size"])
            t = lr
            if state["n_iter"] == 0:
                t *= min(1.0, 1.0 / float(np.abs(grad).sum()))
            state["n_iter"] += 1
            state.update(d=direction, t=t, prev_flat_grad=grad)
            before, slope = loss, float(grad.dot(direction))
            if not slope <= -least_change:  # also for NaN
                break
            if group["line_search_fn"] is not None:
                found, tries = search(
                    self._line(closure, direction), Point(0.0, loss, grad, slope), t,
                    float(np.abs(direction).max()), least_change, group["max_eval"] - calls,
                )  # fmt: skip
                state["t"], loss, grad, _ = found
                calls += tries
            self._move(state["t"], direction)
            if steps == group["max_iter"]:
                break
            if group["line_search_fn"] is None:
                _, loss, grad = self._evaluate(closure)
                calls += 1
            if calls >= group["max_eval"] or abs(loss - before) < least_change:
                break
            if np.abs(direction * state["t"]).max() <= least_change:
                break
            steps += 1
        state["func_evals"] += calls
        return first

    def _direction(self, state: State, grad: np.ndarray, history_size: int) -> np.ndarray:
        """-H g, after H is updated with the last step."""
        if state["n_iter"] == 0:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -grad
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = grad - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = float(change.dot(step))
        if curvature > 1e-10:
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))
        for kept in (changes, steps, inverses):
            del kept[:-history_size]
        out = -grad
        shares = []
        for y, s, rho in zip(changes[::-1], steps[::-1], inverses[::-1], strict=True):
            shares.append(float(s.dot(out)) * rho)
            out -= shares[-1] * y
        out *= state["H_diag"]
        for y, s, rho, share in zip(changes, steps, inverses, shares[::-1], strict=True):
            out += (share - float(y.dot(out)) * rho) * s
        return out

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    @property
    def _dtype(self) -> np.dtype[Any]:
        """The dtype of the vectors: the parameters' common dtype, at least float32."""
        return np.result_type(np.float32, *[param.dtype for param in self._params])

    def _evaluate(self, closure: Callable[[], Any]) -> tuple[Any, float, np.ndarray]:
        """The result of the closure, as a number too, and the gradients as one new vector."""
        with enable_grad():
            loss = closure()
        grads = []
        for param in self._params:
            grad = np.zeros(param.shape) if param.grad is None else param.grad._data
            if grad.shape != param.shape:
                self._refuse("grad", grad, param)
            grads.append(grad.reshape(-1))
        return loss, float(loss), np.concatenate(grads, dtype=self._dtype, casting="same_kind")

    def _move(self, t: float, direction: np.ndarray) -> None:
        """θ ← θ + t · direction."""
        for param in self._params:
            part, direction = np.split(direction, [param._data.size])
            assign(param, param._data + (t * part).reshape(param.shape))

    def _line(self, closure: Callable[[], Any], direction: np.ndarray) -> Callable[[float], Point]:
        """The loss as a function of the step size; each call restores the parameters."""
        origin = [param._data.copy() for param in self._params]

        def at(t: float) -> Point:
            self._move(t, direction)
            try:
                _, loss, grad = self._evaluate(closure)
            finally:
                for param, values in zip(self._params, origin, strict=True):
                    assign(param, values)
            return Point(t, loss, grad, float(grad.dot(direction)))

        return at

    def _restored(self, number: int, param: Tensor, saved: Mapping[str, Any]) -> State:
        every = {*_COUNTS, *_VECTORS, "t", "ro", "H_diag"}
        given = saved.keys() - {"al", "prev_loss"}  # PyTorch stores these; nothing reads them
        if param is not self._params[0] or given not in (_COUNTS, every):
            wanted = f"{sorted(every)} of parameter 0 expected, for all of them"
            raise ValueError(
                f"LBFGS: the state of parameter {number} has {sorted(saved)}; {wanted}"
            )
        size = sum(param._data.size for param in self._params)

        def restored(name: str, value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [restored(name, entry) for entry in value]
            array, shape = np.asarray(value), (size,) if name in _VECTORS else ()
            if array.shape != shape:
                raise ValueError(f"LBFGS: {name} has shape {array.shape}, {shape} expected")
            if shape:
                return array.astype(self._dtype)
            return int(array) if name in _COUNTS else float(array)

        state = {name: restored(name, saved[name]) for name in saved if name in given}
        if len({len(state[name]) for name in ("old_dirs", "old_stps", "ro") if name in state}) > 1:
            raise ValueError("LBFGS: old_dirs, old_stps and ro of a state have different lengths")
        return state


# A line search for a step size that satisfies the strong Wolfe conditions.
#
# Source: Nocedal and Wright, "Numerical optimization", 2006, chapter 3.5; the interpolation and its
# safeguards as in minFunc (Schmidt, 2005) and PyTorch.

DECREASE = 1e-4
"""Sufficient decrease: the loss falls by at least this fraction of the linear prediction."""
CURVATURE = 0.9
"""Curvature: the slope shrinks to at most this fraction of the first slope."""


class Point(NamedTuple):
    """A point on the line: the step size, the loss, its gradient, and its slope along the line."""

    t: float
    loss: float
    grad: np.ndarray
    slope: float


def search(
    at: Callable[[float], Point], start: Point, t: float, scale: float, least_change: float,
    most_tries: int,
) -> tuple[Point, int]:  # fmt: skip
    """Find a step size from a point of negative slope; `t` is the first to try.

    It stops after `most_tries` points, or if no parameter would change by more than `least_change`;
    `scale` is the largest element of the direction. It returns the point, and the number of points
    evaluated. If no point satisfies the conditions, it is the lower end of the last interval.
    """

    def too_high(point: Point) -> bool:
        return not point.loss <= start.loss + DECREASE * point.t * start.slope  # also for NaN

    def is_flat(point: Point) -> bool:
        return abs(point.slope) <= -CURVATURE * start.slope

    # Increase the step size until a minimum lies between two points.
    before, point, tries = start, at(t), 0
    while tries < most_tries:
        if too_high(point) or (tries > 1 and point.loss >= before.loss):
            break
        if is_flat(point):
            return point, tries + 1
        if point.slope >= 0:
            break
        bounds = point.t + 0.01 * (point.t - before.t), 10 * point.t
        before, point = point, at(_lowest(before, point, bounds))
        tries += 1
    else:
        before = start

    # Shrink the interval.
    low, high = _in_order(before, point)
    cautious = False
    while tries < most_tries and abs(high.t - low.t) * scale >= least_change:
        left, right = sorted((low.t, high.t))
        t, margin = _lowest(low, high, (left, right)), 0.1 * (right - left)
        near = min(right - t, t - left) < margin
        if near and (cautious or t >= right or t <= left):
            t = right - margin if right - t < t - left else left + margin
            near = False
        cautious = near
        new = at(t)
        tries += 1
        if too_high(new) or new.loss >= low.loss:
            high = new
            low, high = _in_order(low, high)
        else:
            if is_flat(new):
                return new, tries + 1
            if new.slope * (high.t - low.t) >= 0:
                high = low
            low = new
    return low, tries + 1


def _in_order(a: Point, b: Point) -> tuple[Point, Point]:
    """The point with the smaller loss first; NaN counts as the largest."""
    return (b, a) if b.loss < a.loss or a.loss != a.loss else (a, b)


def _lowest(a: Point, b: Point, bounds: tuple[float, float]) -> float:
    """The minimum, within bounds, of the cubic with the losses and slopes of two points."""
    a, b = sorted((a, b), key=lambda point: point.t)
    length = b.t - a.t
    mean = a.slope + b.slope + 3 * (a.loss - b.loss) / length if length else math.nan
    square = mean * mean - a.slope * b.slope
    if square >= 0:
        root = math.sqrt(square)
        bend = b.slope - a.slope + 2 * root
        t = b.t - length * (b.slope + root - mean) / bend if bend else math.nan
        if math.isfinite(t):
            return min(max(t, bounds[0]), bounds[1])
    return (bounds[0] + bounds[1]) / 2
