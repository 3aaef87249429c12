"""Exponentials and logarithms.

One derivative per line; `zero_safe` guards slopes that can be infinite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import array_of, formula, zero_safe

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp"]

_LN_2 = math.log(2)
_LOG2_E = math.log2(math.e)
_LOG10_E = math.log10(math.e)


@primitive(np.exp, float_inputs=True)
def exp(x: Any) -> Any:
    """The exponential of each element: e to the power of `x`.

    Example:
        >>> import minigrad
        >>> minigrad.exp(minigrad.tensor([0.0, 1.0]))
        Tensor([1.       , 2.7182817], dtype=float32)
    """
    return np.exp(x)


@primitive(np.exp2, float_inputs=True)
def exp2(x: Any) -> Any:
    """2 to the power of each element.

    Example:
        >>> import minigrad
        >>> minigrad.exp2(minigrad.tensor([0.0, 3.0]))
        Tensor([1., 8.], dtype=float32)
    """
    return np.exp2(x)


@primitive(np.expm1, float_inputs=True)
def expm1(x: Any) -> Any:
    """The exponential of each element minus 1, accurate for small elements.

    Example:
        >>> import minigrad
        >>> minigrad.expm1(minigrad.tensor([0.0, 1e-10]))
        Tensor([0.e+00, 1.e-10], dtype=float32)
    """
    return np.expm1(x)


@primitive(np.log, float_inputs=True)
def log(x: Any) -> Any:
    """The natural logarithm of each element; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log(minigrad.tensor([1.0, 2.0]))
        Tensor([0.       , 0.6931472], dtype=float32)
    """
    return np.log(x)


@primitive(np.log2, float_inputs=True)
def log2(x: Any) -> Any:
    """The logarithm of each element to base 2; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log2(minigrad.tensor([1.0, 8.0]))
        Tensor([0., 3.], dtype=float32)
    """
    return np.log2(x)


@primitive(np.log10, float_inputs=True)
def log10(x: Any) -> Any:
    """The logarithm of each element to base 10; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log10(minigrad.tensor([1.0, 10.0]))
        Tensor([0., 1.], dtype=float32)
    """
    return np.log10(x)


@primitive(np.log1p, float_inputs=True)
def log1p(x: Any) -> Any:
    """``log(1 + x)`` of each element, accurate for small elements; -inf at -1, NaN below.

    Example:
        >>> import minigrad
        >>> minigrad.log1p(minigrad.tensor([0.0, 1e-10]))
        Tensor([0.e+00, 1.e-10], dtype=float32)
    """
    return np.log1p(x)


@primitive(np.logaddexp, float_inputs=True)
def logaddexp(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))`` without overflow; arguments and errors as for `add`.

    Where both are -inf, it is -inf with gradient 0.

    Example:
        >>> import minigrad
        >>> minigrad.logaddexp(minigrad.tensor([0.0, 1000.0]), 0.0)
        Tensor([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    return np.logaddexp(a, b)


@formula("1 / (1 + exp(b - a))")
def _share(a: Any, b: Any) -> Any:
    """exp(a) / (exp(a) + exp(b)); 0 where both exponentials are 0, as in logsumexp."""
    lead = np.where(array_of(a) == -np.inf, np.inf, b - a)
    return 1 / (1 + np.exp(lead))


# The table.
exp.defvjp(x=lambda g, out: g * zero_safe(out, g))
exp2.defvjp(x=lambda g, out: g * zero_safe(out * _LN_2, g))
expm1.defvjp(x=lambda g, x: g * zero_safe(np.exp(x), g))
log.defvjp(x=lambda g, x: g * zero_safe(1 / x, g))
log2.defvjp(x=lambda g, x: g * zero_safe(_LOG2_E / x, g))
log10.defvjp(x=lambda g, x: g * zero_safe(_LOG10_E / x, g))
log1p.defvjp(x=lambda g, x: g * zero_safe(1 / (1 + x), g))
logaddexp.defvjp(
    a=lambda g, a, b: g * zero_safe(_share(a, b), g),
    b=lambda g, a, b: g * zero_safe(_share(b, a), g),
)
