"""The base class of distributions, their arguments, and their divergence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.call import made
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.ops._numerics import values_of
from minigrad.support.checks import shape_of
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor


class Distribution:
    """The base class of distributions. One object holds a batch of distributions.

    Args:
        batch_shape: The shape of the batch.
        event_shape: The shape of one value.

    Attributes:
        batch_shape: The shape of the batch; () for a single distribution.
        event_shape: The shape of one value; () for a number.

    Example:
        >>> from minigrad.distributions import Distribution, Normal
        >>> normal = Normal([0.0, 1.0, 2.0], 1.0)
        >>> isinstance(normal, Distribution), normal.batch_shape, normal.sample((4, 2)).shape
        (True, (3,), (4, 2, 3))
    """

    _shown: tuple[str, ...] = ()
    """The parameters that the repr shows."""

    def __init__(self, batch_shape: tuple[int, ...], event_shape: tuple[int, ...] = ()) -> None:
        self.batch_shape, self.event_shape = batch_shape, event_shape

    @property
    def mean(self) -> Tensor:
        """The mean, shape ``(*batch_shape, *event_shape)``."""
        raise NotImplementedError(f"{type(self).__name__} does not define a mean")

    @property
    def variance(self) -> Tensor:
        """The variance of each element, shape ``(*batch_shape, *event_shape)``."""
        raise NotImplementedError(f"{type(self).__name__} does not define a variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, the root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        """Draw samples without recording gradients.

        Their shape is ``(*sample_shape, *batch_shape, *event_shape)``.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define sample()")

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        """Draw samples as `sample` does, differentiable in the parameters.

        Raises:
            NotImplementedError: The samples are not a simple function of the parameters.
        """
        raise NotImplementedError(
            f"{type(self).__name__}: samples have no gradient; use sample() and log_prob()"
        )

    def log_prob(self, value: Any) -> Tensor:
        """Compute the log-probability, or log-density, at values that broadcast with the batch."""
        raise NotImplementedError(f"{type(self).__name__} does not define log_prob()")

    def entropy(self) -> Tensor:
        """Compute the entropy in nats, shape batch_shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy()")

    def kl(self, other: Any) -> Tensor:
        """Compute the divergence from another of the same family: see `kl_divergence`."""
        raise NotImplementedError(f"{type(self).__name__} does not define kl()")

    def _drawn(self, draw: Callable[..., Any], sample_shape: Any, dtype: Any) -> Tensor:
        """Random numbers of a function of their shape."""
        shape = self._shape(sample_shape) + self.batch_shape + self.event_shape
        return made(np.asarray(draw(size=shape)).astype(dtype), False)

    def _shape(self, sample_shape: Any) -> tuple[int, ...]:
        whole = isinstance(sample_shape, (int, np.integer))
        shape = (sample_shape,) if whole else tuple(sample_shape)
        return shape_of(f"{type(self).__name__}.sample", shape)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{type(self).__name__}({parts})"


def floats(owner: str, name: str, value: Any) -> Tensor:
    """A tensor of floats, without NaN."""
    tensor = asarray(value)
    if tensor.dtype.kind != "f":
        tensor = tensor.astype(get_default_dtype())
    if np.isnan(values_of(tensor)).any():
        raise ValueError(f"{owner}: {name} is NaN somewhere: {value}")
    return tensor


def broadcast(*tensors: Tensor) -> list[Tensor]:
    """Tensors of one shape."""
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    return [t if t.shape == shape else ops.broadcast_to(t, shape) for t in tensors]


def positive(owner: str, name: str, value: Any) -> Tensor:
    """A tensor of floats above 0."""
    tensor = floats(owner, name, value)
    if not (values_of(tensor) > 0).all():
        raise ValueError(f"{owner}: {name} must be above 0, got {value}")
    return tensor


def within(owner: str, value: Any, low: float, high: float = math.inf) -> Tensor:
    """Values of a density, from `low` to `high`."""
    tensor = floats(f"{owner}.log_prob", "value", value)
    if not ((values_of(tensor) >= low) & (values_of(tensor) <= high)).all():
        room = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{owner}.log_prob: values are {room}, got {value}")
    return tensor


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Compute the Kullback-Leibler divergence E_p[log p - log q] of distributions of one family.

    Args:
        p: A distribution.
        q: Another one of the same class.

    Returns:
        Shape batch_shape, in nats.

    Raises:
        TypeError: They are of different families.

    Example:
        >>> from minigrad.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0)).item()
        0.5
    """
    if type(p) is not type(q) or not isinstance(p, Distribution):
        raise TypeError(
            f"kl_divergence: two distributions of one family expected, got {type(p).__name__} and "
            f"{type(q).__name__}; average p.log_prob(x) - q.log_prob(x) over samples of p"
        )
    return p.kl(q)
