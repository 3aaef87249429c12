"""Reading, writing and adding by integer indices along one axis: gather, scatter and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import array_of, formula, shape_of, zeroed
from minigrad.ops.indexing import IndexUpdate, add_at, index_of, integers, overwritten, written
from minigrad.ops.shapes import ravel, reshape

__all__ = ["gather", "index_add", "scatter", "scatter_add", "take", "take_along_axis"]

Shape = tuple[int, ...]


@primitive(arrays=2, axes=("axis",))
def _take(x: Any, indices: Any, axis: int | None) -> Any:
    return x.take(integers(indices), axis)


def take(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """Take slices along an axis by index.

    Args:
        x: Tensor or array.
        indices: Integers of any shape; negative ones count from the end.
        axis: The axis; the tensor is flattened if None.

    Returns:
        The shape of `x` with the axis replaced by the shape of `indices`. An element that is taken
        several times receives the sum of the gradients.

    Raises:
        IndexError: An index is out of range.
        TypeError: The indices are not integers.
        ValueError: The axis does not exist.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> minigrad.ops.take(x, [0, -1], axis=1).tolist()
        [[1.0, 3.0], [4.0, 6.0]]
    """
    return _take(_with_an_axis(x, axis), indices, axis)


def _with_an_axis(x: Any, axis: int | None) -> Any:
    """A 0-d tensor with one axis, if `axis` is None; other tensors unchanged."""
    return ravel(x) if axis is None and not np.ndim(x) else x


@formula(
    """
    numbers = np.arange(math.prod(x_shape)).reshape(x_shape)  #
    indices = np.take(numbers, indices, axis)  #
    indices = np.unravel_index(indices, x_shape)  # along axis
    IndexUpdate(g, indices, x_shape)
    """
)
def _take_x(g: Any, indices: Any, axis: int | None, x_shape: Shape) -> IndexUpdate:
    if axis is None:
        places = integers(array_of(indices)) % math.prod(x_shape)
        return IndexUpdate(g, np.unravel_index(places, x_shape), x_shape)
    before = (slice(None),) * (axis % len(x_shape))
    return IndexUpdate(g, (*before, index_of(indices)), x_shape)


def open_grid(indices: Any, axis: int, shape: Shape) -> tuple[np.ndarray, ...]:
    """The full index that varies `indices` along `axis` and is the identity on the other axes."""
    grid = list(np.ix_(*(np.arange(n) for n in shape)))
    grid[axis] = index_of(indices)
    return tuple(grid)


@primitive(arrays=2, axes=("axis",))
def _take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    axis = normalize_axis_index(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ValueError(
            f"indices with as many axes as x of shape {x.shape} expected, got {indices.shape}"
        )
    return x[open_grid(indices, axis, x.shape)]


def take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Tensor:
    """Take elements along an axis, with separate indices for each 1-D slice.

    Args:
        x: Tensor or array.
        indices: Integers with as many axes as `x`, such as `argsort` returns; the axes other than
            `axis` broadcast. Negative ones count from the end.
        axis: The axis; the tensor is flattened if None.

    Returns:
        The elements, of the broadcast shape. An element taken several times receives the sum of the
        gradients.

    Raises:
        IndexError: An index is out of range, or the shapes do not broadcast.
        TypeError: The indices are not integers.
        ValueError: The axis does not exist, or the numbers of axes differ.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
        >>> minigrad.take_along_axis(x, minigrad.argsort(x), axis=1).tolist()
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    """
    return take(x, indices) if axis is None else _take_along_axis(x, indices, axis)


@formula(
    """
    numbers = np.arange(math.prod(x_shape)).reshape(x_shape)  #
    indices = np.take_along_axis(numbers, indices, axis)  #
    indices = np.unravel_index(indices, x_shape)  # along axis
    IndexUpdate(g, indices, x_shape)
    """
)
def _take_along_axis_x(g: Any, indices: Any, axis: int, x_shape: Shape) -> IndexUpdate:
    return IndexUpdate(g, open_grid(indices, axis, x_shape), x_shape)


def _need_room(index: np.ndarray, other: Any, name: str, but: int | None = None) -> None:
    """Refuse an index that is longer than `other` on an axis other than `but`."""
    shapes = f"got shapes {index.shape} and {other.shape}"
    if index.ndim != other.ndim:
        raise ValueError(f"index and {name} must have the same number of axes, {shapes}")
    for i, (m, n) in enumerate(zip(index.shape, other.shape, strict=True)):
        if m > n and i != but:
            raise ValueError(f"on axis {i} the index must not be longer than {name}, {shapes}")


def _own_grid(x: Any, index: Any, axis: int) -> tuple[np.ndarray, ...]:
    """The full index of `gather`, which neither broadcasts nor counts from the end."""
    axis = normalize_axis_index(axis, x.ndim)
    index = index_of(index)
    _need_room(index, x, "x", but=axis)
    _refuse_outside(index, axis, x.shape)
    return open_grid(index, axis, index.shape)


def _refuse_outside(index: np.ndarray, axis: int, shape: Shape) -> None:
    n = shape[axis]
    outside = index[(index < 0) | (index >= n)]
    if outside.size:
        raise IndexError(
            f"index {outside.flat[0]} is outside of axis {axis} of shape {shape} (0 to {n - 1})"
        )


@primitive(arrays=2, axes=("axis",))
def _gather(x: Any, index: Any, axis: int) -> Any:
    return x[_own_grid(x, index, axis)]


def gather(x: Any, axis: int, index: Any) -> Tensor:
    """Pick elements along an axis: ``out[i, j] = x[index[i, j], j]`` for axis 0 of two.

    Args:
        x: Tensor or array.
        axis: The axis that `index` runs over.
        index: Integers, at least 0, with as many axes as `x`; on the axes other than `axis` it may
            be shorter than `x`, and is not broadcast (`take_along_axis` does that).

    Returns:
        The shape of `index`. An element picked several times receives the sum of the gradients.

    Raises:
        IndexError: An index is out of range.
        TypeError: The index does not hold integers.
        ValueError: The axis does not exist, or the shapes do not fit.
    """
    return _gather(x, index, axis)


@primitive(arrays=3, promote=("x", "src"), axes=("axis",))
def _scatter(x: Any, index: Any, src: Any, axis: int) -> Any:
    x, src = np.asarray(x), np.asarray(src)
    grid = _own_grid(x, index, axis)
    if src.ndim:
        _need_room(index, src, "src")
        src = src[_corner(index.shape)]
    out = x.copy()
    out[grid] = src
    return out


def scatter(x: Any, axis: int, index: Any, src: Any) -> Tensor:
    """Write elements where an index points: ``out[index[i, j], j] = src[i, j]`` for axis 0 of two.

    Arguments and errors are as for `gather`; `x` is not changed. The source, `src`, is a
    number, or has as many axes as `index` and on each at least its length; the rest is not used.
    The result has the common dtype of `x` and `src`. Where an element is written several times, the
    last one counts, for values and for gradients.
    """
    return _scatter(x, index, src, axis)


@primitive(arrays=3, promote=("x", "source"), axes=("axis",))
def _index_add(x: Any, index: Any, source: Any, axis: int, alpha: float) -> Any:
    x, source, index = np.asarray(x), np.asarray(source), integers(index)
    axis = normalize_axis_index(axis, x.ndim)
    wanted = (*x.shape[:axis], index.size, *x.shape[axis + 1 :])
    if index.ndim != 1 or source.shape != wanted:
        raise ValueError(
            f"an index with one axis, and source of shape {wanted} expected, got shapes "
            f"{index.shape} and {source.shape}"
        )
    _refuse_outside(index, axis, x.shape)
    if x.dtype.kind != "f" and isinstance(alpha, float):
        raise TypeError(f"alpha must be an integer for {x.dtype}, got {alpha}")
    out = x.copy()
    added = source if alpha == 1 else (source * alpha).astype(x.dtype, copy=False)
    add_at(np.moveaxis(out, axis, 0), (index,), np.moveaxis(added, axis, 0))
    return out


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Tensor:
    """Add slices where an index points: ``out[index[i]] += alpha * source[i]`` for axis 0.

    Args:
        input: Tensor or array, which is not changed.
        dim: The axis that `index` runs over.
        index: Integers, at least 0, shape (n,).
        source: What to add: the shape of `input` with length n along the axis.
        alpha: A factor.

    Returns:
        The shape of `input`, in the common dtype of `input` and `source`. Slices that are hit
        several times receive the sum.

    Raises:
        IndexError: An index is out of range.
        TypeError: The index does not hold integers, or `alpha` is not an integer for integers.
        ValueError: The axis does not exist, or the shapes do not fit.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2).index_add(0, minigrad.tensor([1, 1]), minigrad.ones(2)).tolist()
        [0.0, 2.0]
    """
    return _index_add(input, index, source, dim, alpha)


def in_axes(index: Any, x: Any) -> Any:
    """An index; an empty one fits a tensor with more or fewer axes."""
    return reshape(index, (0,) * np.ndim(x)) if 0 in shape_of(index) else index


@primitive(arrays=3, promote=("x", "src"), axes=("axis",))
def _scatter_add(x: Any, index: Any, src: Any, axis: int) -> Any:
    x, src = np.asarray(x), np.asarray(src)
    grid = _own_grid(x, index, axis)
    _need_room(index, src, "src")
    out = x.copy()
    add_at(out, grid, src[_corner(index.shape)])
    return out


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """Add elements at indices: ``out[index[i, j], j] += src[i, j]`` for axis 0 of two.

    Arguments and errors are as in `scatter`. An element indexed several times receives the sum.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2).scatter_add(0, minigrad.tensor([1, 1]), minigrad.ones(2)).tolist()
        [0.0, 2.0]
    """
    return _scatter_add(input, in_axes(index, input), src, dim)


def _corner(shape: Shape) -> tuple[slice, ...]:
    """The leading block of an array, of shape `shape`."""
    return tuple(slice(n) for n in shape)


def _src_of_scatter_add(g: Any, index: Any, axis: int, src_shape: Shape) -> Any:
    read = g[open_grid(index, axis, index.shape)]
    return read if index.shape == src_shape else IndexUpdate(read, _corner(index.shape), src_shape)


def _src_of_scatter(g: Any, index: Any, axis: int, x_shape: Shape, src_shape: Shape) -> Any:
    grid = open_grid(index, axis, index.shape)
    read = zeroed(g[grid], overwritten(x_shape, grid))
    if not src_shape or index.shape == src_shape:
        return read
    return IndexUpdate(read, _corner(index.shape), src_shape)


# The table.
_take.defvjp(x=_take_x)
_take_along_axis.defvjp(x=_take_along_axis_x)
_gather.defvjp(
    x=lambda g, index, axis, x_shape: IndexUpdate(g, open_grid(index, axis, index.shape), x_shape)
)
_scatter.defvjp(
    x=lambda g, index, axis, x_shape: zeroed(
        g, written(x_shape, open_grid(index, axis, index.shape))
    ),
    src=_src_of_scatter,
)
_index_add.defvjp(
    x=lambda g: g, source=lambda g, index, axis, alpha: np.take(g, index_of(index), axis) * alpha
)
_scatter_add.defvjp(x=lambda g: g, src=_src_of_scatter_add)
