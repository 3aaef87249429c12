"""Uniform distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minigrad import ops
from minigrad.distributions import constraints
from minigrad.distributions.constraints import Constraint
from minigrad.distributions.distribution import Family, floats
from minigrad.ops._numerics import values_of
from minigrad.tensors.tensor import Tensor


class Uniform(Family):
    """Uniform distributions: all numbers from `low` to `high`, without `high`, are alike.

    Args:
        low: The least number.
        high: The upper limit, above `low`.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A lower limit is not below the upper one, or an argument is NaN.

    Example:
        >>> from minigrad.distributions import Uniform
        >>> uniform = Uniform(1.0, 5.0)
        >>> uniform.mean.item(), uniform.cdf(2.0).item(), round(uniform.log_prob(2.0).item(), 4)
        (3.0, 0.25, -1.3863)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = floats(low, high)
        super().__init__(self.high.shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Constraint]:  # type: ignore[override]
        """The sets of the limits: `high` is above `low`."""
        return {"low": constraints.real, "high": constraints.greater_than(values_of(self.low))}

    @property
    def support(self) -> Constraint:
        return constraints.interval(values_of(self.low), values_of(self.high))

    @property
    def _width(self) -> Tensor:
        return self.high - self.low

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Tensor:
        return ops.square(self._width) / 12

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        share = self._drawn("random", sample_shape, self.low.dtype)
        return self.low + share * self._width

    def log_prob(self, value: Any) -> Tensor:
        x = values_of(self._values("log_prob", value))
        outside = (x < values_of(self.low)) | (x >= values_of(self.high))
        return ops.where(outside, -math.inf, -ops.log(self._width))

    def cdf(self, value: Any) -> Tensor:
        return ops.clip((self._values("cdf", value) - self.low) / self._width, 0, 1)

    def icdf(self, value: Any) -> Tensor:
        return self.low + self._values("icdf", value, constraints.unit_interval) * self._width

    def entropy(self) -> Tensor:
        return ops.log(self._width)

    def kl(self, other: Uniform) -> Tensor:
        low, high = values_of(self.low), values_of(self.high)
        outside = (low < values_of(other.low)) | (high > values_of(other.high))
        return ops.where(outside, math.inf, ops.log(other._width / self._width))
