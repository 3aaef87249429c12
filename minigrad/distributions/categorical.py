"""Distributions over classes, and what is given by probabilities or by logits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.distributions import constraints
from minigrad.distributions.constraints import Constraint
from minigrad.distributions.distribution import Family, floats
from minigrad.ops._numerics import values_of
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor


class Chances(Family):
    """Distributions given by probabilities or by logits."""

    has_enumerate_support = True
    probs: Tensor
    logits: Tensor

    def _take(self, probs: Any, logits: Any) -> Tensor:
        """Take one of both as floats."""
        if (probs is None) == (logits is None):
            raise ValueError(f"{type(self).__name__}: either probs or logits expected")
        if probs is None:
            self._given, (self.logits,) = ("logits",), floats(logits)
            return self.logits
        self._given, (self.probs,) = ("probs",), floats(probs)
        return self.probs


def _are_weights(x: Any) -> Any:
    sums = np.sum(x, axis=-1, keepdims=True)
    return (x >= 0) & (sums > 0) & (sums < math.inf)


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

    arg_constraints = MappingProxyType({
        "probs": Constraint(
            "Weights(finite, at least 0, and one of a row above 0)",
            _are_weights, event_dim=1,
        ),
        "logits": Constraint(
            "Logits(the largest of a row finite)",
            lambda x: np.isfinite(np.max(x, axis=-1, keepdims=True)), event_dim=1,
        ),
    })  # fmt: skip

    _axes = 0
    """The axes of one value."""

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._take(probs, logits)
        if not given.ndim or not given.shape[-1]:
            raise ValueError(
                f"Categorical: {self._given[0]} of shape (..., classes) expected, with at least "
                f"one class, got {given.shape}"
            )
        super().__init__(given.shape[:-1], given.shape[given.ndim - self._axes :], validate_args)
        if probs is None:
            self.logits = ops.log_softmax(given, axis=-1)
            self.probs = ops.softmax(given, axis=-1)
        else:
            self.probs = given / ops.sum(given, axis=-1, keepdims=True)
            eps = float(np.finfo(given.dtype).eps)
            self.logits = ops.log(ops.clip(self.probs, eps, 1 - eps))

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.logits.shape[-1] - 1)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        shape = self._shape(sample_shape)
        drawn = random.multinomial(self.probs, math.prod(shape), replacement=True)
        return ops.reshape(ops.moveaxis(drawn, -1, 0), shape + self.batch_shape)

    def log_prob(self, value: Any) -> Tensor:
        index = asarray(value)
        if self._validate_args:
            self._check(".log_prob: values", index, self.support)
        shape = np.broadcast_shapes(index.shape, self.batch_shape)
        places = np.broadcast_to(values_of(index).astype(np.int64), shape)[..., None]
        logits = ops.broadcast_to(self.logits, (*shape, *self.logits.shape[-1:]))
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


class OneHotCategorical(Categorical):
    """Distributions over the one-hot vectors of classes; the arguments are those of `Categorical`.

    Example:
        >>> from minigrad.distributions import OneHotCategorical
        >>> OneHotCategorical([0.0, 1.0, 0.0]).sample((2,)).tolist()
        [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
        >>> round(OneHotCategorical([0.25, 0.75]).log_prob([1.0, 0.0]).exp().item(), 4)
        0.25
    """

    _axes = 1
    support = property(lambda self: constraints.one_hot, doc="The one-hot vectors.")
    mean = property(lambda self: self.probs, doc="The probabilities.")
    variance = property(lambda self: self.probs * (1 - self.probs), doc="Of each element.")

    def _vectors(self, places: Tensor) -> Tensor:
        return ops.astype(places[..., None] == np.arange(self.probs.shape[-1]), self.probs.dtype)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        return self._vectors(super().sample(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        chosen = self._values("log_prob", value) != 0
        return ops.sum(ops.where(chosen, self.logits, 0), axis=-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._vectors(super().enumerate_support(expand))
