"""The base class of distributions, their arguments, and their divergence."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from minigrad import ops, random
from minigrad.autograd.call import leaf_of
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.grad_mode import no_grad
from minigrad.distributions.constraints import Constraint, real
from minigrad.ops._numerics import values_of
from minigrad.support.checks import check_flag, shape_of
from minigrad.tensors.creation import Size, asarray
from minigrad.tensors.tensor import Tensor


class Distribution:
    """The base class of distributions. One object holds a batch of distributions.

    Args:
        batch_shape: The shape of the batch.
        event_shape: The shape of one value.
        validate_args: Whether parameters and values are checked; None for what
            `set_default_validate_args` set, which is True at first.

    Attributes:
        batch_shape: The shape of the batch; () for a single distribution.
        event_shape: The shape of one value; () for a number.
        has_rsample: Whether `rsample` is there.
        has_enumerate_support: Whether `enumerate_support` is there.

    Example:
        >>> from minigrad.distributions import Distribution, Normal
        >>> normal = Normal([0.0, 1.0, 2.0], 1.0)
        >>> isinstance(normal, Distribution), normal.batch_shape, normal.sample((4, 2)).shape
        (True, minigrad.Size([3]), minigrad.Size([4, 2, 3]))
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: Mapping[str, Constraint] = MappingProxyType({})
    """The sets of the parameters, by their names; `__init__` checks the attributes."""
    _given: tuple[str, ...] = ()
    """The parameters that were given, where others are computed from them."""
    _validate_args = True

    def __init__(
        self, batch_shape: tuple[int, ...] = (), event_shape: tuple[int, ...] = (),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.batch_shape, self.event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = check_flag(type(self).__name__, "validate_args", validate_args)
        for name, constraint in self.arg_constraints.items() if self._validate_args else ():
            if name in (self._given or self.arg_constraints):
                self._check(f": {name}", getattr(self, name), constraint)

    _batch_shape = property(lambda self: self.batch_shape)

    @property
    def support(self) -> Constraint:
        """The set of the values."""
        return real

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether parameters and values are checked where nothing else is said.

        Args:
            value: True or False.
        """
        name = "set_default_validate_args"
        Distribution._validate_args = check_flag(name, "value", value)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """Broadcast the parameters to a larger batch.

        Args:
            batch_shape: The new shape of the batch.

        Example:
            >>> from minigrad.distributions import Normal
            >>> Normal(0.0, 1.0).expand((2, 3)).sample().shape
            minigrad.Size([2, 3])
        """
        raise NotImplementedError(f"{type(self).__name__} does not define expand()")

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
        return ops.sqrt(self.variance)

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        """Draw samples without recording gradients.

        Their shape is ``(*sample_shape, *batch_shape, *event_shape)``.
        """
        if not self.has_rsample:
            raise NotImplementedError(f"{type(self).__name__} does not define sample()")
        with no_grad():
            return self.rsample(sample_shape)

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

    def cdf(self, value: Any) -> Tensor:
        """Compute the probability of at most a value."""
        raise NotImplementedError(f"{type(self).__name__} does not define cdf()")

    def icdf(self, value: Any) -> Tensor:
        """Compute the value below which samples are with a probability: the inverse of `cdf`."""
        raise NotImplementedError(f"{type(self).__name__} does not define icdf()")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """List all values along a new first axis, the same in each place of the batch.

        Args:
            expand: Whether the other axes have the shape of the batch, or length 1.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define enumerate_support()")

    def entropy(self) -> Tensor:
        """Compute the entropy in nats, shape batch_shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy()")

    def perplexity(self) -> Tensor:
        """Compute the exponential of the entropy, shape batch_shape."""
        return ops.exp(self.entropy())

    def kl(self, other: Any) -> Tensor:
        """Compute the divergence from another of the same family: see `kl_divergence`."""
        raise NotImplementedError(f"{type(self).__name__} does not define kl()")

    def _drawn(self, kind: str, sample_shape: Any, dtype: Any, *parameters: Any) -> Tensor:
        """Random numbers of one of the distributions of NumPy's generator."""
        size = self._extended_shape(sample_shape)
        return random.drawn(kind, *parameters, size=size, dtype=dtype)

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """The shape of samples; distributions of one's own call it."""
        return Size(self._shape(sample_shape)) + self.batch_shape + self.event_shape

    def _shape(self, sample_shape: Any) -> tuple[int, ...]:
        whole = isinstance(sample_shape, (int, np.integer))
        shape = (sample_shape,) if whole else tuple(sample_shape)
        return shape_of(f"{type(self).__name__}.sample", shape)

    def _listed(self, count: int, dtype: Any, expand: bool) -> Tensor:
        """The values 0, 1, ... along a new first axis."""
        axes = len(self.batch_shape)
        values = np.arange(count, dtype=dtype).reshape(-1, *(1,) * axes)
        return leaf_of(np.tile(values, (1, *self.batch_shape)) if expand else values, False)

    def _check(self, what: str, value: Any, constraint: Constraint) -> None:
        if not constraint.holds(values_of(value)):
            raise ValueError(f"{type(self).__name__}{what} must be in {constraint}, got {value}")

    def _values(self, method: str, value: Any, within: Constraint | None = None) -> Tensor:
        """The values that a method is asked about, as floats: of the support, or another set."""
        (tensor,) = floats(value)
        axes = len(self.event_shape)
        if tensor.shape[tensor.ndim - axes :] != self.event_shape:
            raise ValueError(
                f"{type(self).__name__}.{method}: values of shape (..., "
                f"{', '.join(map(str, self.event_shape))}) expected, got {tensor.shape}"
            )
        if self._validate_args:
            self._check(f".{method}: values", tensor, within or self.support)
        return tensor

    def __repr__(self) -> str:
        names = self._given or self.arg_constraints
        parts = ", ".join(f"{name}: {_said(getattr(self, name))}" for name in names)
        return f"{type(self).__name__}({parts})"


def _said(parameter: Any) -> Any:
    """A number as it is, of more of them their shape."""
    return parameter if math.prod(np.shape(parameter)) == 1 else parameter.shape


class Family(Distribution):
    """Distributions that are their parameters: floats, whose first axes are those of the batch."""

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        shape, axes = tuple(batch_shape), len(self.batch_shape)
        larger = copy.copy(self)
        for name in self.arg_constraints:
            value = getattr(self, name)
            setattr(larger, name, ops.broadcast_to(value, (*shape, *value.shape[axes:])))
        larger.batch_shape = Size(shape)
        return larger


def floats(*values: Any) -> list[Tensor]:
    """Tensors of one shape and dtype, the default one where all are numbers or integers."""
    given = [asarray(value).dtype for value in values if not isinstance(value, (int, float))]
    kinds = [dtype for dtype in given if dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else get_default_dtype()
    tensors = [asarray(value, dtype) for value in values]
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    return [t if t.shape == shape else ops.broadcast_to(t, shape) for t in tensors]


def summed(tensor: Tensor, axes: int) -> Tensor:
    """A tensor summed over its last axes."""
    return ops.sum(tensor, axis=tuple(range(-axes, 0))) if axes else tensor


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Compute the Kullback-Leibler divergence E_p[log p - log q] of distributions of one family.

    Args:
        p: A distribution.
        q: Another one of the same class.

    Returns:
        Shape batch_shape, in nats.

    Raises:
        NotImplementedError: They are of different families.

    Example:
        >>> from minigrad.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0)).item()
        0.5
    """
    if type(p) is not type(q) or not isinstance(p, Distribution):
        raise NotImplementedError(
            f"kl_divergence: two distributions of one family expected, got {type(p).__name__} and "
            f"{type(q).__name__}; average p.log_prob(x) - q.log_prob(x) over samples of p"
        )
    return p.kl(q)
