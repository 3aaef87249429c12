"""Exponential and gamma distributions, and those made of gammas: beta and Dirichlet."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from minigrad import ops
from minigrad.distributions.constraints import nonnegative, positive, simplex, unit_interval
from minigrad.distributions.distribution import Family, floats
from minigrad.tensors.tensor import Tensor


class Exponential(Family):
    r"""Exponential distributions: density :math:`\lambda e^{-\lambda x}` for x of at least 0.

    Args:
        rate: λ, above 0.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A rate is not above 0.

    Example:
        >>> from minigrad.distributions import Exponential
        >>> waiting = Exponential(2.0)
        >>> waiting.mean.item(), round(waiting.log_prob(1.0).item(), 4)
        (0.5, -1.3069)
    """

    has_rsample = True
    arg_constraints = MappingProxyType({"rate": positive})
    support = nonnegative

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = floats(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        return 1 / ops.square(self.rate)

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._drawn("standard_exponential", sample_shape, self.rate.dtype) / self.rate

    def log_prob(self, value: Any) -> Tensor:
        return ops.log(self.rate) - self.rate * self._values("log_prob", value)

    def cdf(self, value: Any) -> Tensor:
        return -ops.expm1(-self.rate * self._values("cdf", value))

    def icdf(self, value: Any) -> Tensor:
        return -ops.log1p(-self._values("icdf", value, unit_interval)) / self.rate

    def entropy(self) -> Tensor:
        return 1 - ops.log(self.rate)

    def kl(self, other: Exponential) -> Tensor:
        ratio = other.rate / self.rate
        return ratio - 1 - ops.log(ratio)


class Gamma(Family):
    r"""Gamma distributions over positive numbers.

    The density is :math:`\beta^\alpha x^{\alpha - 1} e^{-\beta x} / \Gamma(\alpha)`.

    Args:
        concentration: α, above 0.
        rate: β, above 0.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: An argument is not above 0.

    Example:
        >>> from minigrad.distributions import Gamma
        >>> gamma = Gamma(3.0, 2.0)
        >>> gamma.mean.item(), gamma.variance.item(), round(gamma.log_prob(1.0).item(), 4)
        (1.5, 0.75, -0.6137)
    """

    arg_constraints = MappingProxyType({"concentration": positive, "rate": positive})
    support = nonnegative

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = floats(concentration, rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        return self.concentration / ops.square(self.rate)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        alpha, beta = self.concentration.detach(), self.rate.detach()
        drawn = self._drawn("standard_gamma", sample_shape, np.float64, alpha) / beta
        return _above_zero(ops.astype(drawn, np.result_type(alpha.dtype, beta.dtype)))

    def log_prob(self, value: Any) -> Tensor:
        x, alpha, beta = self._values("log_prob", value), self.concentration, self.rate
        density = alpha * ops.log(beta) + ops.xlogy(alpha - 1, x) - beta * x
        return density - ops.lgamma(alpha)

    def entropy(self) -> Tensor:
        alpha = self.concentration
        return alpha - ops.log(self.rate) + ops.lgamma(alpha) + (1 - alpha) * ops.digamma(alpha)

    def kl(self, other: Gamma) -> Tensor:
        a, b = self.concentration, other.concentration
        found = b * ops.log(self.rate / other.rate) + ops.lgamma(b) - ops.lgamma(a)
        return found + (a - b) * ops.digamma(a) + (other.rate / self.rate - 1) * a


def _above_zero(samples: Tensor) -> Tensor:
    """Samples, the least positive number in the place of 0, whose density may be infinite."""
    return ops.maximum(samples, np.finfo(samples.dtype).tiny)


class Dirichlet(Family):
    """Dirichlet distributions: over positive vectors whose sum is 1.

    Args:
        concentration: Above 0, shape ``(*batch_shape, K)``; its mean is in proportion to it.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A concentration is not above 0, or there is no axis.

    Example:
        >>> from minigrad.distributions import Dirichlet
        >>> dirichlet = Dirichlet([1.0, 1.0, 2.0])
        >>> dirichlet.mean.tolist(), round(dirichlet.log_prob([0.25, 0.25, 0.5]).item(), 4)
        ([0.25, 0.25, 0.5], 1.0986)
    """

    arg_constraints = MappingProxyType({"concentration": positive})
    support = simplex

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        (self.concentration,) = floats(concentration)
        shape = self.concentration.shape
        if not shape:
            raise ValueError("Dirichlet: concentration of shape (..., K) expected, got shape ()")
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / ops.sum(self.concentration, axis=-1, keepdims=True)

    @property
    def variance(self) -> Tensor:
        total, mean = ops.sum(self.concentration, axis=-1, keepdims=True), self.mean
        return mean * (1 - mean) / (total + 1)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        alpha = self.concentration.detach()
        # A gamma of small concentration is 0, its logarithm is not: that of one more, and a power.
        logs = ops.log(self._drawn("standard_gamma", sample_shape, np.float64, alpha + 1))
        power = self._drawn("standard_exponential", sample_shape, np.float64) / alpha
        parts = ops.astype(ops.softmax(logs - power, -1), alpha.dtype)
        return ops.minimum(_above_zero(parts), 1 - np.finfo(alpha.dtype).epsneg)

    def log_prob(self, value: Any) -> Tensor:
        alpha, x = self.concentration, self._values("log_prob", value)
        return ops.sum(ops.xlogy(alpha - 1, x), axis=-1) - _log_beta(alpha)

    def entropy(self) -> Tensor:
        alpha, k = self.concentration, self.event_shape[0]
        total = ops.sum(alpha, axis=-1)
        spread = (total - k) * ops.digamma(total)
        return _log_beta(alpha) + spread - ops.sum((alpha - 1) * ops.digamma(alpha), axis=-1)

    def kl(self, other: Dirichlet) -> Tensor:
        a, b = self.concentration, other.concentration
        logs = ops.digamma(a) - ops.digamma(ops.sum(a, axis=-1, keepdims=True))
        return _log_beta(b) - _log_beta(a) + ops.sum((a - b) * logs, axis=-1)


def _log_beta(concentration: Tensor) -> Tensor:
    """The logarithm of the multivariate beta function."""
    return ops.sum(ops.lgamma(concentration), axis=-1) - ops.lgamma(ops.sum(concentration, axis=-1))


class Beta(Family):
    r"""Beta distributions over numbers from 0 to 1.

    The density is proportional to :math:`x^{\alpha - 1} (1 - x)^{\beta - 1}`.

    Args:
        concentration1: α, above 0.
        concentration0: β, above 0.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: An argument is not above 0.

    Example:
        >>> from minigrad.distributions import Beta
        >>> beta = Beta(3.0, 1.0)
        >>> beta.mean.item(), round(beta.log_prob(0.5).item(), 4)
        (0.75, -0.2877)
    """

    arg_constraints = MappingProxyType({"concentration1": positive, "concentration0": positive})
    support = unit_interval

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = floats(concentration1, concentration0)
        super().__init__(self.concentration0.shape, validate_args=validate_args)
        pair = ops.stack((self.concentration1, self.concentration0), axis=-1)
        self._pair = Dirichlet(pair, validate_args=False)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        larger = super().expand(batch_shape)
        larger._pair = self._pair.expand(batch_shape)
        return larger

    @property
    def mean(self) -> Tensor:
        return self._pair.mean[..., 0]

    @property
    def variance(self) -> Tensor:
        return self._pair.variance[..., 0]

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._pair.sample(sample_shape)[..., 0]

    def log_prob(self, value: Any) -> Tensor:
        x = self._values("log_prob", value)
        density = ops.xlogy(self.concentration1 - 1, x) + ops.xlog1py(self.concentration0 - 1, -x)
        return density - _log_beta(self._pair.concentration)

    def entropy(self) -> Tensor:
        return self._pair.entropy()

    def kl(self, other: Beta) -> Tensor:
        return self._pair.kl(other._pair)
