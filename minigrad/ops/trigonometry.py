"""Circular and hyperbolic functions, their inverses, and lengths and angles in the plane.

One derivative per line. The formulas avoid overflow and cancellation: ``(1 - x) * (1 + x)`` for 1 -
x², ``hypot(x, 1)`` for √(x² + 1).
"""

import math
from typing import Any

import numpy as np

from minigrad.ops._numerics import constant, formula, inf_where_zero, stopped, zero_safe
from minigrad.ops._ufuncs import binary, unary

__all__ = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh",
    "deg2rad", "hypot", "rad2deg", "sin", "sinc", "sinh", "tan", "tanh",
]  # fmt: skip

_DEGREE = math.pi / 180


sin = unary(
    np.sin,
    "Compute the sine of each element, an angle in radians.",
    "[0.0, 1.0] -> [0.0000, 0.8415]",
)
cos = unary(
    np.cos,
    "Compute the cosine of each element, an angle in radians.",
    "[0.0, 1.0] -> [1.0000, 0.5403]",
)
sinc = unary(
    np.sinc, "Compute the normalized sinc of each element, ``sin(πx) / (πx)``; 1 at 0.",
    "[0.0, 0.5] -> [1.0000, 0.6366]",
    float16_in=np.float64,  # float32 rounds π x
)  # fmt: skip
tan = unary(
    np.tan,
    "Compute the tangent of each element, an angle in radians.",
    "[0.0, 1.0] -> [0.0000, 1.5574]",
)
arcsin = unary(
    np.arcsin,
    "Compute the angle from -π/2 to π/2 whose sine each element is; NaN below -1 and above 1."
    "\n\nIts slope at -1 and 1 is infinite.",
    "[0.0, 1.0] -> [0.0000, 1.5708]",
)
arccos = unary(
    np.arccos,
    "Compute the angle from 0 to π whose cosine each element is; NaN below -1 and above 1."
    "\n\nIts slope at -1 and 1 is infinite.",
    "[0.0, 1.0] -> [1.5708, 0.0000]",
)
arctan = unary(
    np.arctan,
    "Compute the angle between -π/2 and π/2 whose tangent each element is.",
    "[0.0, 1.0] -> [0.0000, 0.7854]",
)
arctan2 = binary(
    np.arctan2, "Compute the angle of the point (b, a) in the plane, -π to π.",
    "[1.0, -1.0], -1 -> [ 2.3562, -2.3562]",
    "At the origin it has NumPy's values, and gradient 0.", float_inputs=True,
    float16_in=np.float32,
)  # fmt: skip
hypot = binary(
    np.hypot, "Compute the hypotenuse ``sqrt(a**2 + b**2)``, without intermediate overflow.",
    "[3.0, 0.0], 4 -> [5., 4.]",
    "Its gradient at the origin is 0, as for `norm`.", float_inputs=True,
    float16_in=np.float32,
)  # fmt: skip
sinh = unary(
    np.sinh,
    "Compute the hyperbolic sine of each element, ``(exp(x) - exp(-x)) / 2``.",
    "[0.0, 1.0] -> [0.0000, 1.1752]",
)
cosh = unary(
    np.cosh,
    "Compute the hyperbolic cosine of each element, ``(exp(x) + exp(-x)) / 2``.",
    "[0.0, 1.0] -> [1.0000, 1.5431]",
)
tanh = unary(
    np.tanh,
    "Compute the hyperbolic tangent of each element, between -1 and 1.",
    "[0.0, 1000.0] -> [0., 1.]",
)
arcsinh = unary(
    np.arcsinh,
    "Compute the inverse of `sinh`, ``log(x + sqrt(x**2 + 1))``.",
    "[0.0, 1.0] -> [0.0000, 0.8814]",
)
arccosh = unary(
    np.arccosh,
    "Compute the inverse of `cosh`, at least 0; NaN below 1. Its slope at 1 is infinite.",
    "[1.0, 2.0] -> [0.0000, 1.3170]",
)
arctanh = unary(
    np.arctanh,
    "Compute the inverse of `tanh`, ``log((1 + x) / (1 - x)) / 2``; infinite at ±1, NaN beyond.",
    "[0.0, 0.5] -> [0.0000, 0.5493]",
)
deg2rad = unary(
    np.deg2rad,
    "Convert degrees to radians, ``x * π / 180``.",
    "[0.0, 180.0] -> [0.0000, 3.1416]",
    numpy_functions=[np.radians],
)
rad2deg = unary(
    np.rad2deg,
    "Convert radians to degrees, ``x * 180 / π``.",
    "[0.0, 1.0] -> [ 0.0000, 57.2958]",
    numpy_functions=[np.degrees],
)


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
    near = np.absolute(constant(z)) < 1  # there the difference would cancel
    small, far = np.where(near, z, 0), np.where(near, 1, z)
    squares, series = small * small, 0
    for coefficient in reversed(_SINC):
        series = series * squares + coefficient
    return math.pi * np.where(near, small * series, (np.cos(far) - np.sin(far) / far) / far)


# The table. `zero_safe` guards the slopes that can be infinite.
sin.defvjp(x=lambda g, x: g * np.cos(x))
cos.defvjp(x=lambda g, x: g * -np.sin(x))
tan.defvjp(x=lambda g, out: g * (1 + out * out))
arcsin.defvjp(x=lambda g, x: g * zero_safe(1 / np.sqrt((1 - x) * (1 + x)), g))
arccos.defvjp(x=lambda g, x: g * zero_safe(-1 / np.sqrt((1 - x) * (1 + x)), g))
arctan.defvjp(x=lambda g, x: g / (1 + x * x))
arctan2.defvjp(
    a=lambda g, a, b: stopped(g, np.hypot(a, b)) * zero_safe(_turn(a, b), g),
    b=lambda g, a, b: stopped(g, np.hypot(a, b)) * zero_safe(-_turn(b, a), g),
)
hypot.defvjp(
    a=lambda g, a, out: stopped(g, out) * zero_safe(a / inf_where_zero(out), g),
    b=lambda g, b, out: stopped(g, out) * zero_safe(b / inf_where_zero(out), g),
)
sinc.defvjp(x=lambda g, x: g * _sinc_slope(x))
sinh.defvjp(x=lambda g, x: g * zero_safe(np.cosh(x), g))
cosh.defvjp(x=lambda g, x: g * zero_safe(np.sinh(x), g))
tanh.defvjp(x=lambda g, out: g * (1 - out * out))
arcsinh.defvjp(x=lambda g, x: g / np.hypot(x, 1))
arccosh.defvjp(x=lambda g, x: g * zero_safe(1 / np.sqrt(x - 1) / np.sqrt(x + 1), g))
arctanh.defvjp(x=lambda g, x: g * zero_safe(1 / ((1 - x) * (1 + x)), g))
deg2rad.defvjp(x=lambda g: g * _DEGREE)
rad2deg.defvjp(x=lambda g: g * (1 / _DEGREE))
