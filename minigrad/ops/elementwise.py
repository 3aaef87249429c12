"""Elementwise arithmetic, powers and roots; rounding, remainders and signs.

One derivative per line. The engine sums over broadcast axes, so rules do not. A function that is
constant between its jumps has derivative 0, at a jump too, as in PyTorch: the gradient through it
is zero, not an error.
"""

from typing import Any

import numpy as np

from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.ops._numerics import (
    all_finite,
    constant,
    formula,
    stopped,
    times_sign,
    zero_gradient,
    zero_safe,
)

__all__ = [
    "abs", "add", "cbrt", "ceil", "copysign", "divide", "floor", "floor_divide", "fmod", "frexp",
    "gcd", "lcm", "multiply", "negative", "nextafter", "power", "reciprocal", "remainder", "round",
    "rsqrt", "sign", "signbit", "sqrt", "square", "subtract", "trunc",
]  # fmt: skip


@of_numpy(np.add)
def add(a: Any, b: Any) -> Any:
    """Add element by element, ``a + b``.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Raises:
        ValueError: The shapes do not broadcast.
    """


@of_numpy(np.subtract)
def subtract(a: Any, b: Any) -> Any:
    """Subtract element by element, ``a - b``.

    Arguments and errors are as for `add`.
    """


@of_numpy(np.multiply)
def multiply(a: Any, b: Any) -> Any:
    """Multiply element by element, ``a * b``.

    Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.multiply(minigrad.tensor([1.0, 2.0]), 3)
        tensor([3., 6.])
    """


@of_numpy(np.divide, float_inputs=True)
def divide(a: Any, b: Any) -> Any:
    """Divide element by element, ``a / b``; integers become floats.

    Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.true_divide(minigrad.tensor([1, 2]), 4)
        tensor([0.2500, 0.5000])
    """


@primitive(numpy=np.power, float16_in=np.float32)
def power(a: Any, b: Any) -> Any:
    """Raise `a` to the power `b` element by element, with ``0 ** 0 = 1``; arguments as for `add`.

    Raises:
        ValueError: The shapes do not broadcast, or an integer has a negative exponent.

    Example:
        >>> import minigrad
        >>> minigrad.power(minigrad.tensor([1.0, 2.0]), 3)
        tensor([1., 8.])
    """
    return np.square(a) if b.__class__ is int and b == 2 else np.power(a, b)


@of_numpy(np.reciprocal, float_inputs=True, float16_in=np.float32)
def reciprocal(x: Any) -> Any:
    """Compute ``1 / x`` of each element; integers become floats, as in every division.

    Example:
        >>> import minigrad
        >>> minigrad.reciprocal(minigrad.tensor([2, 4]))
        tensor([0.5000, 0.2500])
    """


@of_numpy(np.negative)
def negative(x: Any) -> Any:
    """Compute the negative of each element, ``-x``.

    Example:
        >>> import minigrad
        >>> minigrad.negative(minigrad.tensor([1.0, -2.0]))
        tensor([-1.,  2.])
    """


@of_numpy(np.square)
def square(x: Any) -> Any:
    """Compute the square of each element."""


@of_numpy(np.sqrt, float_inputs=True, float16_in=np.float32)
def sqrt(x: Any) -> Any:
    """Compute the square root of each element; NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.sqrt(minigrad.tensor([1.0, 4.0]))
        tensor([1., 2.])
    """


@of_numpy(np.cbrt, float_inputs=True, float16_in=np.float32)
def cbrt(x: Any) -> Any:
    """Compute the cube root of each element, which has the sign of the element.

    Example:
        >>> import minigrad
        >>> minigrad.cbrt(minigrad.tensor([1.0, -8.0]))
        tensor([ 1., -2.])
    """


@of_numpy(np.absolute)
def abs(x: Any) -> Any:
    """Compute the absolute value of each element; its derivative at 0 is 0.

    Example:
        >>> import minigrad
        >>> minigrad.abs(minigrad.tensor([1.0, -2.0]))
        tensor([1., 2.])
    """


@primitive(float_inputs=True, float16_in=np.float32)
def rsqrt(x: Any) -> Any:
    """Compute ``1 / sqrt(x)`` of each element; infinite at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.rsqrt(minigrad.tensor([1.0, 4.0]))
        tensor([1.0000, 0.5000])
    """
    return 1 / np.sqrt(x)


@primitive(numpy=np.floor)
def floor(x: Any) -> Any:
    """Round each element down to an integer, in the dtype of `x`; the derivative is 0.

    Example:
        >>> import minigrad
        >>> minigrad.floor(minigrad.tensor([1.7, -1.2]))
        tensor([ 1., -2.])
    """
    return np.floor(x) if x.dtype.kind == "f" else x.copy()


@primitive(numpy=np.ceil)
def ceil(x: Any) -> Any:
    """Round each element up to an integer, in the dtype of `x`; the derivative is 0.

    Example:
        >>> import minigrad
        >>> minigrad.ceil(minigrad.tensor([1.2, -1.7]))
        tensor([ 2., -1.])
    """
    return np.ceil(x) if x.dtype.kind == "f" else x.copy()


@primitive(numpy=np.trunc)
def trunc(x: Any) -> Any:
    """Round each element towards 0 to an integer, in the dtype of `x`; the derivative is 0.

    Example:
        >>> import minigrad
        >>> minigrad.trunc(minigrad.tensor([1.7, -1.7]))
        tensor([ 1., -1.])
    """
    return np.trunc(x) if x.dtype.kind == "f" else x.copy()


@primitive(numpy=(np.round, np.around, np.rint), arrays=1)
def round(x: Any, decimals: int = 0) -> Any:
    """Round each element, halves to the even neighbour, in the dtype of `x`; the derivative is 0.

    Args:
        x: Tensor, array or number.
        decimals: The number of digits after the decimal point; negative for digits before it.

    Example:
        >>> import minigrad
        >>> minigrad.round(minigrad.tensor([0.5, 1.5, 2.6]))
        tensor([0., 2., 3.])
    """
    # For integers, NumPy before 2.4 may return its argument itself.
    return np.round(x, decimals).astype(x.dtype, copy=x.dtype.kind != "f")


@primitive(numpy=np.sign)
def sign(x: Any) -> Any:
    """Compute the sign of each element, -1, 0 or 1, in the dtype of `x`; the derivative is 0.

    Example:
        >>> import minigrad
        >>> minigrad.sign(minigrad.tensor([3.0, 0.0, -2.0]))
        tensor([ 1.,  0., -1.])
    """
    return x.copy() if x.dtype == bool else np.sign(x)


@of_numpy(np.signbit)
def signbit(x: Any) -> Any:
    """Test which elements have a minus sign, as -0.0 has. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.signbit(minigrad.tensor([1.0, -0.0, -2.0]))
        tensor([False,  True,  True])
    """


@of_numpy(np.nextafter, float_inputs=True)
def nextafter(a: Any, b: Any) -> Any:
    """Find the number of the dtype that is next to `a` in the direction of `b`.

    Arguments and errors are as for `add`. The derivative with respect to `a` is 1. Integers become
    floats.

    Example:
        >>> import minigrad
        >>> minigrad.nextafter(minigrad.tensor([0.0, 2.0]), 3)
        tensor([1.4013e-45, 2.0000e+00])
    """


@of_numpy(np.gcd)
def gcd(a: Any, b: Any) -> Any:
    """Compute the greatest common divisor of integers. Not differentiable.

    Arguments and errors are as for `add`. Floats are a TypeError.

    Example:
        >>> import minigrad
        >>> minigrad.gcd(minigrad.tensor([4, 9]), minigrad.tensor([6, 3])).tolist()
        [2, 3]
    """


@of_numpy(np.lcm)
def lcm(a: Any, b: Any) -> Any:
    """Compute the least common multiple of integers. Not differentiable.

    Arguments and errors are as for `gcd`.

    Example:
        >>> import minigrad
        >>> minigrad.lcm(minigrad.tensor([4, 9]), minigrad.tensor([6, 3])).tolist()
        [12, 9]
    """


@primitive(multiple_outputs=True, float_inputs=True, residuals=("half",))
def frexp(x: Any) -> Any:
    """The mantissa and the exponent."""
    mantissa, exponent = np.frexp(x)
    return (mantissa, exponent), np.asarray(np.ldexp(x.dtype.type(1), exponent - 1))


@of_numpy(np.copysign, float_inputs=True)
def copysign(a: Any, b: Any) -> Any:
    """Compute the absolute value of `a` with the sign of `b`.

    Arguments and errors are as for `add`. The derivative with respect to `a` is 0 at 0; -0.0 counts
    as negative in `b`. Integers become floats.

    Example:
        >>> import minigrad
        >>> minigrad.copysign(minigrad.tensor([1.0, -2.0]), -3)
        tensor([-1., -2.])
    """


@of_numpy(np.floor_divide)
def floor_divide(a: Any, b: Any) -> Any:
    """Divide and round down, ``a // b``.

    Arguments and errors are as for `add`. The derivative is 0. Integers stay integers.

    Example:
        >>> import minigrad
        >>> minigrad.floor_divide(minigrad.tensor([7.0, -7.0]), 2)
        tensor([ 3., -4.])
    """


@of_numpy(np.remainder)
def remainder(a: Any, b: Any) -> Any:
    """Compute the remainder of floor division, ``a % b``.

    Arguments and errors are as for `add`. It is ``a - b * floor(a / b)``, so its derivatives are 1
    and ``-floor(a / b)``. It has the sign of `b`, as in Python; integers stay integers.

    Example:
        >>> import minigrad
        >>> minigrad.remainder(minigrad.tensor([7.0, -7.0]), 3)
        tensor([1., 2.])
    """


@of_numpy(np.fmod)
def fmod(a: Any, b: Any) -> Any:
    """Compute the remainder of division rounded towards 0, as in C, with the sign of `a`.

    Arguments and errors are as for `add`. It is ``a - b * trunc(a / b)``; integers stay integers.

    Example:
        >>> import minigrad
        >>> minigrad.fmod(minigrad.tensor([7.0, -7.0]), 3)
        tensor([ 1., -1.])
    """


@formula("g / b  # 0 where ḡ is 0 and the slope is infinite")
def _quotient(g: Any, b: Any) -> Any:
    known = constant(b)
    finite = known != 0 if known.__class__ in (int, float) else all_finite(1 / known)
    return g / b if finite else zero_safe(g / b, g)


@formula("g * (b * a ** (b - 1))  # 0 where a and b are 0")
def _power_a(g: Any, a: Any, b: Any) -> Any:
    if isinstance(b, (int, float)):
        if b == 2:
            return g * (2 * a)
        return zero_gradient(g) if b == 0 else g * zero_safe(b * a ** (b - 1), g)
    # a ** 0 is constant, also at 0 and NaN; its slope still depends on b.
    at_zero = (constant(b) == 0) & ~(np.absolute(constant(a)) > 0)
    return stopped(g, b) * zero_safe(b * np.where(at_zero, 1, a) ** (b - 1), g)


@formula("g * (out * log(a))  # 0 where a is 0 and b is at least 0")
def _power_b(g: Any, a: Any, b: Any, out: Any) -> Any:
    # 0 ** b is constant for b >= 0 and infinite below: there log(1) replaces log(0).
    zero = constant(a) == 0
    falls = ~(constant(b) >= 0)
    at_zero = np.where(falls, -np.inf, 0).astype(out.dtype)
    slope = zero_safe(np.where(zero, at_zero, out * np.log(np.where(zero, 1, a))), g)
    return stopped(g, np.logical_not(zero) | falls) * slope


# The table. `zero_safe` guards the slopes that can be infinite.
add.defvjp(a=lambda g: g, b=lambda g: g)
subtract.defvjp(a=lambda g: g, b=lambda g: -g)
multiply.defvjp(a=lambda g, b: g * b, b=lambda g, a: g * a)
divide.defvjp(a=lambda g, b: _quotient(g, b))
divide.defvjp(b=lambda g, b, a: g * zero_safe(a / b / -b, g))
power.defvjp(a=_power_a, b=_power_b)
power.defformula(out="a ** b")
reciprocal.defvjp(x=lambda g, x: g * zero_safe(-1 / x / x, g))
negative.defvjp(x=lambda g: -g)
abs.defvjp(x=lambda g, x: times_sign(g, x))
square.defvjp(x=lambda g, x: g * (2 * x))
sqrt.defvjp(x=lambda g, out: g * zero_safe(0.5 / out, g))
rsqrt.defvjp(x=lambda g, out: g * zero_safe(-0.5 * (out * out * out), g))
cbrt.defvjp(x=lambda g, out: g * zero_safe(1 / (3 * out * out), g))
floor.defvjp(x=zero_gradient)
ceil.defvjp(x=zero_gradient)
trunc.defvjp(x=zero_gradient)
round.defvjp(x=zero_gradient)
sign.defvjp(x=zero_gradient)
copysign.defvjp(a=lambda g, a, out: stopped(g, a) * (np.sign(a) * np.sign(out)), b=zero_gradient)
nextafter.defvjp(a=lambda g: g, b=zero_gradient)
# Half of the power of two: that itself can be infinite.
frexp.defvjp(x=lambda g, half: g[0] / 2 / half)
floor_divide.defvjp(a=zero_gradient, b=zero_gradient)
# The quotient from the remainder: a / b may be rounded up to the next whole number.
fmod.defvjp(a=lambda g: g, b=lambda g, a, b: g * zero_safe(np.round((np.fmod(a, b) - a) / b), g))
remainder.defvjp(a=lambda g: g, b=lambda g, a, b: g * zero_safe(-np.floor_divide(a, b), g))
