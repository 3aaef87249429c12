"""Comparisons, element by element. They return bools, so they have no rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive

__all__ = [
    "allclose", "equal", "greater", "greater_equal", "isclose", "isfinite", "isinf", "isnan",
    "less", "less_equal", "not_equal",
]  # fmt: skip


@primitive(numpy=np.equal, compares=True)
def equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a == b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.eq(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([False,  True, False])
    """
    return np.equal(a, b)


@primitive(numpy=np.not_equal, compares=True)
def not_equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a != b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.not_equal(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([ True, False,  True])
    """
    return np.not_equal(a, b)


@primitive(numpy=np.less, compares=True)
def less(a: Any, b: Any) -> Any:
    """Compare element by element: ``a < b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.less(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([ True, False, False])
    """
    return np.less(a, b)


@primitive(numpy=np.less_equal, compares=True)
def less_equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a <= b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.less_equal(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([ True,  True, False])
    """
    return np.less_equal(a, b)


@primitive(numpy=np.greater, compares=True)
def greater(a: Any, b: Any) -> Any:
    """Compare element by element: ``a > b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.greater(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([False, False,  True])
    """
    return np.greater(a, b)


@primitive(numpy=np.greater_equal, compares=True)
def greater_equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a >= b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.greater_equal(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([False,  True,  True])
    """
    return np.greater_equal(a, b)


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
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Test whether all elements are close, as in `isclose`; True of nothing.

    Example:
        >>> import minigrad
        >>> minigrad.allclose(minigrad.tensor([1.0, 2.0]), [1.0, 2.1])
        False
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@primitive(numpy=np.isnan)
def isnan(x: Any) -> Any:
    """Test which elements are NaN. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.isnan(minigrad.tensor([1.0, float("nan"), float("-inf")]))
        tensor([False,  True, False])
    """
    return np.isnan(x)


@primitive(numpy=np.isinf)
def isinf(x: Any) -> Any:
    """Test which elements are infinite, of either sign. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.isinf(minigrad.tensor([1.0, float("nan"), float("-inf")]))
        tensor([False, False,  True])
    """
    return np.isinf(x)


@primitive(numpy=np.isfinite)
def isfinite(x: Any) -> Any:
    """Test which elements are finite: neither infinite nor NaN. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.isfinite(minigrad.tensor([1.0, float("nan"), float("-inf")]))
        tensor([ True, False, False])
    """
    return np.isfinite(x)
