"""Piecewise constant functions: rounding, floor division and remainders, signs.

Such a function is constant between its jumps, so its derivative is 0 there; at a jump it is 0 by
convention, as in PyTorch. The ops are recorded: the gradient through them is zero, not an error.
"""

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import stopped, zero_gradient, zero_safe

__all__ = [
    "ceil", "copysign", "floor", "floor_divide", "fmod", "nextafter", "remainder", "round", "sign",
    "signbit", "trunc",
]  # fmt: skip


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

    Raises:
        TypeError: `x` holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.sign(minigrad.tensor([3.0, 0.0, -2.0]))
        tensor([ 1.,  0., -1.])
    """
    return np.sign(x)


@primitive(numpy=np.signbit)
def signbit(x: Any) -> Any:
    """Test which elements have a minus sign, as -0.0 has. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.signbit(minigrad.tensor([1.0, -0.0, -2.0]))
        tensor([False,  True,  True])
    """
    return np.signbit(x)


@primitive(numpy=np.nextafter, float_inputs=True)
def nextafter(a: Any, b: Any) -> Any:
    """Find the number of the dtype that is next to `a` in the direction of `b`.

    Arguments and errors are as for `add`. The derivative with respect to `a` is 1. Integers become
    floats.

    Example:
        >>> import minigrad
        >>> minigrad.nextafter(minigrad.tensor([0.0, 2.0]), 3)
        tensor([1.4013e-45, 2.0000e+00])
    """
    return np.nextafter(a, b)


@primitive(numpy=np.copysign, float_inputs=True)
def copysign(a: Any, b: Any) -> Any:
    """Compute the absolute value of `a` with the sign of `b`.

    Arguments and errors are as for `add`. The derivative with respect to `a` is 0 at 0; -0.0 counts
    as negative in `b`. Integers become floats.

    Example:
        >>> import minigrad
        >>> minigrad.copysign(minigrad.tensor([1.0, -2.0]), -3)
        tensor([-1., -2.])
    """
    return np.copysign(a, b)


@primitive(numpy=np.floor_divide)
def floor_divide(a: Any, b: Any) -> Any:
    """Divide and round down, ``a // b``.

    Arguments and errors are as for `add`. The derivative is 0. Integers stay integers.

    Example:
        >>> import minigrad
        >>> minigrad.floor_divide(minigrad.tensor([7.0, -7.0]), 2)
        tensor([ 3., -4.])
    """
    return np.floor_divide(a, b)


@primitive(numpy=np.remainder)
def remainder(a: Any, b: Any) -> Any:
    """Compute the remainder of floor division, ``a % b``.

    Arguments and errors are as for `add`. It is ``a - b * floor(a / b)``, so its derivatives are 1
    and ``-floor(a / b)``. It has the sign of `b`, as in Python; integers stay integers.

    Example:
        >>> import minigrad
        >>> minigrad.remainder(minigrad.tensor([7.0, -7.0]), 3)
        tensor([1., 2.])
    """
    return np.remainder(a, b)


@primitive(numpy=np.fmod)
def fmod(a: Any, b: Any) -> Any:
    """Compute the remainder of division rounded towards 0, as in C, with the sign of `a`.

    Arguments and errors are as for `add`. It is ``a - b * trunc(a / b)``; integers stay integers.

    Example:
        >>> import minigrad
        >>> minigrad.fmod(minigrad.tensor([7.0, -7.0]), 3)
        tensor([ 1., -1.])
    """
    return np.fmod(a, b)


# The table.
floor.defvjp(x=zero_gradient)
ceil.defvjp(x=zero_gradient)
trunc.defvjp(x=zero_gradient)
round.defvjp(x=zero_gradient)
sign.defvjp(x=zero_gradient)
copysign.defvjp(a=lambda g, a, out: stopped(g, a) * (np.sign(a) * np.sign(out)), b=zero_gradient)
nextafter.defvjp(a=lambda g: g, b=zero_gradient)
floor_divide.defvjp(a=zero_gradient, b=zero_gradient)
# The quotient from the remainder: a / b may be rounded up to the next whole number.
fmod.defvjp(a=lambda g: g, b=lambda g, a, b, out: g * zero_safe(np.round((out - a) / b), g))
remainder.defvjp(a=lambda g: g, b=lambda g, a, b: g * zero_safe(-np.floor_divide(a, b), g))
