"""Probability distributions with the names of `torch.distributions`.

Everything but `sample` is differentiable, also the samples of `rsample`.
"""

from __future__ import annotations

import math
import typing as _typing
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.call import made
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.ops._numerics import values_of
from minigrad.support.checks import shape_of
from minigrad.support.spelling import names as _names
from minigrad.tensors.tensor import Tensor

__all__ = ["Categorical", "Distribution", "Normal"]


class Distribution:
    """The base class of distributions. One object holds a batch of distributions.

    Args:
        batch_shape: The shape of the batch.

    Attributes:
        batch_shape: The shape of the batch; () for a single distribution.

    Example:
        >>> from minigrad.distributions import Distribution, Normal
        >>> normal = Normal([0.0, 1.0, 2.0], 1.0)
        >>> isinstance(normal, Distribution), normal.batch_shape, normal.sample((4, 2)).shape
        (True, (3,), (4, 2, 3))
    """

    def __init__(self, batch_shape: tuple[int, ...]) -> None:
        self.batch_shape = batch_shape

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        """Draw samples of shape ``(*sample_shape, *batch_shape)`` without recording gradients."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample()")

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        """Draw samples as `sample` does, differentiable in the parameters.

        Raises:
            NotImplementedError: The distribution is discrete.
        """
        raise NotImplementedError(
            f"{type(self).__name__}: samples have no gradient; use sample() and log_prob()"
        )

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the probability, or density, at values that broadcast with the batch."""
        raise NotImplementedError(f"{type(self).__name__} does not define log_prob()")

    def entropy(self) -> Tensor:
        """The entropy in nats, shape batch_shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy()")

    def _shape(self, sample_shape: Any) -> tuple[int, ...]:
        whole = isinstance(sample_shape, (int, np.integer))
        shape = (sample_shape,) if whole else tuple(sample_shape)
        return shape_of(f"{type(self).__name__}.sample", shape)


class Normal(Distribution):
    r"""Normal distributions: density :math:`e^{-(x-\mu)^2 / 2\sigma^2} / (\sigma \sqrt{2\pi})`.

    Args:
        loc: The mean μ, a number or a tensor.
        scale: The standard deviation σ, above 0.

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
        Tensor([-1.6120857, -2.1120858], dtype=float32, op=subtract)
        >>> normal.rsample().sum().backward()
        >>> mean.grad
        Tensor([1., 1.], dtype=float32)
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        mean, deviation = _tensor("Normal", "loc", loc), _tensor("Normal", "scale", scale)
        if not (values_of(deviation) > 0).all():
            raise ValueError(f"Normal: scale must be above 0, got {scale}")
        shape = np.broadcast_shapes(mean.shape, deviation.shape)
        self.loc, self.scale = (
            tensor if tensor.shape == shape else ops.broadcast_to(tensor, shape)
            for tensor in (mean, deviation)
        )
        self.mean, self.stddev = self.loc, self.scale
        super().__init__(shape)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        loc, scale = self.loc.detach(), self.scale.detach()
        return loc + self._noise(sample_shape) * scale

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self.loc + self._noise(sample_shape) * self.scale

    def _noise(self, sample_shape: Any) -> Tensor:
        shape = self._shape(sample_shape) + self.batch_shape
        noise = np.asarray(random.generator().standard_normal(shape))
        return made(noise.astype(np.result_type(self.loc.dtype, self.scale.dtype)), False)

    def log_prob(self, value: Any) -> Tensor:
        x = _tensor("Normal.log_prob", "value", value)
        distance = (x - self.loc) / self.scale
        return -0.5 * ops.square(distance) - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def entropy(self) -> Tensor:
        return ops.log(self.scale) + (0.5 + 0.5 * math.log(2 * math.pi))

    def __repr__(self) -> str:
        return f"Normal(loc={self.loc}, scale={self.scale})"


class Categorical(Distribution):
    """Distributions over the classes 0, 1, ..., given by probabilities or by logits.

    Args:
        probs: Unnormalized probabilities, shape ``(*batch_shape, classes)``.
        logits: Unnormalized log probabilities instead.

    Attributes:
        probs: The probabilities.
        logits: The log probabilities. Computed from `probs`, they are at least log(eps).

    Raises:
        ValueError: Both arguments are given, or neither; a probability is negative; a row has no
            probability above 0; or a value is NaN.

    Example:
        >>> import minigrad
        >>> from minigrad.distributions import Categorical
        >>> policy = Categorical(logits=minigrad.zeros(4, requires_grad=True))
        >>> action = policy.sample()
        >>> (-policy.log_prob(action) * 0.5).backward()  # REINFORCE with reward 0.5
        >>> round(policy.entropy().item(), 4)  # log 4
        1.3863
    """

    def __init__(self, probs: Any = None, logits: Any = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: either probs or logits expected")
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        tensor = _tensor("Categorical", name, given)
        if not tensor.ndim or not tensor.shape[-1]:
            raise ValueError(
                f"Categorical: {name} of shape (..., classes) expected, with at least one class, "
                f"got {tensor.shape}"
            )
        if probs is None:
            if not np.isfinite(values_of(tensor).max(axis=-1)).all():
                raise ValueError("Categorical: each row of logits needs a largest finite one")
            self.logits = ops.log_softmax(tensor, axis=-1)
            self.probs = ops.softmax(tensor, axis=-1)
        else:
            sums = values_of(tensor).sum(axis=-1)
            if (values_of(tensor) < 0).any() or not (np.isfinite(sums) & (sums > 0)).all():
                raise ValueError(
                    "Categorical: probs must be finite and at least 0, and in each row one above 0"
                )
            self.probs = tensor / ops.sum(tensor, -1, True)
            eps = float(np.finfo(tensor.dtype).eps)
            self.logits = ops.log(ops.clip(self.probs, eps, 1 - eps))
        super().__init__(tensor.shape[:-1])

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        shape = self._shape(sample_shape)
        weights = np.asarray(values_of(self.probs), np.float64)
        drawn = random.choices(
            "Categorical", random.generator(), weights, math.prod(shape), replacement=True
        )
        return made(np.moveaxis(drawn, -1, 0).reshape(shape + self.batch_shape), False)

    def log_prob(self, value: Any) -> Tensor:
        classes = self.logits.shape[-1]
        index = value if isinstance(value, Tensor) else Tensor(value)
        array = values_of(index)
        if not ((array == np.floor(array)) & (array >= 0) & (array < classes)).all():
            raise ValueError(
                f"Categorical.log_prob: values are classes from 0 to {classes - 1}, got {value}"
            )
        shape = np.broadcast_shapes(array.shape, self.batch_shape)
        places = np.broadcast_to(array.astype(np.int64), shape)[..., None]
        logits = ops.broadcast_to(self.logits, (*shape, classes))
        return ops.take_along_axis(logits, places, axis=-1)[..., 0]

    def entropy(self) -> Tensor:
        least = float(np.finfo(self.logits.dtype).min)
        return -(ops.clip(self.logits, least, None) * self.probs).sum(axis=-1)

    def __repr__(self) -> str:
        return f"Categorical(probs={self.probs})"


def _tensor(owner: str, name: str, value: Any) -> Tensor:
    """A tensor of floats, without NaN."""
    tensor = value if isinstance(value, Tensor) else Tensor(value)
    if tensor.dtype.kind != "f":
        tensor = tensor.astype(get_default_dtype())
    if np.isnan(values_of(tensor)).any():
        raise ValueError(f"{owner}: {name} is NaN somewhere: {value}")
    return tensor


if not _typing.TYPE_CHECKING:
    __getattr__ = _names("distributions", __all__)
