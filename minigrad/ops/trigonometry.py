"""Circular and hyperbolic functions, their inverses; lengths, angles and rotations in the plane.

One derivative per line. The formulas avoid overflow and cancellation: ``(1 - x) * (1 + x)`` for 1 -
x², ``hypot(x, 1)`` for √(x² + 1).
"""

import math
from typing import Any

import numpy as np

from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.ops._numerics import formula, inf_where_zero, stopped, within_rule, zero_safe

__all__ = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh",
    "deg2rad", "hypot", "rad2deg", "rotate_pairs", "sin", "sinc", "sinh", "tan", "tanh",
]  # fmt: skip

_DEGREE = math.pi / 180


@of_numpy(np.sin, float_inputs=True, float16_in=np.float32)
def sin(x: Any) -> Any:
    """Compute the sine of each element, an angle in radians.

    Example:
        >>> import minigrad
        >>> minigrad.sin(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8415])
    """


@of_numpy(np.cos, float_inputs=True, float16_in=np.float32)
def cos(x: Any) -> Any:
    """Compute the cosine of each element, an angle in radians.

    Example:
        >>> import minigrad
        >>> minigrad.cos(minigrad.tensor([0.0, 1.0]))
        tensor([1.0000, 0.5403])
    """


# float32 rounds π x
@of_numpy(np.sinc, float_inputs=True, float16_in=np.float64)
def sinc(x: Any) -> Any:
    """Compute the normalized sinc of each element, ``sin(πx) / (πx)``; 1 at 0.

    Example:
        >>> import minigrad
        >>> minigrad.sinc(minigrad.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
    """


@of_numpy(np.tan, float_inputs=True, float16_in=np.float32)
def tan(x: Any) -> Any:
    """Compute the tangent of each element, an angle in radians.

    Example:
        >>> import minigrad
        >>> minigrad.tan(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5574])
    """


@of_numpy(np.arcsin, float_inputs=True, float16_in=np.float32)
def arcsin(x: Any) -> Any:
    """Compute the angle from -π/2 to π/2 whose sine each element is; NaN below -1 and above 1.

    Its slope at -1 and 1 is infinite.

    Example:
        >>> import minigrad
        >>> minigrad.arcsin(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5708])
    """


@of_numpy(np.arccos, float_inputs=True, float16_in=np.float32)
def arccos(x: Any) -> Any:
    """Compute the angle from 0 to π whose cosine each element is; NaN below -1 and above 1.

    Its slope at -1 and 1 is infinite.

    Example:
        >>> import minigrad
        >>> minigrad.arccos(minigrad.tensor([0.0, 1.0]))
        tensor([1.5708, 0.0000])
    """


@of_numpy(np.arctan, float_inputs=True, float16_in=np.float32)
def arctan(x: Any) -> Any:
    """Compute the angle between -π/2 and π/2 whose tangent each element is.

    Example:
        >>> import minigrad
        >>> minigrad.arctan(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7854])
    """


@of_numpy(np.arctan2, float_inputs=True, float16_in=np.float32)
def arctan2(a: Any, b: Any) -> Any:
    """Compute the angle of the point (b, a) in the plane, -π to π.

    Arguments and errors are as for `add`. At the origin it has NumPy's values, and gradient 0.

    Example:
        >>> import minigrad
        >>> minigrad.arctan2(minigrad.tensor([1.0, -1.0]), -1)
        tensor([ 2.3562, -2.3562])
    """


@of_numpy(np.hypot, float_inputs=True, float16_in=np.float32)
def hypot(a: Any, b: Any) -> Any:
    """Compute the hypotenuse ``sqrt(a**2 + b**2)``, without intermediate overflow.

    Arguments and errors are as for `add`. Its gradient at the origin is 0, as for `norm`.

    Example:
        >>> import minigrad
        >>> minigrad.hypot(minigrad.tensor([3.0, 0.0]), 4)
        tensor([5., 4.])
    """


@of_numpy(np.sinh, float_inputs=True, float16_in=np.float32)
def sinh(x: Any) -> Any:
    """Compute the hyperbolic sine of each element, ``(exp(x) - exp(-x)) / 2``.

    Example:
        >>> import minigrad
        >>> minigrad.sinh(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 1.1752])
    """


@of_numpy(np.cosh, float_inputs=True, float16_in=np.float32)
def cosh(x: Any) -> Any:
    """Compute the hyperbolic cosine of each element, ``(exp(x) + exp(-x)) / 2``.

    Example:
        >>> import minigrad
        >>> minigrad.cosh(minigrad.tensor([0.0, 1.0]))
        tensor([1.0000, 1.5431])
    """


@of_numpy(np.tanh, float_inputs=True, float16_in=np.float32)
def tanh(x: Any) -> Any:
    """Compute the hyperbolic tangent of each element, between -1 and 1.

    Example:
        >>> import minigrad
        >>> minigrad.tanh(minigrad.tensor([0.0, 1000.0]))
        tensor([0., 1.])
    """


@of_numpy(np.arcsinh, float_inputs=True, float16_in=np.float32)
def arcsinh(x: Any) -> Any:
    """Compute the inverse of `sinh`, ``log(x + sqrt(x**2 + 1))``.

    Example:
        >>> import minigrad
        >>> minigrad.arcsinh(minigrad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8814])
    """


@of_numpy(np.arccosh, float_inputs=True, float16_in=np.float32)
def arccosh(x: Any) -> Any:
    """Compute the inverse of `cosh`, at least 0; NaN below 1. Its slope at 1 is infinite.

    Example:
        >>> import minigrad
        >>> minigrad.arccosh(minigrad.tensor([1.0, 2.0]))
        tensor([0.0000, 1.3170])
    """


@of_numpy(np.arctanh, float_inputs=True, float16_in=np.float32)
def arctanh(x: Any) -> Any:
    """Compute the inverse of `tanh`, ``log((1 + x) / (1 - x)) / 2``; infinite at ±1, NaN beyond.

    Example:
        >>> import minigrad
        >>> minigrad.arctanh(minigrad.tensor([0.0, 0.5]))
        tensor([0.0000, 0.5493])
    """


@of_numpy(np.deg2rad, np.radians, float_inputs=True, float16_in=np.float32)
def deg2rad(x: Any) -> Any:
    """Convert degrees to radians, ``x * π / 180``.

    Example:
        >>> import minigrad
        >>> minigrad.deg2rad(minigrad.tensor([0.0, 180.0]))
        tensor([0.0000, 3.1416])
    """


@of_numpy(np.rad2deg, np.degrees, float_inputs=True, float16_in=np.float32)
def rad2deg(x: Any) -> Any:
    """Convert radians to degrees, ``x * 180 / π``.

    Example:
        >>> import minigrad
        >>> minigrad.rad2deg(minigrad.tensor([0.0, 1.0]))
        tensor([ 0.0000, 57.2958])
    """


@formula("b / (a**2 + b**2)  # 0 at the origin")
def _turn(a: Any, b: Any) -> Any:
    """The derivative of the angle of (b, a) by a: b / r², with r the distance."""
    r = inf_where_zero(np.hypot(a, b))
    return b / r / r


_SINC = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 11)]
"""The Taylor series of the slope of sin(z) / z, divided by z, in powers of z²."""


@formula("(cos(pi * x) - sinc(x)) / x  # 0 where x is 0")
def _sinc_slope(x: Any) -> Any:
    z = x * math.pi
    near = (z > -1) & (z < 1)  # there the difference would cancel
    small, far = np.where(near, z, 0), np.where(near, 1, z)
    squares, series = small * small, 0
    for coefficient in reversed(_SINC):
        series = series * squares + coefficient
    return math.pi * np.where(near, small * series, (np.cos(far) - np.sin(far) / far) / far)


@primitive(float_inputs=True)
def rotate_pairs(x: Any, cos: Any, sin: Any, interleaved: bool = True) -> Any:
    """Rotate pairs along the last axis: (a, b) becomes (a cos - b sin, a sin + b cos).

    `cos` and `sin` are arrays that broadcast to (..., n), for `x` of shape (..., 2n). Pair i has
    the indices 2i and 2i + 1, or i and i + n if not `interleaved`.

    Source: Su et al. 2021, arXiv:2104.09864.
    """
    half = x.shape[-1] // 2
    first = slice(0, None, 2) if interleaved else slice(0, half)
    second = slice(1, None, 2) if interleaved else slice(half, None)
    a, b = x[..., first], x[..., second]
    out = np.empty(x.shape, x.dtype)
    out[..., first] = a * cos - b * sin
    out[..., second] = a * sin + b * cos
    return out


# The table. `zero_safe` guards the slopes that can be infinite.
sin.defvjp(x=lambda g, x: g * np.cos(x))
cos.defvjp(x=lambda g, x: g * -np.sin(x))
tan.defvjp(x=lambda g, out: g * (1 + out * out))
arcsin.defvjp(x=lambda g, x: g * zero_safe(1 / np.sqrt((1 - x) * (1 + x)), g))
arccos.defvjp(x=lambda g, x: g * zero_safe(-1 / np.sqrt((1 - x) * (1 + x)), g))
arctan.defvjp(x=lambda g, x: g / (1 + x * x))
arctan2.defvjp(a=lambda g, a, b: stopped(g, np.hypot(a, b)) * zero_safe(_turn(a, b), g))
arctan2.defvjp(b=lambda g, a, b: stopped(g, np.hypot(a, b)) * zero_safe(-_turn(b, a), g))
hypot.defvjp(a=lambda g, a, out: stopped(g, out) * zero_safe(a / inf_where_zero(out), g))
hypot.defvjp(b=lambda g, b, out: stopped(g, out) * zero_safe(b / inf_where_zero(out), g))
sinc.defvjp(x=lambda g, x: g * _sinc_slope(x))
sinh.defvjp(x=lambda g, x: g * zero_safe(np.cosh(x), g))
cosh.defvjp(x=lambda g, x: g * zero_safe(np.sinh(x), g))
tanh.defvjp(x=lambda g, out: g * (1 - out * out))
arcsinh.defvjp(x=lambda g, x: g / np.hypot(x, 1))
arccosh.defvjp(x=lambda g, x: g * zero_safe(1 / np.sqrt(x - 1) / np.sqrt(x + 1), g))
arctanh.defvjp(x=lambda g, x: g * zero_safe(1 / ((1 - x) * (1 + x)), g))
deg2rad.defvjp(x=lambda g: g * _DEGREE)
rad2deg.defvjp(x=lambda g: g * (1 / _DEGREE))
rotate_pairs.defvjp(
    x=lambda g, cos, sin, interleaved: within_rule(
        rotate_pairs, g, cos, -np.asarray(sin), interleaved
    )
)
