"""The gamma function: its logarithm and the derivatives of that, of real numbers.

All is computed in float64: near 1 and 2 by a fit with the zeros as factors, far away by an
asymptotic series, between by a recurrence, and left of 0 by reflection.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import horner, within_rule, zero_safe
from minigrad.ops._parallel import in_blocks

__all__ = ["digamma", "lgamma", "polygamma"]

# Chebyshev fits, computed with 60 digits.
# 1 < x < 3: lgamma(x) = (x - 1) (x - 2) P(t) with t = (x - 1.75) / (x + 1.75), error 4e-17.
_LGAMMA = (0.4501393121092563, -0.4181855531883497, 0.12718992499339582, -0.14437303879661817,
           0.08412964237959013, -0.08997434063196186, 0.06311420539598268, -0.06579368268648057,
           0.05045864303742199, -0.05194778638984204, 0.04201095536764014, -0.04293942848214251,
           0.035963399825303596, -0.03674311854803501, 0.03170572698550927, -0.030332817942179475,
           0.02546267607557561, -0.03871287722236415, 0.03799129922850395)  # fmt: skip
# 1 < x < 2: digamma(x) = (x - root) P(t) with t = (x - 1.5) / (x + 1.5), error 8e-17.
_DIGAMMA = (0.951055876031833, -1.2708822638443804, 0.8940000943225882, -0.9480504699677372,
            0.8970527240569177, -0.9236820273565172, 0.9043231034796789, -0.9182043440490247,
            0.9075858751108381, -0.9159125118635362, 0.9090169137296972, -0.9162444361851981,
            0.9147095348031714, -0.8628408936925807, 0.8915759643950275,
            -1.646409525257931)  # fmt: skip
_ROOT, _REST_OF_ROOT = 1.4616321449683622, 9.549995429965697e-17
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers B2, B4, ..., B16, of which the asymptotic series are made."""
_FAR = 10.0
"""From here on the asymptotic series are exact to the last digits."""


@primitive(float_inputs=True, float16_in=np.float32)
def lgamma(x: Any) -> Any:
    """Compute the logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ...

    For a whole number n, ``exp(lgamma(n + 1))`` is n!.

    Source: NIST Digital Library of Mathematical Functions, 5.5 and 5.11.

    Example:
        >>> import minigrad
        >>> minigrad.lgamma(minigrad.tensor([1.0, 4.0]))
        tensor([0.0000, 1.7918])
    """
    return in_blocks(_lgamma_array, x)


@primitive(float_inputs=True, float16_in=np.float32)
def digamma(x: Any) -> Any:
    """Compute the derivative of `lgamma`; -inf at 0, NaN at -1, -2, ...

    Source: NIST Digital Library of Mathematical Functions, 5.5 and 5.11.

    Example:
        >>> import minigrad
        >>> minigrad.digamma(minigrad.tensor([1.0, 2.0]))
        tensor([-0.5772,  0.4228])
    """
    return in_blocks(_digamma_array, x)


@primitive(arrays=1, float_inputs=True, float16_in=np.float32)
def _polygamma(x: Any, n: int) -> Any:
    return in_blocks(lambda x: _polygamma_array(x, n), x)


def polygamma(n: int, input: Any) -> Tensor:
    """Compute the derivative of order `n` of `digamma`.

    Args:
        n: The order, at least 0.
        input: Tensor, array or number.

    Raises:
        ValueError: `n` is negative.

    Source: NIST Digital Library of Mathematical Functions, 5.15 and 25.11.

    Example:
        >>> import minigrad
        >>> minigrad.polygamma(1, minigrad.tensor([1.0, 2.0]))
        tensor([1.6449, 0.6449])
    """
    if (n := operator.index(n)) < 0:
        raise value_error(f"polygamma: n must be at least 0, got {n}")
    return _polygamma(input, n) if n else digamma(input)


@np.errstate(all="ignore")
def _lgamma_array(x: np.ndarray) -> np.ndarray:
    y = np.asarray(x, np.float64)
    found = _lgamma_of_positive(np.where(y < 0, 1 - y, y))
    reflected = np.log(np.pi / np.absolute(np.sin(np.pi * _to_whole(y)))) - found
    found = np.where(y < 0, reflected, found)
    return np.asarray(np.where(np.isinf(y), np.inf, found).astype(x.dtype, copy=False))


def _lgamma_of_positive(x: np.ndarray) -> np.ndarray:
    near = np.clip(x, 0, 3)
    low = near < 1  # lgamma(x) = lgamma(x + 1) - log(x)
    one, two = np.where(low, near, near - 1), np.where(low, near - 1, near - 2)
    y = one + 1
    fit = one * two * horner(_LGAMMA, (y - 1.75) / (y + 1.75)) + 0.0  # no -0
    y, product = np.maximum(x, 3), np.ones_like(x)
    for _ in range(7):
        close = y < _FAR
        product = np.where(close, product * y, product)
        y = y + close
    series = (
        horner(tuple(b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)), y**-2) / y
    )
    far = (y - 0.5) * (np.log(y) - 1) + (math.log(2 * math.pi) - 1) / 2 + series
    far = far - np.log(product)
    return np.where(x < 3, fit - np.where(low, np.log(near), 0), far)


@np.errstate(all="ignore")
def _digamma_array(x: np.ndarray) -> np.ndarray:
    y = np.asarray(x, np.float64)
    found = _digamma_of_positive(np.where(y < 0, 1 - y, y))
    found = np.where(y < 0, found - np.pi * _cotangent(y), found)
    found = np.where((y < 0) & (_to_whole(y) == 0), np.nan, found)
    found = np.where(y == 0, np.copysign(np.inf, -y), found)
    return np.asarray(found.astype(x.dtype, copy=False))


def _digamma_of_positive(x: np.ndarray) -> np.ndarray:
    near = np.clip(x, 0, 2)
    low = near < 1  # digamma(x) = digamma(x + 1) - 1 / x
    y = near + low
    fit = ((y - _ROOT) - _REST_OF_ROOT) * horner(_DIGAMMA, (y - 1.5) / (y + 1.5))
    y, passed = np.maximum(x, 2), np.zeros_like(x)
    for _ in range(8):
        close = y < _FAR
        passed = passed + close / y
        y = y + close
    series = horner(tuple(b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)), y**-2) / y**2
    far = np.log(y) - 0.5 / y - series - passed
    return np.where(x < 2, fit - np.where(low, 1 / near, 0), far)


@np.errstate(all="ignore")
def _polygamma_array(x: np.ndarray, n: int) -> np.ndarray:
    from numpy.polynomial import Polynomial  # late: eight modules for one function

    y = np.asarray(x, np.float64)
    sign = -1.0 if n % 2 == 0 else 1.0
    found = sign * math.factorial(n) * _zeta(n + 1, np.where(y < 0, 1 - y, y))
    slope = Polynomial([0.0, 1.0])  # a derivative of the cotangent, as a polynomial of it
    for _ in range(n):
        slope = slope.deriv() * Polynomial([-1.0, 0.0, -1.0])
    reflected = -sign * found - math.pi ** (n + 1) * slope(_cotangent(y))
    at_pole = np.inf if n % 2 else np.nan  # of two signs, if n is even
    reflected = np.where(_to_whole(y) == 0, at_pole, reflected)
    return np.asarray(np.where(y < 0, reflected, found).astype(x.dtype, copy=False))


def _zeta(s: int, x: np.ndarray) -> np.ndarray:
    """The Hurwitz zeta function of positive numbers: the sum of ``(x + k) ** -s`` for all k.

    The first terms are added; the others are an integral with Euler's and Maclaurin's corrections.
    """
    first = 10 + s
    total: Any = sum((x + k) ** -s for k in range(first))
    y = x + first
    total = total + y ** (1 - s) / (s - 1) + 0.5 * y**-s
    factor = float(s)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * factor * y ** (1 - s - 2 * k)
        factor *= (s + 2 * k - 1) * (s + 2 * k)
    return np.asarray(total)


def _to_whole(x: np.ndarray) -> np.ndarray:
    """The signed distance to the nearest whole number."""
    return x - np.rint(x)


def _cotangent(x: np.ndarray) -> np.ndarray:
    """The cotangent of pi times x, exact near its zeros and its poles."""
    r = _to_whole(x)
    near_zero = np.copysign(np.tan(np.pi * (0.5 - np.absolute(r))), r)
    return np.where(np.absolute(r) < 0.25, 1 / np.tan(np.pi * r), near_zero)


# The table.
lgamma.defvjp(x=lambda g, x: g * zero_safe(within_rule(digamma, x), g))
digamma.defvjp(x=lambda g, x: g * zero_safe(within_rule(_polygamma, x, 1), g))
_polygamma.defvjp(x=lambda g, x, n: g * zero_safe(within_rule(_polygamma, x, n + 1), g))
