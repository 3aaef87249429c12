"""Exponentials and logarithms.

One derivative per line; `zero_safe` guards slopes that can be infinite.
"""

import math
from typing import Any

import numpy as np

from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.ops._numerics import constant, formula, zero_safe

__all__ = [
    "entr", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "xlog1py",
    "xlogy",
]  # fmt: skip

_LN_2 = math.log(2)
_LOG2_E = math.log2(math.e)
_LOG10_E = math.log10(math.e)


@of_numpy(np.exp, float_inputs=True, float16_in=np.float32)
def exp(x: Any) -> Any:
    """Compute the exponential of each element: e to the power of `x`.

    Example:
        >>> import minigrad
        >>> minigrad.exp(minigrad.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """


@of_numpy(np.exp2, float_inputs=True, float16_in=np.float32)
def exp2(x: Any) -> Any:
    """Compute 2 to the power of each element.

    Example:
        >>> import minigrad
        >>> minigrad.exp2(minigrad.tensor([0.0, 3.0]))
        tensor([1., 8.])
    """


@of_numpy(np.expm1, float_inputs=True, float16_in=np.float32)
def expm1(x: Any) -> Any:
    """Compute the exponential of each element minus 1, accurate for small elements.

    Example:
        >>> import minigrad
        >>> minigrad.expm1(minigrad.tensor([0.0, 1e-10]))
        tensor([0.0000e+00, 1.0000e-10])
    """


@of_numpy(np.log, float_inputs=True, float16_in=np.float32)
def log(x: Any) -> Any:
    """Compute the natural logarithm of each element; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log(minigrad.tensor([1.0, 2.0]))
        tensor([0.0000, 0.6931])
    """


@of_numpy(np.log2, float_inputs=True, float16_in=np.float32)
def log2(x: Any) -> Any:
    """Compute the logarithm of each element to base 2; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log2(minigrad.tensor([1.0, 8.0]))
        tensor([0., 3.])
    """


@of_numpy(np.log10, float_inputs=True, float16_in=np.float32)
def log10(x: Any) -> Any:
    """Compute the logarithm of each element to base 10; -inf at 0, NaN for negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.log10(minigrad.tensor([1.0, 10.0]))
        tensor([0., 1.])
    """


@of_numpy(np.log1p, float_inputs=True, float16_in=np.float32)
def log1p(x: Any) -> Any:
    """Compute ``log(1 + x)`` of each element, accurate for small elements; -inf at -1, NaN below.

    Example:
        >>> import minigrad
        >>> minigrad.log1p(minigrad.tensor([0.0, 1e-10]))
        tensor([0.0000e+00, 1.0000e-10])
    """


@of_numpy(np.logaddexp, float_inputs=True, float16_in=np.float32)
def logaddexp(a: Any, b: Any) -> Any:
    """Compute ``log(exp(a) + exp(b))`` without overflow.

    Arguments and errors are as for `add`. Where both are -inf, it is -inf with gradient 0.

    Example:
        >>> import minigrad
        >>> minigrad.logaddexp(minigrad.tensor([0.0, 1000.0]), 0.0)
        tensor([6.9315e-01, 1.0000e+03])
    """


@primitive(float_inputs=True, float16_in=np.float32)
def xlogy(x: Any, y: Any) -> Any:
    """Compute ``x * log(y)`` element by element, and 0 where `x` is 0, whatever number `y` is.

    Args:
        x: Tensor, array or number.
        y: The same, of a shape that broadcasts with `x`.

    Returns:
        A tensor of the broadcast shape. At ``x = 0`` the slope is ``log(y)`` in `x` and 0 in `y`;
        it is -inf in `x` where `y` is 0 too.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.xlogy(minigrad.tensor([0.0, 2.0]), minigrad.tensor([0.0, 1.0]))
        tensor([0., 0.])
    """
    return _times_log(x, y, np.log)


@primitive(float_inputs=True, float16_in=np.float32)
def xlog1py(x: Any, y: Any) -> Any:
    """Compute ``x * log(1 + y)``, accurate for small `y`; 0 where `x` is 0; otherwise as `xlogy`.

    Example:
        >>> import minigrad
        >>> minigrad.xlog1py(minigrad.tensor([0.0, 2.0]), minigrad.tensor([-1.0, 0.0]))
        tensor([0., 0.])
    """
    return _times_log(x, y, np.log1p)


@np.errstate(divide="ignore", invalid="ignore")
def _times_log(x: Any, y: Any, log: Any) -> Any:
    product = x * _log(log, y)
    return np.where((x == 0) & ~np.isnan(y), product.dtype.type(0), product)


@formula("log(y)")
def _log(log: Any, y: Any) -> Any:
    """A logarithm; that of a Python number is one too, and so does not widen an array."""
    return float(log(y)) if y.__class__ in (int, float) else log(y)


@primitive(float_inputs=True, float16_in=np.float32)
def entr(x: Any) -> Any:
    """Compute the entropy of each element, ``-x * log(x)``: 0 at 0, with slope inf; -inf below 0.

    Args:
        x: Tensor, array or number.

    Example:
        >>> import minigrad
        >>> minigrad.entr(minigrad.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.3466, 0.0000])
    """
    return np.where(x < 0, x.dtype.type(-np.inf), 0 - _times_log(x, x, np.log))


@primitive(float_inputs=True, float16_in=np.float32)
def clamped_log(x: Any) -> Any:
    """The logarithm of at least -100, with a slope of at most 1e12, as binary cross-entropy needs.

    So it is in PyTorch: the loss of a wrong prediction of exactly 0 or 1 is finite, and is learned.
    """
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(x), x.dtype.type(-100))


@formula("x / y  # 0 where x and y are 0")
def _ratio(x: Any, y: Any) -> Any:
    return x / np.where((constant(x) == 0) & (constant(y) == 0), np.inf, y)


@formula("1 / (1 + exp(b - a))")
def _share(a: Any, b: Any) -> Any:
    """exp(a) / (exp(a) + exp(b)); 0 where both exponentials are 0, as in logsumexp."""
    lead = np.where(constant(a) == -np.inf, np.inf, b - a)
    return 1 / (1 + np.exp(lead))


# The table.
exp.defvjp(x=lambda g, out: g * zero_safe(out, g))
exp2.defvjp(x=lambda g, out: g * zero_safe(out * _LN_2, g))
expm1.defvjp(x=lambda g, x: g * zero_safe(np.exp(x), g))
log.defvjp(x=lambda g, x: zero_safe(g / x, g))
log2.defvjp(x=lambda g, x: zero_safe(_LOG2_E * g / x, g))
log10.defvjp(x=lambda g, x: zero_safe(_LOG10_E * g / x, g))
log1p.defvjp(x=lambda g, x: g * zero_safe(1 / (1 + x), g))
entr.defvjp(x=lambda g, x: g * zero_safe(-np.log(x) - 1, g))
clamped_log.defvjp(x=lambda g, x: g / np.maximum(x, 1e-12))
xlogy.defvjp(x=lambda g, y: g * zero_safe(_log(np.log, y), g))
xlogy.defvjp(y=lambda g, x, y: g * zero_safe(_ratio(x, y), g))
xlog1py.defvjp(x=lambda g, y: g * zero_safe(_log(np.log1p, y), g))
xlog1py.defvjp(y=lambda g, x, y: g * zero_safe(_ratio(x, 1 + y), g))
logaddexp.defvjp(a=lambda g, a, b: g * zero_safe(_share(a, b), g))
logaddexp.defvjp(b=lambda g, a, b: g * zero_safe(_share(b, a), g))
