"""Smooth activations: sigmoid, SiLU and GELU."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import erf_array, within_rule
from minigrad.ops.elementwise import erf

__all__ = ["gelu", "sigmoid", "silu"]

_SQRT_HALF = math.sqrt(0.5)
_SQRT_TWO_OVER_PI = math.sqrt(2 / math.pi)
_PDF_AT_ZERO = 1 / math.sqrt(2 * math.pi)
_CUBIC = 0.044715


@primitive(floating=True)
def sigmoid(x: Any) -> Any:
    """The logistic function of each element, ``1 / (1 + exp(-x))``, without overflow.

    Args:
        x: Tensor, array or number.

    Returns:
        Values between 0 and 1.

    Example:
        >>> import minigrad
        >>> minigrad.sigmoid(minigrad.tensor([-1000.0, 0.0, 1000.0]))
        Tensor([0. , 0.5, 1. ], dtype=float32)
    """
    small = np.exp(-np.absolute(x))
    return np.where(x >= 0, 1, small) / (1 + small)


@primitive(floating=True)
def silu(x: Any) -> Any:
    """The sigmoid-weighted linear unit (swish) of each element, ``x * sigmoid(x)``.

    Args:
        x: Tensor, array or number.

    Returns:
        A tensor of the shape of `x`.

    Source:
        Elfwing et al. 2017, arXiv:1702.03118.

    Example:
        >>> import minigrad
        >>> minigrad.silu(minigrad.tensor([0.0, 1.0]))
        Tensor([0.       , 0.7310586], dtype=float32)
    """
    return x * sigmoid.op.forward(x)


@primitive(floating=True)
def gelu(x: Any, approximate: Literal["none", "tanh"] = "none") -> Any:
    """The Gaussian error linear unit of each element, ``x * P(Z <= x)`` for a standard normal Z.

    Args:
        x: Tensor, array or number.
        approximate: ``"none"`` for the exact function, ``"tanh"`` for
            ``x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))``.

    Returns:
        A tensor of the shape of `x`.

    Raises:
        ValueError: `approximate` is something else.

    Source:
        Hendrycks and Gimpel 2016, arXiv:1606.08415.

    Example:
        >>> import minigrad
        >>> minigrad.gelu(minigrad.tensor([0.0, 1.0]))
        Tensor([0.        , 0.84134465], dtype=float32)
    """
    if approximate == "none":
        return x * (0.5 * (1 + erf_array(x * _SQRT_HALF)))
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(_SQRT_TWO_OVER_PI * (x + _CUBIC * (x * x * x))))
    raise ValueError(f'approximate must be "none" or "tanh", got {approximate!r}')


def _silu_x(g: Any, x: Any) -> Any:
    s = within_rule(sigmoid, x)
    return g * (s * (1 + x * (1 - s)))


def _gelu_x(g: Any, x: Any, approximate: str) -> Any:
    if approximate == "none":
        cdf = 0.5 * (1 + within_rule(erf, x * _SQRT_HALF))
        return g * (cdf + x * (_PDF_AT_ZERO * np.exp(-0.5 * (x * x))))
    t = np.tanh(_SQRT_TWO_OVER_PI * (x + _CUBIC * (x * x * x)))
    slope = _SQRT_TWO_OVER_PI * (1 + 3 * _CUBIC * (x * x))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)


sigmoid.defvjp(x=lambda g, out: g * (out * (1 - out)))
silu.defvjp(x=_silu_x)
gelu.defvjp(x=_gelu_x)
