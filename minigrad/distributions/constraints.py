"""Sets of numbers: which parameters a distribution of one's own takes, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = [
    "Constraint", "boolean", "dependent_property", "greater_than", "greater_than_eq",
    "integer_interval", "interval", "less_than", "lower_cholesky", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "real", "real_vector", "simplex", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of numbers, or of vectors.

    Args:
        name: What is printed, with places for `bounds`.
        contains: A function of an array, which says of each number whether it is in the set.
        is_discrete: Whether it is a set of separate numbers.
        event_dim: The number of last axes that are one element.
        bounds: What is printed in these places.

    Example:
        >>> from minigrad.distributions import constraints
        >>> constraints.positive, constraints.positive.check([-1.0, 2.0]).tolist()
        (GreaterThan(lower_bound=0.0), [False, True])
    """

    def __init__(
        self, name: str, contains: Callable[[Any], Any], is_discrete: bool = False,
        event_dim: int = 0, **bounds: Any,
    ) -> None:  # fmt: skip
        self._name, self._contains, self._bounds = name, contains, bounds
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value: Any) -> Tensor:
        """Say of each element whether it is in the set."""
        inside = self._contains(asarray(value))
        axes = tuple(range(-self.event_dim, 0))
        return asarray(np.all(inside, axis=axes) if axes else inside)

    def holds(self, array: np.ndarray) -> bool:
        """Say whether all elements of an array are in the set."""
        own = type(self).check is not Constraint.check  # a program's class defines it
        return bool(np.all(self.check(array) if own else self._contains(array)))

    def __repr__(self) -> str:
        return self._name.format(**self._bounds)


def greater_than(lower_bound: Any) -> Constraint:
    """Return the set of numbers above a bound. See `Constraint`."""
    name = "GreaterThan(lower_bound={bound})"
    return Constraint(name, lambda x: x > lower_bound, bound=lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Return the set of numbers of at least a bound. See `Constraint`."""
    name = "GreaterThanEq(lower_bound={bound})"
    return Constraint(name, lambda x: x >= lower_bound, bound=lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Return the set of numbers below a bound. See `Constraint`."""
    return Constraint("LessThan(upper_bound={bound})", lambda x: x < upper_bound, bound=upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the set of numbers from one bound to another. See `Constraint`."""
    return Constraint(
        "Interval(lower_bound={low}, upper_bound={high})",
        lambda x: (x >= lower_bound) & (x <= upper_bound), low=lower_bound, high=upper_bound,
    )  # fmt: skip


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the set of whole numbers from one bound to another. See `Constraint`."""
    return Constraint(
        "IntegerInterval(lower_bound={low}, upper_bound={high})",
        lambda x: (x >= lower_bound) & (x <= upper_bound) & (x == np.floor(x)), is_discrete=True,
        low=lower_bound, high=upper_bound,
    )  # fmt: skip


def _has_sum_one(x: Any) -> Any:
    return np.abs(np.sum(x, axis=-1, keepdims=True) - 1) < 1e-6


def _is_factor(x: Any) -> Any:
    diagonal = np.diagonal(x, axis1=-2, axis2=-1)[..., None]
    return (np.tril(x) == x) & (diagonal > 0)


real = Constraint("Real()", lambda x: x == x)
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda x: x == x, event_dim=1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
nonnegative_integer = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda x: (x >= 0) & (x == np.floor(x)), is_discrete=True
)
one_hot = Constraint("OneHot()", lambda x: ((x == 0) | (x == 1)) & _has_sum_one(x), True, 1)
simplex = Constraint("Simplex()", lambda x: (x >= 0) & _has_sum_one(x), event_dim=1)
lower_cholesky = Constraint("LowerCholesky()", _is_factor, event_dim=2)


def dependent_property(function: Any = None, **options: Any) -> Any:  # noqa: ARG001 - PyTorch's
    """Make a property of a set that depends on parameters: ``@dependent_property`` of a method."""
    return property if function is None else property(function)
