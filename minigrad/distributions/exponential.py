"""Exponential distributions of one and of two sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.distributions.distribution import Distribution, broadcast
from minigrad.tensors.tensor import Tensor


class Exponential(Distribution):
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
    _parameters = _shown = ("rate",)

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._validates(validate_args)
        self.rate = self._positive("rate", rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        return 1 / ops.square(self.rate)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._noise(sample_shape) / self.rate.detach()

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._noise(sample_shape) / self.rate

    def _noise(self, sample_shape: Any) -> Tensor:
        draw = random.generator().standard_exponential
        return self._drawn(draw, sample_shape, self.rate.dtype)

    def log_prob(self, value: Any) -> Tensor:
        return ops.log(self.rate) - self.rate * self._values("log_prob", value, 0.0)

    def cdf(self, value: Any) -> Tensor:
        return -ops.expm1(-self.rate * self._values("cdf", value, 0.0))

    def icdf(self, value: Any) -> Tensor:
        return -ops.log1p(-self._values("icdf", value)) / self.rate

    def entropy(self) -> Tensor:
        return 1 - ops.log(self.rate)

    def kl(self, other: Exponential) -> Tensor:
        ratio = other.rate / self.rate
        return ratio - 1 - ops.log(ratio)


class Laplace(Distribution):
    r"""Laplace distributions: density :math:`e^{-|x - \mu| / b} / (2 b)`.

    Args:
        loc: The mean μ.
        scale: b, above 0; the standard deviation is √2 b.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A scale is not above 0, or an argument is NaN.

    Example:
        >>> from minigrad.distributions import Laplace
        >>> laplace = Laplace([0.0, 1.0], 0.5)
        >>> laplace.log_prob(0.5).tolist()
        [-1.0, -1.0]
    """

    has_rsample = True
    _parameters = _shown = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._validates(validate_args)
        self.loc, self.scale = broadcast(self._floats("loc", loc), self._positive("scale", scale))
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * ops.square(self.scale)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.loc.detach() + self._noise(sample_shape) * self.scale.detach()

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.loc + self._noise(sample_shape) * self.scale

    def _noise(self, sample_shape: Any) -> Tensor:
        dtype = np.result_type(self.loc.dtype, self.scale.dtype)
        return self._drawn(random.generator().laplace, sample_shape, dtype)

    def log_prob(self, value: Any) -> Tensor:
        distance = ops.abs(self._values("log_prob", value) - self.loc)
        return -ops.log(2 * self.scale) - distance / self.scale

    def cdf(self, value: Any) -> Tensor:
        distance = self._values("cdf", value) - self.loc
        tail = ops.expm1(-ops.abs(distance) / self.scale)
        return 0.5 - 0.5 * ops.sign(distance) * tail

    def icdf(self, value: Any) -> Tensor:
        share = self._values("icdf", value) - 0.5
        return self.loc - self.scale * ops.sign(share) * ops.log1p(-2 * ops.abs(share))

    def entropy(self) -> Tensor:
        return 1 + ops.log(2 * self.scale)

    def kl(self, other: Laplace) -> Tensor:
        distance, ratio = ops.abs(self.loc - other.loc), self.scale / other.scale
        overlap = ratio * ops.exp(-distance / self.scale)
        return overlap + distance / other.scale - 1 - ops.log(ratio)
