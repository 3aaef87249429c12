"""Element by element: arithmetic, powers, exponentials and choices.

One derivative a line. Un-broadcasting is the engine's business, so a rule is the textbook's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import erf_array, raw, tame

__all__ = [
    "abs", "add", "clip", "divide", "erf", "exp", "log", "masked_fill", "maximum", "minimum",
    "multiply", "negative", "power", "relu", "sign", "sqrt", "square", "subtract", "tanh",
    "where",
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


@primitive(np.maximum)
def maximum(a: Any, b: Any) -> Any:
    """The greater of two, element by element; equal ones share the gradient evenly.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        The maximum; NaN where either is NaN.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.maximum(minigrad.tensor([1.0, 5.0]), 3)
        Tensor([3., 5.], dtype=float32)
    """
    return np.maximum(a, b)


@primitive(np.minimum)
def minimum(a: Any, b: Any) -> Any:
    """The lesser of two, element by element; equal ones share the gradient evenly.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        The minimum; NaN where either is NaN.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.minimum(minigrad.tensor([1.0, 5.0]), 3)
        Tensor([1., 3.], dtype=float32)
    """
    return np.minimum(a, b)


@primitive(np.clip, arrays=3, promotes=("x", "low", "high"))
def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """Limit each element to the range from `low` to `high`; the slope at the bounds is 1.

    Args:
        x: Tensor, array or number.
        low: The least value allowed, None for no bound.
        high: The greatest value allowed, None for no bound.

    Returns:
        The limited values.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.clip(minigrad.tensor([-1.0, 0.5, 7.0]), 0, 1)
        Tensor([0. , 0.5, 1. ], dtype=float32)
    """
    return np.clip(x, low, high)


@primitive(np.where, promotes=("a", "b"))
def where(condition: Any, a: Any, b: Any) -> Any:
    """Take from `a` where the condition holds, from `b` elsewhere.

    Args:
        condition: Bools.
        a: Tensor, array or number.
        b: The same; the three shapes broadcast together.

    Returns:
        The chosen elements.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([-1.0, 2.0])
        >>> minigrad.where(x > 0, x, 10 * x)
        Tensor([-10.,   2.], dtype=float32)
    """
    return np.where(condition, a, b)


@primitive(arrays=3)
def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """Replace elements by a value where the mask is True.

    Args:
        x: Tensor, array or number.
        mask: Bools of a shape that broadcasts with `x`.
        value: A number, or a tensor with one element.

    Returns:
        A tensor of the dtype of `x`.

    Raises:
        TypeError: The mask does not hold bools.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.masked_fill(minigrad.ones(3), minigrad.tensor([True, False, True]), -1)
        Tensor([-1.,  1., -1.], dtype=float32)
    """
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"the mask must hold bools, got {mask.dtype}; write mask != 0")
    if np.size(value) != 1:
        raise ValueError(f"value must be one number, got shape {np.shape(value)}; use where")
    return np.where(mask, np.asarray(value).astype(x.dtype).reshape(()), x)


def _inverse(b: Any) -> Any:
    return np.inf if b.__class__ in (int, float) and b == 0 else 1 / b


def _power_a(g: Any, a: Any, b: Any) -> Any:
    if isinstance(b, (int, float)):
        if b == 2:
            return g * (2 * a)
        return g * 0 if b == 0 else g * tame(b * a ** (b - 1), g)
    return g * tame(np.where(raw(b) == 0, 0, b * a ** np.where(raw(b) == 0, 1, b - 1)), g)


def _power_b(g: Any, a: Any, b: Any, out: Any) -> Any:
    # 0 ** b is flat for b >= 0: the logarithm is taken of 1 there.
    flat = (raw(a) == 0) & (raw(b) >= 0)
    return g * tame(out * np.log(np.where(flat, 1, a)), g)


def _clip_x(g: Any, x: Any, low: Any, high: Any) -> Any:
    inside: Any = True if low is None else raw(x) >= raw(low)
    return np.where(inside if high is None else inside & (raw(x) <= raw(high)), g, 0)


def _clip_low(g: Any, x: Any, low: Any, high: Any) -> Any:
    chosen = raw(x) < raw(low)
    return np.where(chosen if high is None else chosen & (raw(low) <= raw(high)), g, 0)


def _clip_high(g: Any, x: Any, low: Any, high: Any) -> Any:
    limited = raw(x) if low is None else np.maximum(raw(x), raw(low))
    return np.where(limited > raw(high), g, 0)  # the upper bound wins where they cross


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
maximum.defvjp(
    a=lambda g, a, b: g * (a > b) + 0.5 * g * (a == b),
    b=lambda g, a, b: g * (b > a) + 0.5 * g * (a == b),
)
minimum.defvjp(
    a=lambda g, a, b: g * (a < b) + 0.5 * g * (a == b),
    b=lambda g, a, b: g * (b < a) + 0.5 * g * (a == b),
)
clip.defvjp(
    x=_clip_x,
    low=_clip_low,
    high=_clip_high,
)
where.defvjp(
    a=lambda g, condition: np.where(condition, g, 0),
    b=lambda g, condition: np.where(condition, 0, g),
)
masked_fill.defvjp(
    x=lambda g, mask: np.where(mask, 0, g),
    value=lambda g, mask, value_shape: np.where(mask, g, 0).sum().reshape(value_shape),
)
