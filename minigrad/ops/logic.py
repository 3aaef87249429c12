"""Logic: bools and bits combined elementwise, and bools reduced over axes.

None of these is differentiable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import Axis

__all__ = [
    "all", "any", "bitwise_and", "bitwise_or", "bitwise_xor", "count_nonzero", "invert",
    "left_shift", "logical_and", "logical_not", "logical_or", "logical_xor", "right_shift",
]  # fmt: skip


@primitive(numpy=np.bitwise_and)
def bitwise_and(a: Any, b: Any) -> Any:
    """Compute the logical and (bitwise for integers), element by element.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_and(minigrad.tensor([True, False]), True)
        tensor([ True, False])
    """
    return np.bitwise_and(a, b)


@primitive(numpy=np.bitwise_or)
def bitwise_or(a: Any, b: Any) -> Any:
    """Compute the logical or (bitwise for integers), element by element.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_or(minigrad.tensor([True, False]), True)
        tensor([True, True])
    """
    return np.bitwise_or(a, b)


@primitive(numpy=np.bitwise_xor)
def bitwise_xor(a: Any, b: Any) -> Any:
    """Compute the exclusive or (bitwise for integers), element by element.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.bitwise_xor(minigrad.tensor([True, False]), True)
        tensor([False,  True])
    """
    return np.bitwise_xor(a, b)


@primitive(numpy=np.left_shift)
def left_shift(a: Any, b: Any) -> Any:
    """Move the bits of integers to the left, ``a << b``: times ``2 ** b``.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.left_shift(minigrad.tensor([1, 5]), 2)
        tensor([ 4, 20])
    """
    return np.left_shift(a, b)


@primitive(numpy=np.right_shift)
def right_shift(a: Any, b: Any) -> Any:
    """Move the bits of integers to the right, ``a >> b``: ``a // 2 ** b``.

    Arguments and errors are as for `add`. Floats are a TypeError. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.right_shift(minigrad.tensor([4, 21]), 2)
        tensor([1, 5])
    """
    return np.right_shift(a, b)


@primitive(numpy=np.logical_and, compares=True)
def logical_and(a: Any, b: Any) -> Any:
    """Test whether both are nonzero, element by element.

    Arguments and errors are as for `add`. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_and(minigrad.tensor([True, False]), True)
        tensor([ True, False])
    """
    return np.logical_and(a, b)


@primitive(numpy=np.logical_or, compares=True)
def logical_or(a: Any, b: Any) -> Any:
    """Test whether either is nonzero, element by element.

    Arguments and errors are as for `add`. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_or(minigrad.tensor([True, False]), True)
        tensor([True, True])
    """
    return np.logical_or(a, b)


@primitive(numpy=np.logical_xor, compares=True)
def logical_xor(a: Any, b: Any) -> Any:
    """Test whether one of the two is nonzero, element by element.

    Arguments and errors are as for `add`. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_xor(minigrad.tensor([True, False]), True)
        tensor([False,  True])
    """
    return np.logical_xor(a, b)


@primitive(numpy=np.invert)
def invert(x: Any) -> Any:
    """Compute the logical not of bools and the bitwise not of integers. Not differentiable.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.invert(minigrad.tensor([True, False]))
        tensor([False,  True])
    """
    return np.invert(x)


@primitive(numpy=np.logical_not)
def logical_not(x: Any) -> Any:
    """Test which elements are 0. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_not(minigrad.tensor([0.0, 2.0]))
        tensor([ True, False])
    """
    return np.logical_not(x)


@primitive(numpy=np.any, arrays=1, axes=("axis",))
def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Test whether any element over axes is nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives False. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.any(minigrad.tensor([[0.0, 2.0], [0.0, 0.0]]), axis=1)
        tensor([ True, False])
    """
    return x.any(axis=axis, keepdims=keepdims)


@primitive(numpy=np.all, arrays=1, axes=("axis",))
def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Test whether all elements over axes are nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives True. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.all(minigrad.tensor([[1.0, 2.0], [3.0, 0.0]]), axis=1)
        tensor([ True, False])
    """
    return x.all(axis=axis, keepdims=keepdims)


@primitive(numpy=np.count_nonzero, arrays=1, axes=("axis",))
def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Count the nonzero elements over axes (int64); arguments and errors as for `sum`.

    NaN counts as nonzero. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.count_nonzero(minigrad.tensor([[0.0, 2.0], [3.0, 4.0]]), axis=1)
        tensor([1, 2])
    """
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)
