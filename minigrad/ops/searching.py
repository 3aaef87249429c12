"""Searching: the indices of elements (not differentiable), and the unique elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops.casting import as_tensor
from minigrad.ops.gathering import take

__all__ = ["argwhere", "flatnonzero", "isin", "nonzero", "searchsorted", "unique"]


@primitive(numpy=np.nonzero, arrays=1, multiple_outputs=True)
def nonzero(x: Any) -> Any:
    """Return the indices of the elements that are not zero (or True). Not differentiable.

    Returns:
        A tuple of int64 tensors, one for each axis: together an index, ``x[nonzero(x)]``.

    Raises:
        ValueError: `x` has no axis.

    Example:
        >>> import minigrad
        >>> rows, columns = minigrad.nonzero(minigrad.tensor([[0, 5], [7, 0]]))
        >>> rows.tolist(), columns.tolist()
        ([0, 1], [1, 0])
    """
    if not x.ndim:
        raise ValueError("at least one axis expected, got a number; write atleast_1d(x)")
    return x.nonzero()


@primitive(numpy=np.flatnonzero, arrays=1)
def flatnonzero(x: Any) -> Any:
    """Return the int64 indices of the nonzero elements, flattened. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.flatnonzero(minigrad.tensor([[0, 5], [7, 0]])).tolist()
        [1, 2]
    """
    return np.flatnonzero(x)


@primitive(numpy=np.argwhere, arrays=1)
def argwhere(x: Any) -> Any:
    """Return the indices (int64) of the nonzero elements, one row for each. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.argwhere(minigrad.tensor([[0, 5], [7, 0]])).tolist()
        [[0, 1], [1, 0]]
    """
    return np.argwhere(x)


@primitive(arrays=2)
def _isin(element: Any, test_elements: Any, invert: bool) -> Any:
    return np.isin(element, test_elements, invert=invert)


def isin(element: Any, test_elements: Any, *, invert: bool = False) -> Tensor:
    """Test which elements occur among given ones. Not differentiable.

    Args:
        element: Tensor, array or number.
        test_elements: The elements to look for, of any shape. Python numbers and lists take the
            dtype of the other argument, so 0.1 is found in float32.
        invert: Return the elements that do not occur instead.

    Returns:
        Bools of the shape of `element`.

    Example:
        >>> import minigrad
        >>> minigrad.isin(minigrad.tensor([1, 2, 3]), [3, 1])
        tensor([ True, False,  True])
    """
    return _isin(_like(element, test_elements), _like(test_elements, element), invert)


def _not_sorted_in_a_row(a: Any, v: Any, side: str) -> str | None:
    if a.ndim != 1:
        return f"a must have one axis, got shape {a.shape}"
    return None if side in ("left", "right") else f'side must be "left" or "right", got {side!r}'


@primitive(arrays=2, explain_error=_not_sorted_in_a_row)
def _searchsorted(a: Any, v: Any, side: str) -> Any:
    return np.searchsorted(a, v, side)  # type: ignore[call-overload]


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Return the indices at which to insert values into a sorted tensor. Not differentiable.

    Args:
        a: The sorted values, in ascending order, shape (n,). The order is not checked.
        v: The values to insert, of any shape. Python numbers and lists take the dtype of `a`.
        side: Before ("left") or after ("right") equal elements.
        sorter: The indices that sort `a`, shape (n,); None if it is sorted.

    Returns:
        Indices from 0 to n, int64, of the shape of `v`.

    Raises:
        ValueError: `a` has not one axis, or the side is unknown.

    Example:
        >>> import minigrad
        >>> minigrad.searchsorted(minigrad.tensor([1.0, 2.0, 2.0, 5.0]), [2.0, 9.0]).tolist()
        [1, 4]
    """
    ordered = a if sorter is None else take(a, sorter)
    return _searchsorted(_like(ordered, v), _like(v, a), side)


def _array_or_tensor(x: Any) -> Any:
    return x if isinstance(x, (np.ndarray, Variable)) else np.asarray(x)


def _like(x: Any, other: Any) -> Any:
    """`x`, in the dtype of `other` if it is a float without a dtype."""
    value, like = map(_array_or_tensor, (x, other))
    if (value is x and value.ndim) or not value.dtype.kind == "f" == like.dtype.kind:
        return x
    return value.astype(like.dtype)


@primitive(arrays=1, multiple_outputs=True, axes=("axis",))
def _unique(x: Any, axis: int | None, equal_nan: bool) -> Any:
    """The first index, the inverse indices and the count of each unique element."""
    return np.unique(x, True, True, True, axis, equal_nan=equal_nan)[1:]


def unique(
    x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """Find the unique elements, sorted.

    Args:
        x: Tensor or array.
        return_index: Also return the first index of each.
        return_inverse: Also return, for each element of `x`, its index among them.
        return_counts: Also return the number of occurrences of each.
        axis: Compare the slices along this axis; the elements of the flattened tensor if None.
        equal_nan: Whether NaNs count as equal, and are one element.
        sorted: They are sorted in either case, which NumPy and Lucid allow.

    Returns:
        The values, or a tuple of the values and the other results, int64. The gradient of a value
        goes to the first element equal to it.

    Raises:
        ValueError: The axis does not exist.

    Example:
        >>> import minigrad
        >>> values, counts = minigrad.unique(minigrad.tensor([3, 1, 3]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
    """
    x = as_tensor(x)
    places = _unique(x, axis, equal_nan)
    values = take(x, places[0], axis)
    wanted = (return_index, return_inverse, return_counts)
    extras = [place for place, want in zip(places, wanted, strict=True) if want]
    return (values, *extras) if extras else values
