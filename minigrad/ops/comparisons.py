"""Questions with a yes or no for each element. They have no rules and record nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive

__all__ = [
    "bitwise_and", "bitwise_or", "equal", "greater", "greater_equal", "invert", "isfinite",
    "isnan", "less", "less_equal", "not_equal",
]  # fmt: skip


def _comparison(function: Any, symbol: str) -> Any:
    def compare(a: Any, b: Any) -> Any:
        return function(a, b)

    compare.__name__ = compare.__qualname__ = function.__name__
    compare.__doc__ = f"""Compare element by element: ``a {symbol} b``. It records nothing.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.{function.__name__}(minigrad.tensor([1.0, 2.0, 3.0]), 2)
        Tensor({np.array2string(function(np.array([1, 2, 3]), 2), separator=", ")}, dtype=bool)
    """
    return primitive(function)(compare)


equal = _comparison(np.equal, "==")
not_equal = _comparison(np.not_equal, "!=")
less = _comparison(np.less, "<")
less_equal = _comparison(np.less_equal, "<=")
greater = _comparison(np.greater, ">")
greater_equal = _comparison(np.greater_equal, ">=")


@primitive(np.bitwise_and)
def bitwise_and(a: Any, b: Any) -> Any:
    """Both hold, element by element; for integers, bit by bit. It records nothing.

    Args:
        a: Bools or integers.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools or integers.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_and(minigrad.tensor([True, False]), True)
        Tensor([ True, False], dtype=bool)
    """
    return np.bitwise_and(a, b)


@primitive(np.bitwise_or)
def bitwise_or(a: Any, b: Any) -> Any:
    """Either holds, element by element; for integers, bit by bit. It records nothing.

    Args:
        a: Bools or integers.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools or integers.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_or(minigrad.tensor([True, False]), False)
        Tensor([ True, False], dtype=bool)
    """
    return np.bitwise_or(a, b)


@primitive(np.invert)
def invert(x: Any) -> Any:
    """It does not hold, element by element; for integers, bit by bit. It records nothing.

    Args:
        x: Bools or integers.

    Returns:
        A tensor of bools or integers.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.invert(minigrad.tensor([True, False]))
        Tensor([False,  True], dtype=bool)
    """
    return np.invert(x)


@primitive(np.isnan)
def isnan(x: Any) -> Any:
    """Tell which elements are NaN. It records nothing.

    Args:
        x: Tensor, array or number.

    Returns:
        A tensor of bools.

    Example:
        >>> import minigrad
        >>> minigrad.isnan(minigrad.tensor([1.0, float("nan")]))
        Tensor([False,  True], dtype=bool)
    """
    return np.isnan(x)


@primitive(np.isfinite)
def isfinite(x: Any) -> Any:
    """Tell which elements are neither infinite nor NaN. It records nothing.

    Args:
        x: Tensor, array or number.

    Returns:
        A tensor of bools.

    Example:
        >>> import minigrad
        >>> minigrad.isfinite(minigrad.tensor([1.0, float("inf")]))
        Tensor([ True, False], dtype=bool)
    """
    return np.isfinite(x)
