"""Logic: bools combined elementwise, and reduced over axes.

None of these is differentiable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import OpFunction, primitive
from minigrad.ops._numerics import Axis

__all__ = [
    "all", "any", "bitwise_and", "bitwise_or", "bitwise_xor", "count_nonzero", "invert",
    "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip


def _connective(function: Any, meaning: str) -> OpFunction[[Any]]:
    def connect(a: Any, b: Any) -> Any:
        return function(a, b)

    name = connect.__name__ = connect.__qualname__ = function.__name__
    refused = "; floats are a TypeError" if name.startswith("bitwise") else ""
    connect.__doc__ = f"""{meaning}, element by element. Not differentiable.

    Arguments and errors are as for `add`{refused}.

    Example:
        >>> import minigrad
        >>> minigrad.{name}(minigrad.tensor([True, False]), True)
        Tensor({np.array2string(function([True, False], True), separator=", ")}, dtype=bool)
    """
    return primitive(function)(connect)


bitwise_and = _connective(np.bitwise_and, "Logical and; bitwise for integers")
bitwise_or = _connective(np.bitwise_or, "Logical or; bitwise for integers")
bitwise_xor = _connective(np.bitwise_xor, "Exclusive or; bitwise for integers")
logical_and = _connective(np.logical_and, "Logical and: both are nonzero")
logical_or = _connective(np.logical_or, "Logical or: either is nonzero")
logical_xor = _connective(np.logical_xor, "Exclusive or: one of the two is nonzero")


@primitive(np.invert)
def invert(x: Any) -> Any:
    """Logical not of bools, bitwise not of integers, element by element. Not differentiable.

    Raises:
        TypeError: They are floats.

    Example:
        >>> import minigrad
        >>> minigrad.invert(minigrad.tensor([True, False]))
        Tensor([False,  True], dtype=bool)
    """
    return np.invert(x)


@primitive(np.logical_not)
def logical_not(x: Any) -> Any:
    """Which elements are 0. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.logical_not(minigrad.tensor([0.0, 2.0]))
        Tensor([ True, False], dtype=bool)
    """
    return np.logical_not(x)


@primitive(np.any, arrays=1)
def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether any element over axes is nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives False. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.any(minigrad.tensor([[0.0, 2.0], [0.0, 0.0]]), axis=1)
        Tensor([ True, False], dtype=bool)
    """
    return x.any(axis=axis, keepdims=keepdims)


@primitive(np.all, arrays=1)
def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether all elements over axes are nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives True. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.all(minigrad.tensor([[1.0, 2.0], [3.0, 0.0]]), axis=1)
        Tensor([ True, False], dtype=bool)
    """
    return x.all(axis=axis, keepdims=keepdims)


@primitive(np.count_nonzero, arrays=1)
def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The number of nonzero elements over axes, int64; arguments and errors as for `sum`.

    NaN counts as nonzero. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.count_nonzero(minigrad.tensor([[0.0, 2.0], [3.0, 4.0]]), axis=1)
        Tensor([1, 2], dtype=int64)
    """
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)
