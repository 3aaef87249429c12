"""Piecewise constant functions: rounding, floor division and remainders, signs.

Such a function is constant between its jumps, so its derivative is 0 there; at a jump it is 0 by
convention, as in PyTorch. The ops are recorded: the gradient through them is zero, not an error.
"""

from typing import Any

import numpy as np

from minigrad.autograd.primitives import OpFunction, primitive
from minigrad.ops._numerics import stopped, zero_gradient, zero_safe
from minigrad.ops._ufuncs import binary, unary

__all__ = [
    "ceil", "copysign", "floor", "floor_divide", "fmod", "nextafter", "remainder", "round", "sign",
    "signbit", "trunc",
]  # fmt: skip


def _rounding(function: Any, direction: str, example: str) -> OpFunction[[]]:
    text = (
        f"Round each element {direction} to an integer, in the dtype of `x`; the derivative is 0."
    )
    return unary(function, text, example, float_inputs=False, floats_only=True)


floor = _rounding(np.floor, "down", "[1.7, -1.2] -> [ 1., -2.]")
ceil = _rounding(np.ceil, "up", "[1.2, -1.7] -> [ 2., -1.]")
trunc = _rounding(np.trunc, "towards 0", "[1.7, -1.7] -> [ 1., -1.]")


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


signbit = unary(
    np.signbit, "Test which elements have a minus sign, as -0.0 has. Not differentiable.",
    "[1.0, -0.0, -2.0] -> [False,  True,  True]", float_inputs=False,
)  # fmt: skip
nextafter = binary(
    np.nextafter, "Find the number of the dtype that is next to `a` in the direction of `b`.",
    "[0.0, 2.0], 3 -> [1.4013e-45, 2.0000e+00]",
    "The derivative with respect to `a` is 1. Integers become floats.",
    float_inputs=True,
)  # fmt: skip
copysign = binary(
    np.copysign, "Compute the absolute value of `a` with the sign of `b`.",
    "[1.0, -2.0], -3 -> [-1., -2.]",
    "The derivative with respect to `a` is 0 at 0; -0.0 counts as negative in `b`. Integers "
    "become floats.",
    float_inputs=True,
)  # fmt: skip
floor_divide = binary(
    np.floor_divide, "Divide and round down, ``a // b``.", "[7.0, -7.0], 2 -> [ 3., -4.]",
    "The derivative is 0. Integers stay integers.",
)  # fmt: skip
remainder = binary(
    np.remainder, "Compute the remainder of floor division, ``a % b``.",
    "[7.0, -7.0], 3 -> [1., 2.]",
    "It is ``a - b * floor(a / b)``, so its derivatives are 1 and ``-floor(a / b)``. It has the "
    "sign of `b`, as in Python; integers stay integers.",
)  # fmt: skip
fmod = binary(
    np.fmod, "Compute the remainder of division rounded towards 0, as in C, with the sign of `a`.",
    "[7.0, -7.0], 3 -> [ 1., -1.]", "It is ``a - b * trunc(a / b)``; integers stay integers.",
)  # fmt: skip


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
