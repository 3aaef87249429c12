"""Finite differences of a function of tensors, along lines through the given point.

The outputs are combined into one number by fixed random weights, so one gradient tests the whole
Jacobian. The tensors are moved in place: a function may take them as arguments or refer to them,
as a module refers to its parameters.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.mutation import history, mark_written
from minigrad.autograd.node import Variable
from minigrad.checking.errors import NotDifferentiableError
from minigrad.support.random_state import take_snapshots
from minigrad.transforms.evaluation import pulled
from minigrad.transforms.structure import flatten

Line = dict[int, np.ndarray]


@dataclass(frozen=True)
class Precision:
    """The step of a central difference at numbers around 1, and the errors to allow, in one dtype.

    The step is about the cube root of the machine epsilon, where rounding errors and truncation
    errors are equal.
    """

    step: float
    rtol: float
    atol: float


PRECISION = {
    np.dtype(np.float64): Precision(step=6e-6, rtol=1e-5, atol=1e-7),
    np.dtype(np.float32): Precision(step=5e-3, rtol=1e-2, atol=2e-3),
    np.dtype(np.float16): Precision(step=1e-1, rtol=1e-1, atol=1e-1),
}


REFUSALS = ArithmeticError, RuntimeError, ValueError
"""Errors by which a function refuses an input that is not in its domain."""

ROUNDING = 8
"""The rounding error of a function, in units of the precision of its outputs."""


class Probe:
    """A function at a point: its gradient, and its slopes along lines through the point.

    The function is called with `arguments`, and returns a tensor, or tuples, lists and dicts of
    them. The tensors in `moved` require grad. `seed` chooses the weights of the outputs, if none
    are given. `limits` are the step and the tolerances that a user asked for in the place of those
    of the dtype.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[Any], moved: dict[str, Any],
        seed: int = 0, limits: Mapping[str, float] = {},
        weights: list[np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.function = function
        self.arguments = arguments
        self.names = list(moved)
        self.tensors = list(moved.values())
        self.refusal = ""  # the last error that the function raised a step away
        self._again = take_snapshots()
        self._shapes: list[tuple[str, tuple[int, ...]]] = []  # of the outputs
        self._fixed = False
        first = self._arrays()
        second = first if weights is not None else self._arrays()  # an op is known to be repeatable
        same = len(first) == len(second) and all(
            np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True)
        )
        if not same:
            raise RuntimeError(
                "gradcheck: two calls of the function with the same inputs gave different outputs; "
                "a function of numbers that it draws itself has no difference to compare with"
            )
        self._fixed = True
        rng = np.random.default_rng([seed, 0])
        # Of one number, the error message shows the derivative itself.
        one = sum(array.size for array in first) == 1
        self.weights = weights if weights is not None else []
        for array in first if weights is None else ():
            self.weights.append(np.ones(array.shape) if one else rng.standard_normal(array.shape))
        self.at_point = self._weighted(first)
        dtypes = [tensor._data.dtype for tensor in self.tensors]
        dtypes += [array.dtype for array in first if array.dtype.kind == "f"]
        least = min(dtypes, key=lambda dtype: dtype.itemsize)
        self.precision = dataclasses.replace(PRECISION[least], **limits)
        self._rounded = ROUNDING * float(np.finfo(least).eps)
        self._sizes = self._weighted(first, np.abs), 0.0

    def outputs(self) -> list[Any]:
        """The tensors that the function returns, from the same random state each time."""
        with self._again():
            result = self.function(*self.arguments)
        named = flatten(result, "output")
        for name, output in named:
            if not isinstance(output, Variable):
                raise TypeError(f"gradcheck: the {name} must be a tensor, got {output!r}")
        shapes = [(name, output.shape) for name, output in named]
        if self._fixed and shapes != self._shapes:
            before, now = (
                ", ".join([f"{name} {shape}" for name, shape in some]) or "none"
                for some in (self._shapes, shapes)
            )
            raise NotDifferentiableError(
                f"gradcheck: the shapes of the outputs depend on the values of the inputs: "
                f"{before}, and after a small step {now}; such a function has no derivative here"
            )
        self._shapes = shapes
        return [output for _, output in named]

    def _arrays(self) -> list[np.ndarray]:
        return [output._data for output in self.outputs()]

    def _weighted(
        self, arrays: Sequence[np.ndarray], part: Callable[[Any], Any] = np.asarray
    ) -> float:
        """The weighted sum, or that of a `part` of each product; what has no weight may be inf."""
        pairs = zip(self.weights, arrays, strict=True)
        products = (w[w != 0] * np.asarray(a, np.float64)[w != 0] for w, a in pairs)
        return float(sum(part(product).sum() for product in products))

    def gradient(self) -> list[np.ndarray]:
        """The gradient of the weighted sum by automatic differentiation, an array per tensor."""
        found = self.pull(self.outputs())
        moved = (tensor._data.astype(float) for tensor in self.tensors)
        with np.errstate(invalid="ignore"):  # 0 * inf
            products = [np.abs(g * x) for g, x in zip(found, moved, strict=True)]
        sizes = sum(float(one[np.isfinite(one)].sum()) for one in products)
        self._sizes = self._sizes[0], sizes
        return found

    def pull(self, outputs: Sequence[Any]) -> list[np.ndarray]:
        """The same from the outputs of a call."""
        weights = [w.astype(y.dtype) for w, y in zip(self.weights, outputs, strict=True)]
        found = pulled(outputs, self.tensors, weights, create=False)
        return [gradient._data.astype(float) for gradient in found]

    def allowed(self, analytic: float, numeric: float, step: float, finer: float) -> float:  # noqa: ARG002
        """The error that a difference with this step may have, the usual one times `finer`."""
        return self.precision.atol + self.precision.rtol * max(abs(analytic), abs(numeric))

    def rounding(self, step: float) -> float:
        """The rounding error of a difference with this step, of the outputs and of the inputs."""
        return self._rounded * sum(self._sizes) / step

    def step(self, size: float) -> float:
        """The step of a difference at numbers of the given size."""
        return self.precision.step * max(1.0, size)

    def along(self, line: Line, step: float) -> tuple[float, float]:
        """The slopes of the weighted sum along a line, from the right and from the left.

        Their mean is the central difference. It is NaN where the function raises an error.
        """
        kept = {k: self.tensors[k]._data.copy() for k in line}
        values = []
        try:
            for distance in (step, -step):
                for k, direction in line.items():
                    self.tensors[k]._data[...] = kept[k] + distance * direction
                    mark_written(self.tensors[k]._data)
                try:
                    with np.errstate(all="ignore"):  # the user gave other numbers
                        values.append(self._weighted(self._arrays()))
                except REFUSALS as error:
                    self.refusal = f"{type(error).__name__}: {error}"
                    values.append(np.nan)
        finally:
            for k in line:
                self.tensors[k]._data[...] = kept[k]
                mark_written(self.tensors[k]._data)
        return (values[0] - self.at_point) / step, (self.at_point - values[1]) / step

    def central(self, line: Line, step: float) -> float:
        """The central difference of the weighted sum along a line."""
        right, left = self.along(line, step)
        return (right + left) / 2

    def random_lines(self, count: int, seed: int) -> list[Line]:
        """Directions of length 1 over all tensors together."""
        rng = np.random.default_rng([seed, 1])
        lines = []
        for _ in range(count):
            drawn = [rng.standard_normal(tensor.shape) for tensor in self.tensors]
            length = np.sqrt(sum(float((d * d).sum()) for d in drawn))
            lines.append({k: d / length for k, d in enumerate(drawn)})
        return lines

    def norm(self) -> float:
        """The Euclidean norm of all tensors together."""
        squares = (float((t._data.astype(float) ** 2).sum()) for t in self.tensors)
        return float(np.sqrt(sum(squares)))


def moved_tensors(function: Callable[..., Any], arguments: Sequence[Any]) -> dict[str, Any]:
    """The tensors that require grad, with names: arguments as ``input 0``, parameters by paths."""
    named = [flatten(argument, f"input {i}") for i, argument in enumerate(arguments)]
    moved = {place: tensor for pairs in named for place, tensor in pairs}
    if hasattr(function, "named_parameters"):
        moved.update(function.named_parameters())
    moved = {
        name: tensor
        for name, tensor in moved.items()
        if isinstance(tensor, Variable) and history(tensor) is not None
    }
    if not moved:
        raise ValueError("gradcheck: no input requires grad, and no parameter of a module")
    return moved
