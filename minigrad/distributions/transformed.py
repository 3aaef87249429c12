"""Distributions made of others: batches that are one value, and functions of a value."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.distributions.constraints import Constraint, real, unit_interval
from minigrad.distributions.distribution import Distribution, kl_divergence, summed
from minigrad.distributions.transforms import Transform
from minigrad.ops._numerics import values_of
from minigrad.tensors.creation import Size
from minigrad.tensors.tensor import Tensor


class _Made(Distribution):
    """Distributions whose first axes of a value are axes of the batch of `base_dist`."""

    def __init__(
        self, base: Distribution, event_dim: int, shape: tuple[int, ...], validate_args: bool | None
    ) -> None:
        """Take the distribution; `shape` is that of a sample, its last axes are one value."""
        self.base_dist, self.has_rsample = base, base.has_rsample
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args)

    @property
    def support(self) -> Constraint:
        raise NotImplementedError(f"{type(self).__name__} does not define support")

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        larger, shape = copy.copy(self), (*batch_shape, *self.event_shape)
        axes = len(shape) - len(self.base_dist.event_shape)
        larger.base_dist = self.base_dist.expand(shape[:axes])
        larger.batch_shape = Size(batch_shape)
        return larger


class Independent(_Made):
    """Distributions in which the last axes of another's batch are axes of one value.

    So the log_prob of a vector of independent elements is the sum over them.

    Args:
        base_distribution: The other distribution.
        reinterpreted_batch_ndims: The number of axes.
        validate_args: As in `Distribution`.

    Attributes:
        base_dist: The other distribution.

    Raises:
        ValueError: Its batch has fewer axes.

    Example:
        >>> import minigrad
        >>> from minigrad.distributions import Independent, Normal
        >>> vector = Independent(Normal(minigrad.zeros(2, 3), 1.0), 1)
        >>> vector.batch_shape, vector.event_shape, vector.log_prob(minigrad.zeros(2, 3)).shape
        (minigrad.Size([2]), minigrad.Size([3]), minigrad.Size([2]))
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base, axes = base_distribution, reinterpreted_batch_ndims
        if not 0 <= axes <= len(base.batch_shape):
            raise ValueError(
                "Independent: reinterpreted_batch_ndims must be from 0 to "
                f"{len(base.batch_shape)}, the number of axes of the batch of {base}, got {axes}"
            )
        self.reinterpreted_batch_ndims = axes
        shape = base.batch_shape + base.event_shape
        super().__init__(base, axes + len(base.event_shape), shape, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Tensor:
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def kl(self, other: Independent) -> Tensor:
        if self.event_shape != other.event_shape:
            raise NotImplementedError(f"kl_divergence: got {self} and {other}, of other shapes")
        found = kl_divergence(self.base_dist, other.base_dist)
        return summed(found, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(_Made):
    """Distributions of a function of a value: y = f(x), where x has another distribution.

    Args:
        base_distribution: The distribution of x.
        transforms: One transform, or a list of them; the first is applied first.
        validate_args: As in `Distribution`.

    Attributes:
        base_dist: The distribution of x.
        transforms: The list of transforms.

    Raises:
        ValueError: A transform is not a `Transform`.

    Example:
        >>> from minigrad.distributions import ExpTransform, Normal, TransformedDistribution
        >>> log_normal = TransformedDistribution(Normal(0.0, 1.0), ExpTransform())
        >>> round(log_normal.log_prob(2.0).item(), 4), log_normal.cdf(1.0).item()
        (-1.8523, 0.5)
    """

    def __init__(
        self, base_distribution: Distribution, transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not (
            isinstance(self.transforms, list)
            and all(isinstance(transform, Transform) for transform in self.transforms)
        ):
            raise ValueError(
                f"TransformedDistribution: a transform or a list of them expected, got {transforms}"
            )
        base, event_dim = base_distribution, len(base_distribution.event_shape)
        before = shape = (*base.batch_shape, *base.event_shape)
        for transform in self.transforms:
            shape = transform.forward_shape(shape)
        if shape != before:
            base = base.expand(shape[: len(shape) - event_dim])
        inner = max((transform.event_dim for transform in self.transforms), default=0)
        if inner > event_dim:
            base = Independent(base, inner - event_dim)
        super().__init__(base, max(inner, event_dim), shape, validate_args)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._moved(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._moved(self.base_dist.rsample(sample_shape))

    def _moved(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def _moved_back(self, method: str, value: Any) -> tuple[Tensor, Any]:
        """The value x of which this one is the function, and the log of the slope there."""
        slope: Any = 0.0
        y, axes = self._values(method, value, real), len(self.event_shape)
        for transform in reversed(self.transforms):
            with np.errstate(invalid="ignore"):  # outside of what it reaches
                x = transform.inv(y)
            if self._validate_args and np.isnan(values_of(x)).any():
                raise ValueError(
                    f"{type(self).__name__}.{method}: {type(transform).__name__} does not reach "
                    f"all of {value}"
                )
            log_det = transform.log_abs_det_jacobian(x, y)
            slope, y = slope + summed(log_det, axes - transform.event_dim), x
        return y, slope

    def log_prob(self, value: Any) -> Tensor:
        x, slope = self._moved_back("log_prob", value)
        return self.base_dist.log_prob(x) - slope

    def cdf(self, value: Any) -> Tensor:
        return self._rising(self.base_dist.cdf(self._moved_back("cdf", value)[0]))

    def icdf(self, value: Any) -> Tensor:
        return self._moved(
            self.base_dist.icdf(self._rising(self._values("icdf", value, unit_interval)))
        )

    def _rising(self, share: Tensor) -> Tensor:
        """The share from the other end, where the transforms decrease."""
        for transform in self.transforms:
            share = transform.sign * (share - 0.5) + 0.5
        return share
