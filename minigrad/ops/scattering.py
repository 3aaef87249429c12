"""Writing along one axis: reductions of all that is written to a place, and filling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import located
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import array_of, attains, constant, zeroed
from minigrad.ops.casting import as_tensor, clone
from minigrad.ops.gathering import (
    _corner,
    _need_room,
    _own_grid,
    in_axes,
    open_grid,
    scatter_add,
)
from minigrad.ops.indexing import IndexUpdate, add_at, index_of, setitem, written
from minigrad.ops.joining import along
from minigrad.ops.reductions import prod

__all__ = ["index_fill", "scatter_reduce"]

Shape = tuple[int, ...]
_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def index_fill(input: Any, dim: int, index: Any, value: Any) -> Tensor:
    """Return a copy with one value at some places of an axis: ``out[index] = value`` for axis 0.

    Args:
        input: Tensor or array.
        dim: The axis that `index` runs over.
        index: Integers; negative ones count from the end.
        value: A number, or a tensor of one element.

    Raises:
        IndexError: An index is out of range.
        TypeError: The index does not hold integers.
        ValueError: The axis does not exist, or there are several values.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(3).index_fill(0, minigrad.tensor([0, 2]), 1.0).tolist()
        [1.0, 0.0, 1.0]
    """
    if np.shape(value) not in ((), (1,)):
        raise value_error(
            f"index_fill: one value expected, got shape {np.shape(value)}; for several "
            f"values see scatter"
        )
    shape = np.shape(input)
    x, axis, _ = along("index_fill", as_tensor(input).reshape(shape or (1,)), dim)
    return setitem(x, (slice(None),) * axis + (index_of(index),), value).reshape(shape)


def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Combine values written to one place: ``out[index[i, j], j]`` and ``src[i, j]`` for axis 0.

    Args:
        input: Tensor or array, which is not changed.
        dim: The axis that `index` runs over.
        index: Integers as for `scatter`.
        src: The values to write: as many axes as `index`, and on each at least its length.
        reduce: "sum", "prod", "mean", "amax" or "amin".
        include_self: Whether the element of `input` is combined too. Elements to which nothing is
            written stay what they are.

    Returns:
        The shape of `input`, in the common dtype of `input` and `src`. Equal extremes share their
        gradient evenly; the mean of integers is rounded down.

    Raises:
        IndexError: An index is out of range.
        TypeError: The index does not hold integers.
        ValueError: The axis does not exist, the shapes do not fit, or `reduce` is unknown.

    Example:
        >>> import minigrad
        >>> x, src = minigrad.ones(3), minigrad.tensor([2.0, 5.0, 3.0])
        >>> minigrad.scatter_reduce(x, 0, [0, 0, 2], src, "amax").tolist()
        [5.0, 1.0, 3.0]
        >>> minigrad.scatter_reduce(x, 0, [0, 0, 2], src, "mean", include_self=False).tolist()
        [3.5, 1.0, 3.0]
    """
    if reduce not in _REDUCTIONS:
        raise value_error(
            f"scatter_reduce: reduce must be one of {', '.join(_REDUCTIONS)}; got {reduce!r}"
        )
    x, axis, _ = along("scatter_reduce", input, dim)
    src = as_tensor(src)
    try:
        # A copy: the caller may write to it before the backward pass. Observers are told of it.
        index = in_axes(index, x)
        index = index_of(clone(index) if isinstance(index, Variable) else np.array(index))
        _own_grid(x, index, axis)
        _need_room(index, src, "src")
    except (IndexError, TypeError, ValueError) as error:
        raise type(error)(located(f"scatter_reduce: {error}")) from None
    if reduce in ("amax", "amin"):
        return _scatter_extreme(x, src, index, axis, reduce == "amax", include_self)
    zeros = np.zeros(x.shape, np.intp)
    counts = constant(scatter_add(zeros, axis, index, np.ones(index.shape, np.intp)))
    if reduce == "prod":
        return _scatter_products(x, axis, index, src, array_of(counts), include_self)
    start = x if include_self else np.where(counts > 0, np.zeros((), x.dtype.dtype), x)
    total = scatter_add(start, axis, index, src)
    if reduce == "sum":
        return total
    counts = (counts + 1 if include_self else np.maximum(counts, 1)).astype(total.dtype)
    mean: Tensor = total / counts if total.dtype.kind == "f" else total // counts
    return mean


def _scatter_products(
    x: Tensor, axis: int, index: np.ndarray, src: Tensor, counts: np.ndarray, include_self: bool
) -> Tensor:
    """The products, computed in a row for each place: derivatives are right beside zeros too."""
    numbers = np.arange(math.prod(x.shape)).reshape(x.shape)
    places, row = np.unique(numbers[_own_grid(x, index, axis)], return_inverse=True)
    row, lengths = row.ravel(), counts.reshape(-1)[places]
    order = np.argsort(row, kind="stable")
    column = np.arange(row.size) - np.repeat(lengths.cumsum() - lengths, lengths)
    members = np.zeros((places.size, lengths.max(initial=0)), np.intp)
    outside = np.arange(members.shape[1]) >= lengths[:, None]
    members[row[order], column] = order
    written_values = src[_corner(index.shape)].reshape(-1)
    products = prod(np.where(outside, 1, np.take(written_values, members, 0)), axis=1)
    products = products.astype(np.result_type(x.dtype.dtype, src.dtype.dtype))
    if include_self:
        products = x.reshape(-1)[places] * products
    spread = setitem(np.zeros(numbers.size, products.dtype), places, products).reshape(x.shape)
    found: Tensor = np.where(counts > 0, spread, x)  # type: ignore[assignment]
    return found


@primitive(arrays=2, promote=("x", "src"), axes=("axis",))
def _scatter_extreme(
    x: Any, src: Any, index: Any, axis: int, largest: bool, include_self: bool
) -> Any:
    grid, values, out = open_grid(index, axis, index.shape), src[_corner(index.shape)], x.copy()
    if not include_self:
        out[grid] = values
    (np.maximum if largest else np.minimum).at(out, grid, values)
    return out


@_scatter_extreme.defjoint("x", "src")
def _scatter_extreme_rule(
    g: Any, needed: Any, x: Any, src: Any, out: Any, index: Any, axis: int, include_self: bool,
    src_shape: Shape,
) -> list[Any]:  # fmt: skip
    """Divide the cotangent of each place evenly among the extremes there."""
    grid, corner = open_grid(index, axis, index.shape), _corner(index.shape)
    x, values, best = array_of(x), array_of(src)[corner], array_of(out)
    in_x = attains(x, best) & (include_self | ~written(x.shape, grid))
    in_src = attains(values, best[grid])
    count = in_x.astype(np.intp)
    add_at(count, grid, in_src)
    share = g / count
    to_src = zeroed(share[grid], ~in_src) if needed[1] else None
    if needed[1] and index.shape != src_shape:
        to_src = IndexUpdate(to_src, corner, src_shape)
    return [zeroed(share, ~in_x) if needed[0] else None, to_src]
