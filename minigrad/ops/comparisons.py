"""Comparisons, element by element. They return bools, so they have no rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import OpFunction, primitive
from minigrad.ops._ufuncs import binary, unary

__all__ = [
    "allclose", "equal", "greater", "greater_equal", "isclose", "isfinite", "isinf", "isnan",
    "less", "less_equal", "not_equal",
]  # fmt: skip


def _comparison(function: Any, symbol: str, result: str) -> OpFunction[[Any]]:
    description = f"Compare element by element: ``a {symbol} b``. Not differentiable."
    more = "The result holds bools."
    example = f"[1.0, 2.0, 3.0], 2 -> {result}"
    return binary(function, description, example, more, compares=True)


equal = _comparison(np.equal, "==", "[False,  True, False]")
not_equal = _comparison(np.not_equal, "!=", "[ True, False,  True]")
less = _comparison(np.less, "<", "[ True, False, False]")
less_equal = _comparison(np.less_equal, "<=", "[ True,  True, False]")
greater = _comparison(np.greater, ">", "[False, False,  True]")
greater_equal = _comparison(np.greater_equal, ">=", "[False,  True,  True]")


@primitive(numpy=np.isclose, arrays=2, promote=("a", "b"), compares=True)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Test which elements are close: ``|a - b| <= atol + rtol * |b|``. Not differentiable.

    With `equal_nan`, NaN is close to NaN. Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.isclose(minigrad.tensor([1.0, 2.0]), [1.0, 2.1])
        tensor([ True, False])
    """
    return np.isclose(a, b, rtol, atol, equal_nan)


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Test whether all elements are close, as in `isclose`; True of nothing.

    Example:
        >>> import minigrad
        >>> minigrad.allclose(minigrad.tensor([1.0, 2.0]), [1.0, 2.1])
        False
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def _test(function: Any, kind: str, result: str) -> OpFunction[[]]:
    description = f"Test which elements are {kind}. Not differentiable."
    example = f'[1.0, float("nan"), float("-inf")] -> {result}'
    return unary(function, description, example, float_inputs=False)


isnan = _test(np.isnan, "NaN", "[False,  True, False]")
isinf = _test(np.isinf, "infinite, of either sign", "[False, False,  True]")
isfinite = _test(np.isfinite, "finite: neither infinite nor NaN", "[ True, False, False]")
