"""Sorting along an axis, quantiles, and searching: indices of elements, unique ones.

Equal elements keep their order, and NaN is greater than any number.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad.autograd.dtype_class import printed_as
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import (
    Axis,
    attains,
    constant,
    formula,
    kept_shape,
    reduced_axes,
    shape_of,
    widened,
    within_rule,
    zero_gradient,
    zeroed,
)
from minigrad.ops.casting import as_tensor
from minigrad.ops.gathering import open_grid, take, take_along_axis
from minigrad.ops.indexing import IndexUpdate
from minigrad.ops.shapes import ravel

__all__ = [
    "argsort", "argwhere", "flatnonzero", "isin", "median", "nonzero", "quantile", "searchsorted",
    "sort", "topk", "unique",
]  # fmt: skip


@printed_as("values_and_indices")
class ValuesAndIndices(NamedTuple):
    """Chosen elements, and their places along the axis."""

    values: Tensor
    indices: Tensor


def _order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The indices that sort; stable in both directions."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


@primitive(arrays=1, axes=("axis",))
def _sort(x: Any, axis: int, descending: bool) -> Any:
    ordered = np.sort(x, axis)
    return np.flip(ordered, axis) if descending else ordered


@primitive(arrays=1, axes=("axis",))
def _argsort(x: Any, axis: int, descending: bool) -> Any:
    return _order(x, axis, descending)


def sort(x: Any, axis: int | None = -1, descending: bool = False) -> Tensor:
    """Sort along an axis.

    Args:
        x: Tensor or array.
        axis: The axis; the tensor is flattened if None.
        descending: Sort from largest to smallest, NaN first.

    Returns:
        The values only, as a new tensor; `argsort` gives their indices. The gradient of a value
        goes to the element that it came from.

    Raises:
        ValueError: The axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.ops.sort(minigrad.tensor([3.0, 1.0, 2.0]))
        tensor([1., 2., 3.])
    """
    return _sort(ravel(x), 0, descending) if axis is None else _sort(x, axis, descending)


def argsort(x: Any, axis: int | None = -1, descending: bool = False) -> Tensor:
    """Return the int64 indices that sort along an axis, for `take_along_axis`. Not differentiable.

    Arguments and errors are as for `sort`. Equal elements keep their order, also if descending.
    """
    return _argsort(ravel(x), 0, descending) if axis is None else _argsort(x, axis, descending)


@primitive(arrays=1, axes=("axis",))
def _topk(x: Any, k: int, axis: int, largest: bool, ordered: bool) -> Any:
    axis, k = normalize_axis_index(axis, x.ndim), operator.index(k)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(
            f"k must be from 0 to {x.shape[axis]}, the length of axis {axis} of shape {x.shape}, "
            f"got {k}"
        )
    lines = np.moveaxis(x, axis, -1)
    chosen = _first_k(lines, k, largest).nonzero()[-1].reshape(*lines.shape[:-1], k)
    if ordered:
        order = _order(np.take_along_axis(lines, chosen, -1), -1, largest)
        chosen = np.take_along_axis(chosen, order, -1)
    return np.moveaxis(chosen, -1, axis)


def _first_k(lines: np.ndarray, k: int, largest: bool) -> np.ndarray:
    """True for the k largest or smallest elements of each line; ties go to the first ones.

    It takes linear time, because only the k-th element is searched.
    """
    if not k:
        return np.zeros(lines.shape, bool)
    place = lines.shape[-1] - k if largest else k - 1
    last = np.partition(lines, place, -1)[..., place, None]
    less, greater = _less(lines, last), _less(last, lines)
    inside = greater if largest else less
    equal = ~(less | greater)
    left = k - inside.sum(-1, keepdims=True)
    return np.asarray(inside | (equal & (equal.cumsum(-1) <= left)))


def _less(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a < b``, where NaN is greater than any number."""
    return np.asarray((a < b) | ((a == a) & (b != b)))


def topk(
    x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    """Find the k largest elements along an axis, and their indices.

    Args:
        x: Tensor or array.
        k: The number of elements.
        axis: The axis to search along.
        largest: If False, the k smallest. Among equal elements the first are taken.
        sorted: Sort the result, the largest (or smallest) first; if False, keep the order in `x`.

    Returns:
        The values and their indices, int64. The gradient of a value goes to its element.

    Raises:
        ValueError: The axis does not exist, or is shorter than k.
    """
    indices = _topk(x, k, axis, largest, sorted)
    return ValuesAndIndices(take_along_axis(x, indices, axis), indices)


@primitive(numpy=np.median, float_inputs=True, axes=("axis",))
def median(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the median over axes; the mean of the two middle elements if their number is even.

    It is NaN if an element is NaN, and has the dtype of `x`. Elements equal to a middle one share
    its gradient evenly. Arguments and errors are as for `max`.

    Example:
        >>> import minigrad
        >>> minigrad.ops.median(minigrad.tensor([4.0, 1.0, 2.0, 9.0]))
        tensor(3.)
    """
    if not x.size and 0 not in kept_shape(x.shape, axis):
        raise ValueError(f"nothing to choose from, got shape {x.shape}")
    return np.median(x, axis, keepdims=keepdims).astype(x.dtype, copy=False)


@primitive(arrays=1, float_inputs=True, axes=("axis",))
def _quantile(x: Any, q: Any, axis: Axis, keepdims: bool, method: Any) -> Any:
    q = np.asarray(q, np.float64)
    if not ((q >= 0) & (q <= 1)).all():
        raise ValueError(f"q must be from 0 to 1, got {q.tolist()}")
    if not x.size and 0 not in kept_shape(x.shape, axis):
        raise ValueError(f"nothing to choose from, got shape {x.shape}")
    found = np.quantile(x, q, axis, method=method, keepdims=keepdims)
    return np.asarray(found).astype(x.dtype, copy=False)


def quantile(
    x: Any, q: Any, axis: Axis = None, keepdims: bool = False, method: str = "linear"
) -> Tensor:
    """Compute the value below which a given part of the elements lies, over axes.

    Args:
        x: Tensor, array or number.
        q: The part, from 0 to 1, or an array of them, of shape S. It receives no gradient.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.
        method: The value between two elements: "linear", "lower", "higher", "midpoint",
            "nearest", or another of `numpy.quantile`.

    Returns:
        The shape S followed by the other axes of `x`, in the dtype of `x`; NaN where an element
        is. Elements that are equal share their gradient evenly.

    Raises:
        ValueError: `q` or the method is out of range, an axis does not exist, or there is nothing
            to choose from.

    Source: Hyndman and Fan 1996, "Sample quantiles in statistical packages".
    """
    # A copy: the caller may write to it before the backward pass.
    return _quantile(x, q if isinstance(q, Variable) else np.array(q), axis, keepdims, method)


def _quantile_x(g: Any, x: Any, q: Any, axis: Axis, method: Any) -> Any:
    values, q, kept = constant(x), np.asarray(q, np.float64), kept_shape(x.shape, axis)
    if not np.size(g):
        return zero_gradient(x)
    gone = sorted(reduced_axes(x.ndim, axis))
    rows = np.moveaxis(values, gone, range(-len(gone), 0))
    ordered = np.sort(rows.reshape(*rows.shape[: x.ndim - len(gone)], -1))
    # The quantile of 0, 1, 2 ... is the place among the ordered elements, or between two.
    places = np.quantile(np.arange(ordered.shape[-1]), q.ravel(), method=method)
    g, total = g.reshape((q.size, *kept)), 0
    for i, place in enumerate(places.tolist()):
        share: Any = 0
        for rank, part in ((math.floor(place), 1 - place % 1), (math.ceil(place), place % 1)):
            found = np.where(np.isnan(ordered[..., -1]), np.nan, ordered[..., rank])
            attained = widened(attains(values, found.reshape(kept)).astype(g.dtype))
            share = share + part * attained / np.sum(attained, axis=axis, keepdims=True)
        total = total + zeroed(g[i], share == 0) * share
    return total


@formula(
    """
    low = np.quantile(x, 0.5, axis, method="lower", keepdims=True)  # the lower middle element
    high = np.quantile(x, 0.5, axis, method="higher", keepdims=True)  # the higher one
    low = (x == low) / np.sum(x == low, axis, keepdims=True)  # 1 there, shared if there are several
    high = (x == high) / np.sum(x == high, axis, keepdims=True)  # the same
    spread(g, x.shape, axis) * (low + high) / 2
    """
)
def _median_x(g: Any, x: Any, axis: Axis) -> Any:
    return _quantile_x(g, x, 0.5, axis, "linear")


# The table.
_sort.defvjp(
    x=lambda g, x, axis, descending, x_shape: IndexUpdate(
        g, open_grid(within_rule(_argsort, constant(x), axis, descending), axis, x_shape), x_shape
    )
)
median.defvjp(x=_median_x)
_quantile.defvjp(x=_quantile_x)


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


@of_numpy(np.flatnonzero, arrays=1)
def flatnonzero(x: Any) -> Any:
    """Return the int64 indices of the nonzero elements, flattened. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.flatnonzero(minigrad.tensor([[0, 5], [7, 0]])).tolist()
        [1, 2]
    """


@of_numpy(np.argwhere, arrays=1)
def argwhere(x: Any) -> Any:
    """Return the indices (int64) of the nonzero elements, one row for each. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.argwhere(minigrad.tensor([[0, 5], [7, 0]])).tolist()
        [[0, 1], [1, 0]]
    """


@primitive(arrays=2)
def _isin(element: Any, test_elements: Any, invert: bool) -> Any:
    return np.isin(element, test_elements, invert=invert)


def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Test which elements occur among given ones. Not differentiable.

    Args:
        elements: Tensor, array or number.
        test_elements: The elements to look for, of any shape. Python numbers and lists take the
            dtype of the other argument, so 0.1 is found in float32.
        assume_unique: PyTorch's and NumPy's, without an effect.
        invert: Return the elements that do not occur instead.

    Returns:
        Bools of the shape of `elements`.

    Example:
        >>> import minigrad
        >>> minigrad.isin(minigrad.tensor([1, 2, 3]), minigrad.tensor([2])).tolist()
        [False, True, False]
    """
    return _isin(_like(elements, test_elements), _like(test_elements, elements), invert)


def _not_sorted_in_a_row(a: Any, v: Any, side: str) -> str | None:
    if not a.ndim:
        return f"a must have an axis, got shape {a.shape}"
    if a.ndim > 1 and np.shape(v)[:-1] != a.shape[:-1]:
        return f"rows of shape {a.shape} need values of as many rows, got {np.shape(v)}"
    return None if side in ("left", "right") else f'side must be "left" or "right", got {side!r}'


@primitive(arrays=2, explain_error=_not_sorted_in_a_row)
def _searchsorted(a: Any, v: Any, side: str) -> Any:
    if a.ndim < 2:
        return np.searchsorted(a, v, side)  # type: ignore[call-overload]
    if np.shape(v)[:-1] != a.shape[:-1]:
        raise ValueError("other rows")
    out = np.empty(np.shape(v), np.intp)
    for row in np.ndindex(a.shape[:-1]):
        out[row] = np.searchsorted(a[row], v[row], side)  # type: ignore[call-overload]
    return out


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Return the indices at which to insert values into a sorted tensor. Not differentiable.

    Args:
        a: The sorted values, in ascending order, shape (n,), or rows of them, (..., n). The order
            is not checked.
        v: The values to insert, of any shape; for rows, (..., m), with as many rows. Python
            numbers and lists take the dtype of `a`.
        side: Before ("left") or after ("right") equal elements.
        sorter: The indices that sort `a`, of its shape; None if it is sorted.

    Returns:
        Indices from 0 to n, int64, of the shape of `v`.

    Raises:
        ValueError: `a` has no axis, the rows are not as many, or the side is unknown.
    """
    ordered = a
    if sorter is not None:
        ordered = take(a, sorter) if len(shape_of(a)) < 2 else take_along_axis(a, sorter, -1)
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


@primitive(arrays=1, multiple_outputs=True)
def unique_consecutive(x: Any) -> Any:
    """The first index, the inverse indices and the count of each run of equal slices."""
    flat = x.reshape(len(x), -1) if len(x) else np.empty((0, 0))
    first = np.ones(len(x), bool)
    first[1:] = (flat[1:] != flat[:-1]).any(1)
    starts = np.flatnonzero(first)
    return starts, np.cumsum(first) - 1, np.diff(np.append(starts, len(x)))


@primitive(arrays=1)
def mode(x: Any, axis: int) -> Any:
    """The last place of the commonest element along an axis, which stays."""
    moved = np.moveaxis(x, axis, -1)
    index = np.empty(moved.shape[:-1], np.int64)
    for i in np.ndindex(index.shape):
        _, which, counts = np.unique(moved[i], False, True, True, equal_nan=False)
        index[i] = np.flatnonzero(which == counts.argmax())[-1]
    return np.expand_dims(index, axis % x.ndim)


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
