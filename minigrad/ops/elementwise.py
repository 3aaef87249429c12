"""Element by element: arithmetic, powers and exponentials.

One derivative a line. Un-broadcasting is the engine's business, so a rule is the textbook's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import erf_array, raw, tame

__all__ = [
    "abs", "add", "divide", "erf", "exp", "log", "multiply", "negative", "power", "relu", "sign",
    "sqrt", "square", "subtract", "tanh",
]  # fmt: skip

TWO_OVER_SQRT_PI = 1.1283791670955126


@primitive(np.add)
def add(a: Any, b: Any) -> Any:
    """Add element by element, with broadcasting.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        ``a + b``.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.add(minigrad.tensor([1.0, 2.0]), 3)
        Tensor([4., 5.], dtype=float32)
    """
    return np.add(a, b)


@primitive(np.subtract)
def subtract(a: Any, b: Any) -> Any:
    """Subtract element by element, with broadcasting.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        ``a - b``.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.subtract(minigrad.tensor([1.0, 2.0]), 3)
        Tensor([-2., -1.], dtype=float32)
    """
    return np.subtract(a, b)


@primitive(np.multiply)
def multiply(a: Any, b: Any) -> Any:
    """Multiply element by element, with broadcasting.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        ``a * b``.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.multiply(minigrad.tensor([1.0, 2.0]), 3)
        Tensor([3., 6.], dtype=float32)
    """
    return np.multiply(a, b)


@primitive(np.divide, floating=True)
def divide(a: Any, b: Any) -> Any:
    """Divide element by element, with broadcasting; integers become floats.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        ``a / b``.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.divide(minigrad.tensor([1, 2]), 4)
        Tensor([0.25, 0.5 ], dtype=float32)
    """
    return np.divide(a, b)


@primitive(np.power)
def power(a: Any, b: Any) -> Any:
    """Raise `a` to the power `b`, element by element, with broadcasting.

    Args:
        a: Tensor, array or number.
        b: The exponent, the same.

    Returns:
        ``a ** b``, with ``0 ** 0 = 1``.

    Raises:
        ValueError: The shapes do not broadcast, or an integer has a negative exponent.

    Example:
        >>> import minigrad
        >>> minigrad.power(minigrad.tensor([1.0, 2.0]), 3)
        Tensor([1., 8.], dtype=float32)
    """
    return np.square(a) if b.__class__ is int and b == 2 else np.power(a, b)


@primitive(np.negative)
def negative(x: Any) -> Any:
    """Negate element by element.

    Args:
        x: Tensor, array or number.

    Returns:
        ``-x``.

    Example:
        >>> import minigrad
        >>> minigrad.negative(minigrad.tensor([1.0, -2.0]))
        Tensor([-1.,  2.], dtype=float32)
    """
    return np.negative(x)


@primitive(np.absolute)
def abs(x: Any) -> Any:
    """The absolute value of each element; its derivative at 0 is 0.

    Args:
        x: Tensor, array or number.

    Returns:
        ``|x|``.

    Example:
        >>> import minigrad
        >>> minigrad.abs(minigrad.tensor([1.0, -2.0]))
        Tensor([1., 2.], dtype=float32)
    """
    return np.absolute(x)


@primitive(np.sign)
def sign(x: Any) -> Any:
    """The sign of each element: -1, 0 or 1. It records nothing.

    Args:
        x: Tensor, array or number.

    Returns:
        A tensor of the dtype of `x`, without a gradient.

    Example:
        >>> import minigrad
        >>> minigrad.sign(minigrad.tensor([3.0, 0.0, -2.0]))
        Tensor([ 1.,  0., -1.], dtype=float32)
    """
    return np.sign(x)


@primitive(np.square)
def square(x: Any) -> Any:
    """The square of each element.

    Args:
        x: Tensor, array or number.

    Returns:
        ``x * x``.

    Example:
        >>> import minigrad
        >>> minigrad.square(minigrad.tensor([1.0, -2.0]))
        Tensor([1., 4.], dtype=float32)
    """
    return np.square(x)


@primitive(np.sqrt, floating=True)
def sqrt(x: Any) -> Any:
    """The square root of each element.

    Args:
        x: Tensor, array or number.

    Returns:
        The root; NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.sqrt(minigrad.tensor([1.0, 4.0]))
        Tensor([1., 2.], dtype=float32)
    """
    return np.sqrt(x)


@primitive(np.exp, floating=True)
def exp(x: Any) -> Any:
    """The exponential of each element.

    Args:
        x: Tensor, array or number.

    Returns:
        e to the power of `x`.

    Example:
        >>> import minigrad
        >>> minigrad.exp(minigrad.tensor([0.0, 1.0]))
        Tensor([1.       , 2.7182817], dtype=float32)
    """
    return np.exp(x)


@primitive(np.log, floating=True)
def log(x: Any) -> Any:
    """The natural logarithm of each element.

    Args:
        x: Tensor, array or number.

    Returns:
        The logarithm; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log(minigrad.tensor([1.0, 2.0]))
        Tensor([0.       , 0.6931472], dtype=float32)
    """
    return np.log(x)


@primitive(np.tanh, floating=True)
def tanh(x: Any) -> Any:
    """The hyperbolic tangent of each element.

    Args:
        x: Tensor, array or number.

    Returns:
        Values between -1 and 1.

    Example:
        >>> import minigrad
        >>> minigrad.tanh(minigrad.tensor([0.0, 1000.0]))
        Tensor([0., 1.], dtype=float32)
    """
    return np.tanh(x)


@primitive(floating=True)
def erf(x: Any) -> Any:
    """The error function of each element: 2/sqrt(pi) times the integral of exp(-t^2) up to x.

    Args:
        x: Tensor, array or number.

    Returns:
        Values between -1 and 1.

    Example:
        >>> import minigrad
        >>> minigrad.erf(minigrad.tensor([0.0, 1.0]))
        Tensor([0.       , 0.8427007], dtype=float32)
    """
    return erf_array(x)


@primitive
def relu(x: Any) -> Any:
    """The positive part of each element; its derivative at 0 is 0.

    Args:
        x: Tensor, array or number.

    Returns:
        ``max(x, 0)``.

    Example:
        >>> import minigrad
        >>> minigrad.relu(minigrad.tensor([-1.0, 2.0]))
        Tensor([0., 2.], dtype=float32)
    """
    return np.maximum(x, 0)


def _inverse(b: Any) -> Any:
    return np.inf if b.__class__ in (int, float) and b == 0 else 1 / b


def _power_a(g: Any, a: Any, b: Any) -> Any:
    if isinstance(b, (int, float)):
        if b == 2:
            return g * (2 * a)
        return g * 0 if b == 0 else g * tame(b * a ** (b - 1), g)
    # a ** 0 is flat also at 0; elsewhere b = 0 is no special case, the slope depends on b there.
    flat = (raw(a) == 0) & (raw(b) == 0)
    return g * tame(b * np.where(flat, 1, a) ** (b - 1), g)


def _power_b(g: Any, a: Any, b: Any, out: Any) -> Any:
    # 0 ** b is flat for b >= 0: the logarithm is taken of 1 there.
    flat = (raw(a) == 0) & (raw(b) >= 0)
    return g * tame(out * np.log(np.where(flat, 1, a)), g)


# The table. `tame` guards the slopes that can be infinite.
add.defvjp(a=lambda g: g, b=lambda g: g)
subtract.defvjp(a=lambda g: g, b=lambda g: -g)
multiply.defvjp(a=lambda g, b: g * b, b=lambda g, a: g * a)
divide.defvjp(a=lambda g, b: g * tame(_inverse(b), g), b=lambda g, b, out: g * tame(-out / b, g))
power.defvjp(a=_power_a, b=_power_b)
negative.defvjp(x=lambda g: -g)
abs.defvjp(x=lambda g, x: g * np.sign(x))
square.defvjp(x=lambda g, x: g * (2 * x))
sqrt.defvjp(x=lambda g, out: g * tame(0.5 / out, g))
exp.defvjp(x=lambda g, out: g * out)
log.defvjp(x=lambda g, x: g * tame(1 / x, g))
tanh.defvjp(x=lambda g, out: g * (1 - out * out))
erf.defvjp(x=lambda g, x: g * (TWO_OVER_SQRT_PI * np.exp(-x * x)))
relu.defvjp(x=lambda g, out: g * np.sign(out))
