"""Normal, Laplace and Student's t distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.distributions.constraints import positive, real, unit_interval
from minigrad.distributions.distribution import Family, floats
from minigrad.ops._numerics import values_of
from minigrad.tensors.tensor import Tensor


class _LocationScale(Family):
    """Distributions of one shape, moved by `loc` and stretched by `scale`."""

    has_rsample = True
    arg_constraints = MappingProxyType({"loc": real, "scale": positive})
    _standard: str
    """NumPy's distribution of loc 0 and scale 1."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = floats(loc, scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.loc + self._drawn(self._standard, sample_shape, self.loc.dtype) * self.scale


class Normal(_LocationScale):
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

    _standard = "standard_normal"

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return ops.square(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        distance = (self._values("log_prob", value) - self.loc) / self.scale
        return -0.5 * ops.square(distance) - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Any) -> Tensor:
        distance = (self._values("cdf", value) - self.loc) / self.scale
        return 0.5 * (1 + ops.erf(distance / math.sqrt(2)))

    def icdf(self, value: Any) -> Tensor:
        share = self._values("icdf", value, unit_interval)
        return self.loc + self.scale * ops.erfinv(2 * share - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return ops.log(self.scale) + (0.5 + 0.5 * math.log(2 * math.pi))

    def kl(self, other: Normal) -> Tensor:
        ratio = ops.square(self.scale / other.scale)
        distance = ops.square((self.loc - other.loc) / other.scale)
        return 0.5 * (ratio + distance - 1 - ops.log(ratio))


class Laplace(_LocationScale):
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

    _standard = "laplace"

    @property
    def variance(self) -> Tensor:
        return 2 * ops.square(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        distance = ops.abs(self._values("log_prob", value) - self.loc)
        return -ops.log(2 * self.scale) - distance / self.scale

    def cdf(self, value: Any) -> Tensor:
        distance = self._values("cdf", value) - self.loc
        tail = ops.expm1(-ops.abs(distance) / self.scale)
        return 0.5 - 0.5 * ops.sign(distance) * tail

    def icdf(self, value: Any) -> Tensor:
        share = self._values("icdf", value, unit_interval) - 0.5
        return self.loc - self.scale * ops.sign(share) * ops.log1p(-2 * ops.abs(share))

    def entropy(self) -> Tensor:
        return 1 + ops.log(2 * self.scale)

    def kl(self, other: Laplace) -> Tensor:
        distance, ratio = ops.abs(self.loc - other.loc), self.scale / other.scale
        overlap = ratio * ops.exp(-distance / self.scale)
        return overlap + distance / other.scale - 1 - ops.log(ratio)


class Gumbel(_LocationScale):
    r"""Gumbel distributions: density :math:`e^{-z - e^{-z}} / \beta` with z = (x - μ) / β.

    The largest of many samples of other distributions is about so. The class with the largest
    logit plus a standard Gumbel sample is a sample of the softmax of the logits.

    Args:
        loc: The mode μ.
        scale: β, above 0; the standard deviation is π β / √6.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A scale is not above 0, or an argument is NaN.

    Example:
        >>> from minigrad.distributions import Gumbel
        >>> gumbel = Gumbel([0.0, 1.0], 2.0)
        >>> gumbel.log_prob(0.0)
        tensor([-1.6931, -1.8419])
    """

    _standard = "gumbel"

    @property
    def mean(self) -> Tensor:
        return self.loc + np.euler_gamma * self.scale

    @property
    def variance(self) -> Tensor:
        return ops.square(math.pi * self.scale) / 6

    def log_prob(self, value: Any) -> Tensor:
        below = (self.loc - self._values("log_prob", value)) / self.scale
        return below - ops.exp(below) - ops.log(self.scale)

    def cdf(self, value: Any) -> Tensor:
        return ops.exp(-ops.exp((self.loc - self._values("cdf", value)) / self.scale))

    def icdf(self, value: Any) -> Tensor:
        chances = self._values("icdf", value, unit_interval)
        return self.loc - self.scale * ops.log(-ops.log(chances))

    def entropy(self) -> Tensor:
        return ops.log(self.scale) + (1 + np.euler_gamma)

    def kl(self, other: Gumbel) -> Tensor:
        ratio, distance = self.scale / other.scale, (other.loc - self.loc) / other.scale
        overlap = ops.exp(distance + ops.lgamma(1 + ratio)) - distance
        return overlap - ops.log(ratio) + np.euler_gamma * (ratio - 1) - 1


class StudentT(_LocationScale):
    r"""Student's t distributions: as normal ones, with heavier tails.

    The density is proportional to :math:`(1 + (x-\mu)^2 / \nu\sigma^2)^{-(\nu + 1) / 2}`.

    Args:
        df: The degrees of freedom ν, above 0.
        loc: The center μ, which is the mean where df is above 1.
        scale: σ, above 0.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: The degrees of freedom or a scale are not above 0, or an argument is NaN.

    Example:
        >>> from minigrad.distributions import StudentT
        >>> t = StudentT(3.0)
        >>> t.mean.item(), t.variance.item(), round(t.log_prob(1.0).item(), 4)
        (0.0, 3.0, -1.5763)
    """

    arg_constraints = MappingProxyType({"df": positive, "loc": real, "scale": positive})

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = floats(df, loc, scale)
        Family.__init__(self, self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return ops.where(values_of(self.df) > 1, self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        df = values_of(self.df)
        finite = ops.where(df > 2, self.df, 3.0)
        finite = ops.square(self.scale) * finite / (finite - 2)
        return ops.where(df > 2, finite, np.where(df > 1, math.inf, math.nan).astype(df.dtype))

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        if self.df.requires_grad and is_grad_enabled():
            raise NotImplementedError(
                "StudentT.rsample: samples have no gradient in df; give df.detach(), or use "
                "sample() and log_prob()"
            )
        drawn = self._drawn("standard_t", sample_shape, self.loc.dtype, self.df.detach())
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Tensor:
        df, distance = self.df, (self._values("log_prob", value) - self.loc) / self.scale
        density = -0.5 * (df + 1) * ops.log1p(ops.square(distance) / df)
        return density - ops.log(self.scale) - self._log_norm()

    def _log_norm(self) -> Tensor:
        """The logarithm of the integral over the density without its constant, at scale 1."""
        half = 0.5 * self.df
        return 0.5 * ops.log(math.pi * self.df) + ops.lgamma(half) - ops.lgamma(half + 0.5)

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        spread = (half + 0.5) * (ops.digamma(half + 0.5) - ops.digamma(half))
        return ops.log(self.scale) + spread + self._log_norm()
