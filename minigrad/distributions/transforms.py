"""Functions of each element that can be inverted, for `TransformedDistribution`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.distributions.distribution import summed
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = ["AffineTransform", "ExpTransform", "SigmoidTransform", "TanhTransform", "Transform"]


class Transform:
    """The base class of transforms: y = f(x), monotone, with an inverse.

    A subclass defines ``_call(x)``, ``_inverse(y)`` and ``log_abs_det_jacobian(x, y)``.

    Args:
        cache_size: With 1, the inverse of the last result is the very input that it came from:
            exact also where the function saturates. With 0, it is computed.

    Attributes:
        event_dim: The number of last axes that are one value.
        sign: 1 where the function increases, -1 where it decreases.

    Example:
        >>> from minigrad.distributions import ExpTransform
        >>> exp = ExpTransform()
        >>> round(exp(0.5).item(), 4), round(exp.inv(exp(0.5)).item(), 4)
        (1.6487, 0.5)
    """

    bijective = True
    event_dim = 0
    sign: Any = 1

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}: cache_size must be 0 or 1, got {cache_size}")
        self.cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)

    def __call__(self, x: Any) -> Tensor:
        if self.cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(asarray(x))
        self._last = (x, y) if self.cache_size else (None, None)
        return y

    def _inverted(self, y: Any) -> Tensor:
        if self.cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(asarray(y))
        self._last = (x, y) if self.cache_size else (None, None)
        return x

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _Inverse(self)

    def _call(self, x: Tensor, /) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define _call()")

    def _inverse(self, y: Tensor, /) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define _inverse()")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:  # noqa: ARG002
        """Compute log|dy/dx|, summed over the last `event_dim` axes."""
        return summed(self._log_slope(x), self.event_dim)

    def _log_slope(self, x: Tensor, /) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define log_abs_det_jacobian()")

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the results for inputs of a shape."""
        return shape


class _Inverse(Transform):
    """A transform the other way round."""

    def __init__(self, of: Transform) -> None:
        super().__init__()
        self._of, self.event_dim, self.sign = of, of.event_dim, of.sign

    def __call__(self, x: Any) -> Tensor:
        return self._of._inverted(x)

    @property
    def inv(self) -> Transform:
        return self._of

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._of.forward_shape(shape)


class AffineTransform(Transform):
    """The transform y = loc + scale · x.

    Args:
        loc: A number or a tensor.
        scale: A number or a tensor, not 0.
        event_dim: The number of last axes that are one value.
        cache_size: As in `Transform`.

    Example:
        >>> from minigrad.distributions import AffineTransform
        >>> AffineTransform(1.0, 2.0)([0.0, 3.0])
        tensor([1., 7.])
    """

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        self.sign = np.sign(scale) if isinstance(scale, (int, float)) else ops.sign(scale)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def _log_slope(self, x: Tensor) -> Tensor:
        slope = ops.log(ops.abs(ops.astype(asarray(self.scale), x.dtype)))
        return ops.broadcast_to(slope, self.forward_shape(x.shape))

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return np.broadcast_shapes(shape, np.shape(self.loc), np.shape(self.scale))


class ExpTransform(Transform):
    """The transform y = exp(x). See `Transform`."""

    _call, _inverse = staticmethod(ops.exp), staticmethod(ops.log)
    _log_slope = staticmethod(lambda x: x)


class SigmoidTransform(Transform):
    """The transform y = 1 / (1 + exp(-x)), within (0, 1) also where it rounds to an end.

    See `Transform`.
    """

    def _call(self, x: Tensor) -> Tensor:
        return _inside(ops.sigmoid(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return ops.log(y) - ops.log1p(-y)

    def _log_slope(self, x: Tensor) -> Tensor:
        return -ops.softplus(-x) - ops.softplus(x)


class TanhTransform(Transform):
    """The transform y = tanh(x). Give it ``cache_size=1`` for the log_prob of its own samples.

    See `Transform`.
    """

    _call, _inverse = staticmethod(ops.tanh), staticmethod(ops.arctanh)
    _log_slope = staticmethod(lambda x: 2 * (math.log(2) - x - ops.softplus(-2 * x)))


def _inside(y: Tensor) -> Tensor:
    limits = np.finfo(y.dtype)
    return ops.clip(y, float(limits.tiny), 1 - float(limits.eps))
