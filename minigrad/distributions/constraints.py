"""Sets of numbers: which parameters a distribution of one's own takes, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad import ops
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = [
    "Constraint", "boolean", "dependent_property", "greater_than", "greater_than_eq", "interval",
    "less_than", "nonnegative", "nonnegative_integer", "positive", "real", "real_vector", "simplex",
    "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of numbers, or of vectors.

    Args:
        name: What is printed.
        contains: A function of a tensor, which says of each number whether it is in the set.
        is_discrete: Whether it is a set of separate numbers.
        event_dim: The number of last axes that are one element.

    Example:
        >>> from minigrad.distributions import constraints
        >>> constraints.positive, constraints.positive.check([-1.0, 2.0]).tolist()
        (GreaterThan(lower_bound=0.0), [False, True])
    """

    def __init__(
        self, name: str, contains: Callable[[Tensor], Any], is_discrete: bool = False,
        event_dim: int = 0,
    ) -> None:  # fmt: skip
        self._name, self._contains = name, contains
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value: Any) -> Tensor:
        """Say of each element whether it is in the set."""
        inside: Tensor = self._contains(asarray(value))
        return ops.all(inside, axis=tuple(range(-self.event_dim, 0))) if self.event_dim else inside

    def __repr__(self) -> str:
        return self._name


def greater_than(lower_bound: Any) -> Constraint:
    """Return the set of numbers above a bound. See `Constraint`."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Return the set of numbers of at least a bound. See `Constraint`."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda x: x >= lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Return the set of numbers below a bound. See `Constraint`."""
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda x: x < upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the set of numbers from one bound to another. See `Constraint`."""
    name = f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})"
    return Constraint(name, lambda x: (x >= lower_bound) & (x <= upper_bound))


real = Constraint("Real()", lambda x: x == x)
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda x: x == x, event_dim=1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
nonnegative_integer = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda x: (x >= 0) & (x == ops.floor(x)), is_discrete=True
)
simplex = Constraint(
    "Simplex()",
    lambda x: (x >= 0) & (ops.abs(ops.sum(x, axis=-1, keepdims=True) - 1) < 1e-6), event_dim=1,
)  # fmt: skip


def dependent_property(function: Any = None, **options: Any) -> Any:  # noqa: ARG001 - PyTorch's
    """Make a property of a set that depends on parameters: ``@dependent_property`` of a method."""
    return property if function is None else property(function)
