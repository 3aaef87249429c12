"""Elementwise arithmetic, powers and roots.

One derivative per line. The engine sums over broadcast axes, so rules do not.
"""

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import constant, formula, stopped, times_sign, zero_gradient, zero_safe

__all__ = [
    "abs", "add", "cbrt", "divide", "multiply", "negative", "power", "reciprocal", "rsqrt", "sqrt",
    "square", "subtract",
]  # fmt: skip


@primitive(numpy=np.add)
def add(a: Any, b: Any) -> Any:
    """Add element by element, ``a + b``.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.add(minigrad.tensor([1.0, 2.0]), 3)
        tensor([4., 5.])
    """
    return np.add(a, b)


@primitive(numpy=np.subtract)
def subtract(a: Any, b: Any) -> Any:
    """Subtract element by element, ``a - b``.

    Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.subtract(minigrad.tensor([1.0, 2.0]), 3)
        tensor([-2., -1.])
    """
    return np.subtract(a, b)


@primitive(numpy=np.multiply)
def multiply(a: Any, b: Any) -> Any:
    """Multiply element by element, ``a * b``.

    Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.multiply(minigrad.tensor([1.0, 2.0]), 3)
        tensor([3., 6.])
    """
    return np.multiply(a, b)


@primitive(numpy=np.divide, float_inputs=True)
def divide(a: Any, b: Any) -> Any:
    """Divide element by element, ``a / b``; integers become floats.

    Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.divide(minigrad.tensor([1, 2]), 4)
        tensor([0.2500, 0.5000])
    """
    return np.divide(a, b)


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


@primitive(numpy=np.reciprocal, float_inputs=True, float16_in=np.float32)
def reciprocal(x: Any) -> Any:
    """Compute ``1 / x`` of each element; integers become floats, as in every division.

    Example:
        >>> import minigrad
        >>> minigrad.reciprocal(minigrad.tensor([2, 4]))
        tensor([0.5000, 0.2500])
    """
    return np.reciprocal(x)


@primitive(numpy=np.negative)
def negative(x: Any) -> Any:
    """Compute the negative of each element, ``-x``.

    Example:
        >>> import minigrad
        >>> minigrad.negative(minigrad.tensor([1.0, -2.0]))
        tensor([-1.,  2.])
    """
    return np.negative(x)


@primitive(numpy=np.square)
def square(x: Any) -> Any:
    """Compute the square of each element.

    Example:
        >>> import minigrad
        >>> minigrad.square(minigrad.tensor([1.0, -2.0]))
        tensor([1., 4.])
    """
    return np.square(x)


@primitive(numpy=np.sqrt, float_inputs=True, float16_in=np.float32)
def sqrt(x: Any) -> Any:
    """Compute the square root of each element; NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.sqrt(minigrad.tensor([1.0, 4.0]))
        tensor([1., 2.])
    """
    return np.sqrt(x)


@primitive(numpy=np.cbrt, float_inputs=True, float16_in=np.float32)
def cbrt(x: Any) -> Any:
    """Compute the cube root of each element, which has the sign of the element.

    Example:
        >>> import minigrad
        >>> minigrad.cbrt(minigrad.tensor([1.0, -8.0]))
        tensor([ 1., -2.])
    """
    return np.cbrt(x)


@primitive(numpy=np.absolute)
def abs(x: Any) -> Any:
    """Compute the absolute value of each element; its derivative at 0 is 0.

    Example:
        >>> import minigrad
        >>> minigrad.abs(minigrad.tensor([1.0, -2.0]))
        tensor([1., 2.])
    """
    return np.absolute(x)


@primitive(float_inputs=True, float16_in=np.float32)
def rsqrt(x: Any) -> Any:
    """Compute ``1 / sqrt(x)`` of each element; infinite at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.rsqrt(minigrad.tensor([1.0, 4.0]))
        tensor([1.0000, 0.5000])
    """
    return 1 / np.sqrt(x)


@formula("1 / b")
def _inverse(b: Any) -> Any:
    return np.inf if b.__class__ in (int, float) and b == 0 else 1 / b


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
divide.defvjp(
    a=lambda g, b: g * zero_safe(_inverse(b), g), b=lambda g, b, out: g * zero_safe(-out / b, g)
)
power.defvjp(a=_power_a, b=_power_b)
power.defformula(out="a ** b")
reciprocal.defvjp(x=lambda g, x, out: g * zero_safe(-out / x, g))
negative.defvjp(x=lambda g: -g)
abs.defvjp(x=lambda g, x: times_sign(g, x))
square.defvjp(x=lambda g, x: g * (2 * x))
sqrt.defvjp(x=lambda g, out: g * zero_safe(0.5 / out, g))
rsqrt.defvjp(x=lambda g, out: g * zero_safe(-0.5 * (out * out * out), g))
cbrt.defvjp(x=lambda g, out: g * zero_safe(1 / (3 * out * out), g))
