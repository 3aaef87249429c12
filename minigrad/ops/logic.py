"""Logic: comparisons, bools and bits combined elementwise, and bools reduced over axes.

None of these is differentiable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.ops._numerics import Axis

__all__ = [
    "all", "allclose", "any", "bitwise_and", "bitwise_or", "bitwise_xor", "count_nonzero", "equal",
    "greater", "greater_equal", "invert", "isclose", "isfinite", "isinf", "isnan", "left_shift",
    "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal",
    "right_shift",
]  # fmt: skip


@of_numpy(np.bitwise_and)
def bitwise_and(a: Any, b: Any) -> Any:
    """Compute the logical and (bitwise for integers), element by element.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_and(minigrad.tensor([True, False]), True)
        tensor([ True, False])
    """


@of_numpy(np.bitwise_or)
def bitwise_or(a: Any, b: Any) -> Any:
    """Compute the logical or (bitwise for integers), element by element.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_or(minigrad.tensor([True, False]), True)
        tensor([True, True])
    """


@of_numpy(np.bitwise_xor)
def bitwise_xor(a: Any, b: Any) -> Any:
    """Compute the exclusive or (bitwise for integers), element by element.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_xor(minigrad.tensor([True, False]), True)
        tensor([False,  True])
    """


@of_numpy(np.left_shift)
def left_shift(a: Any, b: Any) -> Any:
    """Move the bits of integers to the left, ``a << b``: times ``2 ** b``.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.left_shift(minigrad.tensor([1, 5]), 2)
        tensor([ 4, 20])
    """


@of_numpy(np.right_shift)
def right_shift(a: Any, b: Any) -> Any:
    """Move the bits of integers to the right, ``a >> b``: ``a // 2 ** b``.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.right_shift(minigrad.tensor([4, 21]), 2)
        tensor([1, 5])
    """


@of_numpy(np.logical_and, compares=True)
def logical_and(a: Any, b: Any) -> Any:
    """Test whether both are nonzero, element by element.

    Arguments and errors are as for `add`. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_and(minigrad.tensor([True, False]), True)
        tensor([ True, False])
    """


@of_numpy(np.logical_or, compares=True)
def logical_or(a: Any, b: Any) -> Any:
    """Test whether either is nonzero, element by element.

    Arguments and errors are as for `add`. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_or(minigrad.tensor([True, False]), True)
        tensor([True, True])
    """


@of_numpy(np.logical_xor, compares=True)
def logical_xor(a: Any, b: Any) -> Any:
    """Test whether one of the two is nonzero, element by element.

    Arguments and errors are as for `add`. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_xor(minigrad.tensor([True, False]), True)
        tensor([False,  True])
    """


@of_numpy(np.invert)
def invert(x: Any) -> Any:
    """Compute the logical not of bools and the bitwise not of integers. Not differentiable.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.invert(minigrad.tensor([True, False]))
        tensor([False,  True])
    """


@of_numpy(np.logical_not)
def logical_not(x: Any) -> Any:
    """Test which elements are 0. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_not(minigrad.tensor([0.0, 2.0]))
        tensor([ True, False])
    """


@primitive(numpy=np.any, arrays=1, axes=("axis",))
def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Test whether any element over axes is nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives False. Not differentiable.
    """
    return x.any(axis=axis, keepdims=keepdims)


@primitive(numpy=np.all, arrays=1, axes=("axis",))
def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Test whether all elements over axes are nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives True. Not differentiable.
    """
    return x.all(axis=axis, keepdims=keepdims)


@primitive(numpy=np.count_nonzero, arrays=1, axes=("axis",))
def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Count the nonzero elements over axes (int64); arguments and errors as for `sum`.

    NaN counts as nonzero. Not differentiable.
    """
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)


@of_numpy(np.equal, compares=True)
def equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a == b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.eq(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([False,  True, False])
    """


@of_numpy(np.not_equal, compares=True)
def not_equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a != b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.not_equal(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([ True, False,  True])
    """


@of_numpy(np.less, compares=True)
def less(a: Any, b: Any) -> Any:
    """Compare element by element: ``a < b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.less(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([ True, False, False])
    """


@of_numpy(np.less_equal, compares=True)
def less_equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a <= b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.less_equal(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([ True,  True, False])
    """


@of_numpy(np.greater, compares=True)
def greater(a: Any, b: Any) -> Any:
    """Compare element by element: ``a > b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.greater(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([False, False,  True])
    """


@of_numpy(np.greater_equal, compares=True)
def greater_equal(a: Any, b: Any) -> Any:
    """Compare element by element: ``a >= b``. Not differentiable.

    Arguments and errors are as for `add`. The result holds bools.

    Example:
        >>> import minigrad
        >>> minigrad.greater_equal(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        tensor([False,  True,  True])
    """


@primitive(numpy=np.isclose, arrays=2, promote=("a", "b"), compares=True)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Test which elements are close: ``|a - b| <= atol + rtol * |b|``. Not differentiable.

    With `equal_nan`, NaN is close to NaN. Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.isclose(minigrad.tensor([1.0, 2.0]), [1.0, 2.1])
        tensor([ True, False])
    """
    if np.any(np.less(rtol, 0)) or np.any(np.less(atol, 0)):
        raise ValueError(f"isclose: rtol and atol of at least 0 expected, got {rtol} and {atol}")
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


@of_numpy(np.isnan)
def isnan(x: Any) -> Any:
    """Test which elements are NaN. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.isnan(minigrad.tensor([1.0, float("nan"), float("-inf")]))
        tensor([False,  True, False])
    """


@of_numpy(np.isinf)
def isinf(x: Any) -> Any:
    """Test which elements are infinite, of either sign. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.isinf(minigrad.tensor([1.0, float("nan"), float("-inf")]))
        tensor([False, False,  True])
    """


@of_numpy(np.isfinite)
def isfinite(x: Any) -> Any:
    """Test which elements are finite: neither infinite nor NaN. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.isfinite(minigrad.tensor([1.0, float("nan"), float("-inf")]))
        tensor([ True, False, False])
    """
