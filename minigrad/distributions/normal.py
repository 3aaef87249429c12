"""Normal distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.distributions.distribution import Distribution, broadcast
from minigrad.tensors.tensor import Tensor


class Normal(Distribution):
    r"""Normal distributions: density :math:`e^{-(x-\mu)^2 / 2\sigma^2} / (\sigma \sqrt{2\pi})`.

    Args:
        loc: The mean μ, a number or a tensor.
        scale: The standard deviation σ, above 0.
        validate_args: As in `Distribution`.

    Attributes:
        loc: The mean, broadcast with the standard deviation; also as `mean`.
        scale: The standard deviation, broadcast with the mean; also as `stddev`.

    Raises:
        ValueError: A standard deviation is not above 0, or an argument is NaN.

    Example:
        >>> import minigrad
        >>> from minigrad.distributions import Normal
        >>> mean = minigrad.zeros(2, requires_grad=True)
        >>> normal = Normal(mean, 2.0)
        >>> normal.log_prob([0.0, 2.0])
        tensor([-1.6121, -2.1121], grad_fn=<SubBackward0>)
        >>> normal.rsample().sum().backward()
        >>> mean.grad
        tensor([1., 1.])
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
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return ops.square(self.scale)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        loc, scale = self.loc.detach(), self.scale.detach()
        return loc + self._noise(sample_shape) * scale

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.loc + self._noise(sample_shape) * self.scale

    def _noise(self, sample_shape: Any) -> Tensor:
        dtype = np.result_type(self.loc.dtype, self.scale.dtype)
        return self._drawn(random.generator().standard_normal, sample_shape, dtype)

    def log_prob(self, value: Any) -> Tensor:
        distance = (self._values("log_prob", value) - self.loc) / self.scale
        return -0.5 * ops.square(distance) - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Any) -> Tensor:
        distance = (self._values("cdf", value) - self.loc) / self.scale
        return 0.5 * (1 + ops.erf(distance / math.sqrt(2)))

    def icdf(self, value: Any) -> Tensor:
        share = self._values("icdf", value)
        return self.loc + self.scale * ops.erfinv(2 * share - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return ops.log(self.scale) + (0.5 + 0.5 * math.log(2 * math.pi))

    def kl(self, other: Normal) -> Tensor:
        ratio = ops.square(self.scale / other.scale)
        distance = ops.square((self.loc - other.loc) / other.scale)
        return 0.5 * (ratio + distance - 1 - ops.log(ratio))
