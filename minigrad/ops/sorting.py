"""Sorting along an axis. Equal elements keep their order, and NaN is greater than any number."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad._typing import Tensor
from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import Axis, array_of, kept_shape, undo_reduction, zeroed
from minigrad.ops.gathering import open_grid, take_along_axis
from minigrad.ops.indexing import IndexUpdate
from minigrad.ops.shapes import ravel

__all__ = ["argsort", "median", "sort", "topk"]


def _order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The indices that sort; stable in both directions."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


@primitive(arrays=1)
def _sort(x: Any, axis: int, descending: bool) -> Any:
    ordered = np.sort(x, axis)
    return np.flip(ordered, axis) if descending else ordered


@primitive(arrays=1)
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
        >>> minigrad.sort(minigrad.tensor([3.0, 1.0, 2.0]))
        Tensor([1., 2., 3.], dtype=float32)
    """
    return _sort(ravel(x), 0, descending) if axis is None else _sort(x, axis, descending)


def argsort(x: Any, axis: int | None = -1, descending: bool = False) -> Tensor:
    """The indices that sort along an axis. Not differentiable.

    Args:
        x: Tensor or array.
        axis: The axis; the tensor is flattened if None.
        descending: Sort from largest to smallest, NaN first. Equal elements still keep their order.

    Returns:
        Indices, int64, for `take_along_axis`.

    Raises:
        ValueError: The axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.argsort(minigrad.tensor([3.0, 1.0, 2.0])).tolist()
        [1, 2, 0]
    """
    return _argsort(ravel(x), 0, descending) if axis is None else _argsort(x, axis, descending)


@primitive(arrays=1)
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
    x: Any,
    k: int,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: A002
) -> tuple[Tensor, Tensor]:
    """The k largest elements along an axis, and their indices.

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

    Example:
        >>> import minigrad
        >>> values, indices = minigrad.topk(minigrad.tensor([1.0, 5.0, 3.0]), 2)
        >>> values.tolist(), indices.tolist()
        ([5.0, 3.0], [1, 2])
    """
    indices = _topk(x, k, axis, largest, sorted)
    return take_along_axis(x, indices, axis), indices


@primitive(np.median, float_inputs=True)
def median(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The median over axes; the mean of the two middle elements if their number is even.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The median, in the dtype of `x`; NaN if an element is NaN. Elements equal to a middle one
        share its gradient evenly.

    Raises:
        ValueError: An axis does not exist or is empty.

    Example:
        >>> import minigrad
        >>> minigrad.median(minigrad.tensor([4.0, 1.0, 2.0, 9.0]))
        Tensor(3., dtype=float32)
    """
    if not x.size and 0 not in kept_shape(x.shape, axis):
        raise ValueError(f"nothing to choose from, got shape {x.shape}")
    return np.median(x, axis, keepdims=keepdims).astype(x.dtype, copy=False)


def _median_x(g: Any, x: Any, axis: Axis) -> Any:
    values = array_of(x)
    share: Any = 0
    for middle in ("lower", "higher"):  # the same element for an odd number
        found = np.quantile(values, 0.5, axis, method=middle, keepdims=True)
        attained = values == found
        share = share + 0.5 * attained / attained.sum(axis=axis, keepdims=True)
    return zeroed(undo_reduction(g, x.shape, axis), share == 0) * share.astype(x.dtype)


# The table.
_sort.defvjp(
    x=lambda g, x, axis, descending, x_shape: IndexUpdate(
        g, open_grid(_order(array_of(x), axis, descending), axis, x_shape), x_shape
    ),
)
median.defvjp(x=_median_x)
