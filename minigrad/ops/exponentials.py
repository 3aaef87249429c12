"""Exponentials and logarithms.

One derivative per line; `zero_safe` guards slopes that can be infinite.
"""

import math
from typing import Any

import numpy as np

from minigrad.ops._numerics import array_of, formula, zero_safe
from minigrad.ops._ufuncs import binary, unary

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp"]

_LN_2 = math.log(2)
_LOG2_E = math.log2(math.e)
_LOG10_E = math.log10(math.e)


exp = unary(np.exp, "The exponential of each element: e to the power of `x`.")
exp2 = unary(np.exp2, "2 to the power of each element.", [0.0, 3.0])
expm1 = unary(
    np.expm1, "The exponential of each element minus 1, accurate for small elements.", [0.0, 1e-10]
)
log = unary(
    np.log,
    "The natural logarithm of each element; -inf at 0, NaN for negative numbers.",
    [1.0, 2.0],
)
log2 = unary(
    np.log2,
    "The logarithm of each element to base 2; -inf at 0, NaN for negative numbers.",
    [1.0, 8.0],
)
log10 = unary(
    np.log10,
    "The logarithm of each element to base 10; -inf at 0, NaN for negative numbers.",
    [1.0, 10.0],
)
log1p = unary(
    np.log1p,
    "``log(1 + x)`` of each element, accurate for small elements; -inf at -1, NaN below.",
    [0.0, 1e-10],
)


logaddexp = binary(
    np.logaddexp, "``log(exp(a) + exp(b))`` without overflow.", [0.0, 1000.0], 0.0,
    "Where both are -inf, it is -inf with gradient 0.", float_inputs=True, float16_in=np.float32,
)  # fmt: skip


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
