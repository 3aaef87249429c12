"""Logic: bools combined elementwise, and reduced over axes.

None of these is differentiable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import Axis

__all__ = [
    "all", "any", "bitwise_and", "bitwise_or", "bitwise_xor", "count_nonzero", "invert",
    "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip


@primitive(np.bitwise_and)
def bitwise_and(a: Any, b: Any) -> Any:
    """Logical and, element by element; bitwise for integers. Not differentiable.

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
    """Logical or, element by element; bitwise for integers. Not differentiable.

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


@primitive(np.bitwise_xor)
def bitwise_xor(a: Any, b: Any) -> Any:
    """Exclusive or, element by element; bitwise for integers. Not differentiable.

    Args:
        a: Bools or integers.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools or integers.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_xor(minigrad.tensor([True, False]), True)
        Tensor([False,  True], dtype=bool)
    """
    return np.bitwise_xor(a, b)


@primitive(np.invert)
def invert(x: Any) -> Any:
    """Logical not, element by element; bitwise for integers. Not differentiable.

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


@primitive(np.logical_and)
def logical_and(a: Any, b: Any) -> Any:
    """Logical and: both are nonzero, element by element, with broadcasting. Not differentiable.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.logical_and(minigrad.tensor([0.0, 2.0]), True)
        Tensor([False,  True], dtype=bool)
    """
    return np.logical_and(a, b)


@primitive(np.logical_or)
def logical_or(a: Any, b: Any) -> Any:
    """Logical or: either is nonzero, element by element, with broadcasting. Not differentiable.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.logical_or(minigrad.tensor([0.0, 2.0]), False)
        Tensor([False,  True], dtype=bool)
    """
    return np.logical_or(a, b)


@primitive(np.logical_xor)
def logical_xor(a: Any, b: Any) -> Any:
    """Exclusive or: one of the two is nonzero, element by element. Not differentiable.

    Args:
        a: Tensor, array or number.
        b: The same, of a shape that broadcasts with `a`.

    Returns:
        A tensor of bools.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.logical_xor(minigrad.tensor([0.0, 2.0]), True)
        Tensor([ True, False], dtype=bool)
    """
    return np.logical_xor(a, b)


@primitive(np.logical_not)
def logical_not(x: Any) -> Any:
    """Which elements are 0. Not differentiable.

    Args:
        x: Tensor, array or number.

    Returns:
        A tensor of bools.

    Example:
        >>> import minigrad
        >>> minigrad.logical_not(minigrad.tensor([0.0, 2.0]))
        Tensor([ True, False], dtype=bool)
    """
    return np.logical_not(x)


@primitive(np.any, arrays=1)
def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether any element over axes is nonzero. Not differentiable.

    Args:
        x: Tensor, array or number; NaN counts as nonzero.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        A tensor of bools; False for an empty axis.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.any(minigrad.tensor([[0.0, 2.0], [0.0, 0.0]]), axis=1)
        Tensor([ True, False], dtype=bool)
    """
    return x.any(axis=axis, keepdims=keepdims)


@primitive(np.all, arrays=1)
def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether all elements over axes are nonzero. Not differentiable.

    Args:
        x: Tensor, array or number; NaN counts as nonzero.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        A tensor of bools; True for an empty axis.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.all(minigrad.tensor([[1.0, 2.0], [3.0, 0.0]]), axis=1)
        Tensor([ True, False], dtype=bool)
    """
    return x.all(axis=axis, keepdims=keepdims)


@primitive(np.count_nonzero, arrays=1)
def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The number of nonzero elements over axes. Not differentiable.

    Args:
        x: Tensor, array or number; NaN counts as nonzero.
        axis: The axis or axes to count over; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        Counts, int64.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.count_nonzero(minigrad.tensor([[0.0, 2.0], [3.0, 4.0]]), axis=1)
        Tensor([1, 2], dtype=int64)
    """
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)
