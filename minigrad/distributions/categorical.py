"""Distributions over classes, and what is given by probabilities or by logits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.distributions.distribution import Distribution
from minigrad.ops._numerics import values_of
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor


class Chances(Distribution):
    """Distributions given by probabilities or by logits."""

    has_enumerate_support = True
    _parameters: tuple[str, ...] = ("probs", "logits")

    def _given(self, probs: Any, logits: Any, validate_args: bool | None) -> tuple[str, Tensor]:
        """The name of what was given, and its values."""
        self._validates(validate_args)
        if (probs is None) == (logits is None):
            raise ValueError(f"{type(self).__name__}: either probs or logits expected")
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        self._shown = (name,)
        return name, self._floats(name, given)


class Categorical(Chances):
    """Distributions over the classes 0, 1, ..., given by probabilities or by logits.

    Args:
        probs: Unnormalized probabilities, shape ``(*batch_shape, classes)``.
        logits: Unnormalized log probabilities instead.
        validate_args: As in `Distribution`.

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

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, tensor = self._given(probs, logits, validate_args)
        if not tensor.ndim or not tensor.shape[-1]:
            raise ValueError(
                f"Categorical: {name} of shape (..., classes) expected, with at least one class, "
                f"got {tuple(tensor.shape)}"
            )
        if probs is None:
            largest = np.max(values_of(tensor), axis=-1)
            if self._validate_args and not np.isfinite(largest).all():
                raise ValueError("Categorical: each row of logits needs a largest finite one")
            self.logits = ops.log_softmax(tensor, axis=-1)
            self.probs = ops.softmax(tensor, axis=-1)
        else:
            sums = np.sum(values_of(tensor), axis=-1)
            wrong = (values_of(tensor) < 0).any() or not (np.isfinite(sums) & (sums > 0)).all()
            if self._validate_args and wrong:
                raise ValueError(
                    "Categorical: probs must be finite and at least 0, and in each row one above 0"
                )
            self.probs = tensor / ops.sum(tensor, axis=-1, keepdims=True)
            eps = float(np.finfo(tensor.dtype).eps)
            self.logits = ops.log(ops.clip(self.probs, eps, 1 - eps))
        super().__init__(tensor.shape[:-1])

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        shape = self._shape(sample_shape)
        drawn = random.multinomial(self.probs, math.prod(shape), replacement=True)
        return ops.reshape(ops.moveaxis(drawn, -1, 0), shape + self.batch_shape)

    def log_prob(self, value: Any) -> Tensor:
        classes = self.logits.shape[-1]
        index = asarray(value)
        array = values_of(index)
        fits = ((array == np.floor(array)) & (array >= 0) & (array < classes)).all()
        if self._validate_args and not fits:
            raise ValueError(
                f"Categorical.log_prob: values are classes from 0 to {classes - 1}, got {value}"
            )
        shape = np.broadcast_shapes(array.shape, self.batch_shape)
        places = np.broadcast_to(array.astype(np.int64), shape)[..., None]
        logits = ops.broadcast_to(self.logits, (*shape, classes))
        return ops.take_along_axis(logits, places, axis=-1)[..., 0]

    def entropy(self) -> Tensor:
        least = float(np.finfo(self.logits.dtype).min)
        return -ops.sum(ops.clip(self.logits, least, None) * self.probs, axis=-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._listed(self.logits.shape[-1], np.int64, expand)

    def kl(self, other: Categorical) -> Tensor:
        terms: Any = self.probs * (self.logits - other.logits)
        terms = np.where(values_of(other.probs) == 0, np.inf, terms)
        terms = np.where(values_of(self.probs) == 0, 0, terms)
        return ops.sum(terms, axis=-1)
