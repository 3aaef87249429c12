"""Distributions over counts: of successes, of trials until the first one, and of events."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.distributions import constraints
from minigrad.distributions.categorical import Chances
from minigrad.distributions.constraints import Constraint
from minigrad.distributions.distribution import Family, floats
from minigrad.ops._numerics import values_of
from minigrad.tensors.tensor import Tensor


class _Trials(Chances):
    """Distributions given by the probability of a success, or by its logit; here of one trial."""

    arg_constraints = MappingProxyType({
        "probs": constraints.unit_interval, "logits": constraints.real,
    })  # fmt: skip

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._complete(self._take(probs, logits), validate_args)

    def _complete(self, given: Tensor, validate_args: bool | None) -> None:
        """Check what was given, and compute the other one."""
        name = self._given[-1]
        setattr(self, name, given)
        super().__init__(given.shape, validate_args=validate_args)
        if name == "logits":
            self.probs = ops.sigmoid(given)
        else:
            eps = float(np.finfo(given.dtype).eps)
            limited = ops.clip(given, eps, 1 - eps)
            self.logits = ops.log(limited) - ops.log1p(-limited)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def variance(self) -> Tensor:
        return self.mean * (1 - self.probs)

    def entropy(self) -> Tensor:
        return ops.softplus(self.logits) - self.probs * self.logits

    def kl(self, other: Any) -> Tensor:
        yes = ops.softplus(-other.logits) - ops.softplus(-self.logits)
        no = ops.softplus(other.logits) - ops.softplus(self.logits)
        mine, theirs = values_of(self.probs), values_of(other.probs)  # logits are finite
        never = ((theirs == 0) & (mine > 0)) | ((theirs == 1) & (mine < 1))
        return ops.where(never, np.inf, self.probs * yes + (1 - self.probs) * no)


class Bernoulli(_Trials):
    """Distributions over 0 and 1, given by the probability of 1 or by its logit.

    Args:
        probs: The probability of 1.
        logits: The logarithm of the odds, log(p / (1 - p)), instead.
        validate_args: As in `Distribution`.

    Attributes:
        probs: The probability of 1.
        logits: The logit. Computed from `probs`, these are limited by eps and 1 - eps.

    Raises:
        ValueError: Both arguments are given, or neither; or a probability is not from 0 to 1.

    Example:
        >>> from minigrad.distributions import Bernoulli
        >>> coin = Bernoulli(0.25)
        >>> coin.log_prob([0.0, 1.0])
        tensor([-0.2877, -1.3863])
        >>> coin.mean.item(), coin.variance.item()
        (0.25, 0.1875)
    """

    support = constraints.boolean

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        drawn = self._drawn("random", sample_shape, np.float64)
        return ops.astype(drawn < self.probs, self.probs.dtype)

    def log_prob(self, value: Any) -> Tensor:
        x = self._values("log_prob", value)
        return x * self.logits - ops.softplus(self.logits)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._listed(2, self.probs.dtype, expand)


class Binomial(_Trials):
    """Distributions over the number of successes in independent trials.

    Args:
        total_count: The number of trials; it broadcasts with the probabilities.
        probs: The probability of a success.
        logits: Its logit instead.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A number of trials is not a whole number of at least 0, both or neither of
            `probs` and `logits` are given, or a probability is not from 0 to 1.

    Example:
        >>> from minigrad.distributions import Binomial
        >>> tosses = Binomial(10, probs=0.5)
        >>> tosses.mean.item(), tosses.variance.item(), round(tosses.log_prob(5).exp().item(), 4)
        (5.0, 2.5, 0.2461)
    """

    arg_constraints = MappingProxyType(
        {"total_count": constraints.nonnegative_integer, **_Trials.arg_constraints}
    )

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.total_count, given = floats(total_count, self._take(probs, logits))
        self._given = ("total_count", *self._given)
        self._complete(given, validate_args)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, values_of(self.total_count))

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        trials, chances = ops.astype(self.total_count.detach(), np.int64), self.probs.detach()
        return self._drawn("binomial", sample_shape, chances.dtype, trials, chances)

    def log_prob(self, value: Any) -> Tensor:
        n, x = self.total_count, self._values("log_prob", value)
        ways = ops.lgamma(n + 1) - ops.lgamma(x + 1) - ops.lgamma(n - x + 1)
        return ways + x * self.logits - n * ops.softplus(self.logits)

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self.enumerate_support(False))
        return -ops.sum(ops.exp(log_prob) * log_prob, axis=0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        counts = values_of(self.total_count)
        if counts.min() != counts.max():
            raise NotImplementedError(
                "Binomial: the values are listed, and the entropy is computed, only where all "
                f"numbers of trials are equal; got {self.total_count}"
            )
        return self._listed(int(counts.max()) + 1, self.probs.dtype, expand)

    def kl(self, other: Binomial) -> Tensor:
        mine, theirs = values_of(self.total_count), values_of(other.total_count)
        if (mine < theirs).any():
            raise NotImplementedError(
                "kl_divergence: of Binomials, the first must have at least as many trials as the "
                f"second, got {self.total_count} and {other.total_count}"
            )
        return ops.where(mine > theirs, np.inf, self.total_count * super().kl(other))


_POSSIBLE = Constraint("HalfOpenInterval(0 < p <= 1)", lambda x: (x > 0) & (x <= 1))


class Geometric(_Trials):
    """Distributions over the number of failures before the first success.

    Args:
        probs: The probability of a success, above 0.
        logits: Its logit instead.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: Both arguments are given, or neither; or a probability is 0, or not from 0 to 1.

    Example:
        >>> from minigrad.distributions import Geometric
        >>> failures = Geometric(0.25)
        >>> failures.mean.item(), failures.variance.item(), failures.log_prob(2).exp().item()
        (3.0, 12.0, 0.140625)
    """

    arg_constraints = MappingProxyType({"probs": _POSSIBLE, "logits": constraints.real})
    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def variance(self) -> Tensor:
        return self.mean / self.probs

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._drawn("geometric", sample_shape, self.probs.dtype, self.probs.detach()) - 1

    def log_prob(self, value: Any) -> Tensor:
        x = self._values("log_prob", value)
        return ops.xlog1py(x, -self.probs) + ops.log(self.probs)

    def entropy(self) -> Tensor:
        return super().entropy() / self.probs

    def kl(self, other: Geometric) -> Tensor:
        return super().kl(other) / self.probs


class Poisson(Family):
    r"""Distributions over the number of events: probability :math:`\lambda^k e^{-\lambda} / k!`.

    Args:
        rate: λ, the mean number, at least 0.
        validate_args: As in `Distribution`.

    Raises:
        ValueError: A rate is below 0.

    Example:
        >>> from minigrad.distributions import Poisson
        >>> calls = Poisson(4.0)
        >>> calls.mean.item(), round(calls.log_prob(2).item(), 4)
        (4.0, -1.9206)
    """

    arg_constraints = MappingProxyType({"rate": constraints.nonnegative})
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = floats(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._drawn("poisson", sample_shape, self.rate.dtype, self.rate.detach())

    def log_prob(self, value: Any) -> Tensor:
        x = self._values("log_prob", value)
        return ops.xlogy(x, self.rate) - self.rate - ops.lgamma(x + 1)

    def kl(self, other: Poisson) -> Tensor:
        return self.rate * ops.log(self.rate / other.rate) - (self.rate - other.rate)
