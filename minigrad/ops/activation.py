"""Activations: ReLU, sigmoid, softplus, SiLU, GELU; the error function and inverses."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import (
    SMALL,
    constant,
    erf_array,
    erfc_array,
    erfinv_array,
    finite,
    formula,
    within_rule,
    zero,
    zero_safe,
    zeroed,
)
from minigrad.ops._parallel import ELEMENTS, in_blocks

__all__ = ["erf", "erfc", "erfinv", "gelu", "logit", "relu", "sigmoid", "silu", "softplus"]

_SQRT_HALF = math.sqrt(0.5)
_SQRT_TWO_OVER_PI = math.sqrt(2 / math.pi)
_PDF_AT_ZERO = 1 / math.sqrt(2 * math.pi)
_CUBIC = 0.044715
_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


@primitive
def relu(x: Any) -> Any:
    """Compute the positive part of each element, ``max(x, 0)``; its derivative at 0 is 0.

    Example:
        >>> import minigrad
        >>> minigrad.relu(minigrad.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return in_blocks(_relu, x) if x.size > SMALL else np.maximum(x, zero(x.dtype))


def _relu(x: np.ndarray) -> np.ndarray:
    # np.maximum of two arrays is four times as fast as of an array and a number.
    return np.asarray(np.maximum(x, _zeros(x.dtype)[: x.size].reshape(x.shape)))


@functools.cache
def _zeros(dtype: Any) -> np.ndarray:
    """A cached array of zeros; do not write to it."""
    zeros = np.zeros(ELEMENTS, dtype)
    zeros.flags.writeable = False
    return zeros


@primitive(arrays=1, float_inputs=True, computed_by=np.clip)
def hardtanh(x: Any, low: float = -1.0, high: float = 1.0) -> Any:
    """Limit each element to the range from `low` to `high`, with slope 0 at the bounds, 1 at NaN.

    `clip` has slope 1 at the bounds.
    """


@primitive(float_inputs=True, float16_in=np.float32)
def sigmoid(x: Any) -> Any:
    """Compute the logistic function of each element, ``1 / (1 + exp(-x))``, without overflow.

    Example:
        >>> import minigrad
        >>> minigrad.sigmoid(minigrad.tensor([-1000.0, 0.0, 1000.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return in_blocks(_sigmoid, x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    # exp(x) / (1 + exp(x)) where x is negative, else 1 / (1 + exp(-x))
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.absolute(x)))


@primitive(float_inputs=True, float16_in=np.float32)
def softplus(x: Any, beta: float = 1.0) -> Any:
    """Compute a smooth ReLU, ``log(1 + exp(beta * x)) / beta``, exactly and without overflow.

    Args:
        x: Tensor, array or number.
        beta: Sharpness of the bend.

    Raises:
        ValueError: `beta` is 0.

    Source:
        Dugas et al. 2000, "Incorporating second-order functional knowledge for better option
        pricing".

    Example:
        >>> import minigrad
        >>> minigrad.softplus(minigrad.tensor([-1000.0, 0.0, 1000.0]))
        tensor([0.0000e+00, 6.9315e-01, 1.0000e+03])
    """
    if beta == 0:
        raise ValueError("beta must not be 0")
    return np.logaddexp(x * float(beta), 0) / float(beta)


@primitive(float_inputs=True, float16_in=np.float32)
def silu(x: Any) -> Any:
    """Compute the sigmoid-weighted linear unit (swish) of each element, ``x * sigmoid(x)``.

    Source:
        Elfwing et al. 2017, arXiv:1702.03118.

    Example:
        >>> import minigrad
        >>> minigrad.silu(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7311])
    """
    return in_blocks(lambda x: x * _sigmoid(x), x)


@primitive(float_inputs=True, float16_in=np.float32)
def erf(x: Any) -> Any:
    """Compute the error function: 2/sqrt(pi) times the integral of exp(-t^2) up to each element.

    Example:
        >>> import minigrad
        >>> minigrad.erf(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8427])
    """
    return in_blocks(erf_array, x)


@primitive(float_inputs=True, float16_in=np.float32)
def erfc(x: Any) -> Any:
    """Compute the complementary error function, ``1 - erf(x)``, exact where it is small.

    Example:
        >>> import minigrad
        >>> minigrad.erfc(minigrad.tensor([0.0, 5.0]))
        tensor([1.0000e+00, 1.5375e-12])
    """
    return in_blocks(erfc_array, x)


@primitive(float_inputs=True, float16_in=np.float32)
def erfinv(x: Any) -> Any:
    """Compute the inverse of the error function, of each element; infinite at -1 and 1, NaN beyond.

    Source:
        Winitzki 2008, "A handy approximation for the error function and its inverse", refined.

    Example:
        >>> import minigrad
        >>> minigrad.erfinv(minigrad.tensor([0.0, 0.8427007]))
        tensor([0.0000, 1.0000])
    """
    return in_blocks(erfinv_array, x)


@primitive(arrays=1, float_inputs=True, float16_in=np.float32)
def logit(x: Any, eps: float | None = None) -> Any:
    """Compute the inverse of the sigmoid of each element, ``log(x / (1 - x))``.

    Args:
        x: Numbers from 0 to 1: the result is infinite at 0 and 1, and NaN beyond.
        eps: Limit them to the range from `eps` to ``1 - eps``; the derivative is 0 beyond.

    Raises:
        ValueError: `eps` is not between 0 and 0.5.

    Example:
        >>> import minigrad
        >>> minigrad.logit(minigrad.tensor([0.5, 0.75]))
        tensor([0.0000, 1.0986])
    """
    if eps is not None:
        if not 0 <= eps <= 0.5:
            raise ValueError(f"eps must be from 0 to 0.5, got {eps}")
        x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


# Half of float32's digits cancel in the tail of gelu.
@primitive(float_inputs=True, float16_in=np.float64)
def gelu(x: Any, approximate: Literal["none", "tanh"] = "none") -> Any:
    """Compute the Gaussian error linear unit, ``x * P(Z <= x)`` for a standard normal Z.

    Args:
        x: Tensor, array or number.
        approximate: ``"none"`` for the exact function, ``"tanh"`` for
            ``x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))``.

    Raises:
        ValueError: `approximate` is something else.

    Source:
        Hendrycks and Gimpel 2016, arXiv:1606.08415.

    Example:
        >>> import minigrad
        >>> minigrad.gelu(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f'approximate must be "none" or "tanh", got {approximate!r}')
    return in_blocks(_gelu, x, approximate)


def _gelu(x: np.ndarray, approximate: str) -> np.ndarray:
    if approximate == "none":
        return x * (0.5 * (1 + erf_array(x * _SQRT_HALF)))
    return 0.5 * x * (1 + np.tanh(_SQRT_TWO_OVER_PI * (x + _CUBIC * (x * x * x))))


@formula("where(out > 0, g, 0)")
def _relu_x(g: Any, out: Any) -> Any:
    if out.__class__ is not np.ndarray:
        return zeroed(g * out**0, constant(out) <= 0)  # gives the slope a derivative, which is 0
    if g.size <= SMALL:
        product = g * np.sign(out)
        if math.isfinite(np.vdot(product, product)):  # no infinite cotangent, no NaN in the output
            return product
    return in_blocks(lambda g, out: zeroed(g, out <= zero(out.dtype)), g, out)


def _silu_x(g: Any, x: Any) -> Any:
    s = within_rule(sigmoid, x)
    return g * (s * (1 + x * (1 - s)))


def _gelu_x(g: Any, x: Any, approximate: str) -> Any:
    if approximate == "none":
        cdf = 0.5 * (1 + within_rule(erf, x * _SQRT_HALF))
        return g * (cdf + x * (_PDF_AT_ZERO * np.exp(-0.5 * (x * x))))
    t = np.tanh(_SQRT_TWO_OVER_PI * (x + _CUBIC * (x * x * x)))
    fall = 1 - t * t  # 0 far out, where the square of x may be infinite
    slope = finite(_SQRT_TWO_OVER_PI * (1 + 3 * _CUBIC * (x * x)), fall)
    return g * (0.5 * (1 + t) + 0.5 * x * fall * slope)


@formula(
    """
    eps = 0 if eps is None else eps  # 0 where there is none
    where((x < eps) | (x > 1 - eps), 0, g) / (x * (1 - x))
    """
)
def _logit_x(g: Any, x: Any, eps: float | None) -> Any:
    values = constant(x)
    if eps is not None:
        g = zeroed(g, (values < eps) | (values > 1 - eps))
    slope = 1 / (x * (1 - x))
    return g * zero_safe(np.where((values < 0) | (values > 1), np.nan, slope), g)


# The table.
relu.defvjp(x=_relu_x)
hardtanh.defvjp(x=lambda g, x, low, high: zeroed(g, (constant(x) <= low) | (constant(x) >= high)))
sigmoid.defvjp(x=lambda g, out: g * (out * (1 - out)))
softplus.defvjp(x=lambda g, x, beta: g * within_rule(sigmoid, x * float(beta)))
silu.defvjp(x=lambda g, x: in_blocks(_silu_x, g, x))
erf.defvjp(x=lambda g, x: g * (_TWO_OVER_SQRT_PI * np.exp(-x * x)))
erfc.defvjp(x=lambda g, x: g * (-_TWO_OVER_SQRT_PI * np.exp(-x * x)))
erfinv.defvjp(x=lambda g, out: g * zero_safe(np.exp(out * out) / _TWO_OVER_SQRT_PI, g))
logit.defvjp(x=_logit_x)
gelu.defvjp(x=lambda g, x, approximate: in_blocks(_gelu_x, g, x, approximate))
relu.defformula(out="max(x, 0)")
sigmoid.defformula(out="1 / (1 + exp(-x))")
silu.defformula(out="x * sigmoid(x)")
softplus.defformula(out="log(1 + exp(beta * x)) / beta")
gelu.defformula(
    out="""
        inner = sqrt(2 / pi) * (x + 0.044715 * x ** 3)
        x * (1 + (tanh(inner) if approximate == "tanh" else erf(x / sqrt(2)))) / 2
    """
)
