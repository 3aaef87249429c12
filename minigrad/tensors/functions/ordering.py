"""Functions of the order of elements: sorted, chosen by rank, counted, searched."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.dtype_class import printed_as
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.ops import sorting
from minigrad.ops.argument_errors import checked
from minigrad.ops.sorting import ValuesAndIndices
from minigrad.tensors import return_types
from minigrad.tensors.functions.arguments import of_numbers, part
from minigrad.tensors.functions.reductions import with_places

__all__ = [
    "argsort", "bincount", "bucketize", "histc", "histogram", "kthvalue", "mode", "msort",
    "searchsorted", "sort", "topk", "unique", "unique_consecutive",
]  # fmt: skip


@printed_as("histogram")
class HistogramAndEdges(NamedTuple):
    """What `histogram` returns."""

    hist: Tensor
    bin_edges: Tensor


@of_numbers
def sort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesAndIndices:
    """Sort along an axis: the elements in order, and where they were.

    Example:
        >>> import minigrad
        >>> values, indices = minigrad.tensor([3, 1, 2]).sort()
        >>> values.tolist(), indices.tolist()
        ([1, 2, 3], [1, 2, 0])
    """
    index = ops.argsort(input, dim, descending)
    return return_types.sort(ops.take_along_axis(input, index, dim), index)


@of_numbers
def msort(input: Any) -> Tensor:
    """Sort along the first axis.

    Example:
        >>> import minigrad
        >>> minigrad.msort(minigrad.tensor([3, 1, 2])).tolist()
        [1, 2, 3]
    """
    return ops.sort(input, 0)


@of_numbers
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Find the indices that sort along an axis; equal elements keep their order.

    Example:
        >>> import minigrad
        >>> minigrad.argsort(minigrad.tensor([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    return ops.argsort(input, dim, descending)


@of_numbers
def topk(
    input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    """Find the k largest or least elements along an axis, and their places.

    Example:
        >>> import minigrad
        >>> minigrad.topk(minigrad.tensor([3, 1, 2]), 2).values.tolist()
        [3, 2]
    """
    return return_types.topk(*ops.topk(input, k, dim, largest, sorted))


@of_numbers
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Find the k-th least element along an axis, and its place.

    Raises:
        RuntimeError: k is not from 1 to the length of the axis.

    Example:
        >>> import minigrad
        >>> minigrad.kthvalue(minigrad.tensor([3, 1, 2]), 2).values.item()
        2
    """
    if not 1 <= k <= input.shape[dim]:
        raise RuntimeError(f"kthvalue: k from 1 to {input.shape[dim]} expected, got {k}")
    index = part(ops.argsort(input, dim), dim, slice(k - 1, k))
    return with_places(return_types.kthvalue, input, index, dim, keepdim)


@of_numbers
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Find the commonest element along an axis, the least of several, and its last place.

    No NaN is equal to another.

    Example:
        >>> import minigrad
        >>> minigrad.mode(minigrad.tensor([2, 1, 2, 1])).indices.item()
        3
    """
    return with_places(return_types.mode, input, sorting.mode(input, dim), dim, keepdim)


@checked
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False,
    return_counts: bool = False, dim: int | None = None,
) -> Any:  # fmt: skip
    """Find the different elements, or slices along an axis, in order; each NaN is one.

    Args:
        input: Tensor, array or number.
        sorted: They always are.
        return_inverse: Whether the place of each element among the different ones is returned too.
        return_counts: Whether it is returned too how often each is there.
        dim: An axis, whose slices are compared; None for elements.

    Example:
        >>> import minigrad
        >>> minigrad.unique(minigrad.tensor([3, 1, 3])).tolist()
        [1, 3]
    """
    return ops.unique(input, False, return_inverse, return_counts, dim, equal_nan=False)


@checked
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Leave out elements, or slices along an axis, that equal the one before; see `unique`.

    Example:
        >>> import minigrad
        >>> minigrad.unique_consecutive(minigrad.tensor([1, 1, 3, 3, 1])).tolist()
        [1, 3, 1]
    """
    rows = ops.ravel(input) if dim is None else ops.moveaxis(input, dim, 0)
    starts, inverse, counts = sorting.unique_consecutive(rows)
    found = [ops.take(input, starts, dim)]
    if return_inverse:
        found.append(ops.reshape(inverse, input.shape) if dim is None else inverse)
    if return_counts:
        found.append(counts)
    return found[0] if len(found) == 1 else builtins.tuple(found)


# Places among sorted numbers, and counts


def searchsorted(
    sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Any = None,
) -> Tensor:  # fmt: skip
    """Find the places in a sorted sequence where elements would keep it sorted.

    Example:
        >>> import minigrad
        >>> minigrad.searchsorted(minigrad.tensor([1, 3, 5]), minigrad.tensor([3, 4])).tolist()
        [1, 2]
    """
    side = side or ("right" if right else "left")
    places = ops.searchsorted(sorted_sequence, input, side, sorter)
    return ops.astype(places, "int32" if out_int32 else "int64")


def bucketize(
    input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Find for each element how many boundaries it has passed.

    Example:
        >>> import minigrad
        >>> minigrad.bucketize(minigrad.tensor([0.5, 2.5]), minigrad.tensor([1.0, 2.0])).tolist()
        [0, 2]
    """
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """Count each integer, or add up the weights of the places where it is.

    Example:
        >>> import minigrad
        >>> minigrad.bincount(minigrad.tensor([0, 2, 2])).tolist()
        [1, 0, 2]
    """
    if isinstance(weights, Variable) and weights._data.dtype.kind != "f":
        weights = ops.astype(weights, np.float64)
    return ops.bincount(input, weights, minlength)


def histogram(
    input: Any, bins: Any = 100, *, range: tuple[float, float] | None = None, weight: Any = None,
    density: bool = False,
) -> HistogramAndEdges:  # fmt: skip
    """Count the elements in intervals, or add up their weights, in floats; and the edges.

    Args:
        input: Tensor or array of any shape.
        bins: The number of intervals, which have one width, or their edges, in ascending order.
        range: The lower and the upper end of all intervals; the extremes of `input` if None.
        weight: Numbers of the shape of `input`, to add up in place of 1.
        density: Divide by the width of the interval and by the sum of all.

    Returns:
        `hist` of shape (n,) and `bin_edges` of shape (n + 1,), of the dtype of `input`; of integers
        the default dtype, where PyTorch has an error.

    Example:
        >>> import minigrad
        >>> counts, edges = minigrad.histogram(minigrad.tensor([1.0, 2.0, 1.0, 4.0]), 3)
        >>> counts.tolist(), edges.tolist()
        ([2.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0])
    """
    counts, edges = ops.histogram(input, bins, range, density, weight)
    dtype = input.dtype if input.dtype.kind == "f" else get_default_dtype()
    return HistogramAndEdges(ops.astype(counts, dtype), ops.astype(edges, dtype))


def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the elements in intervals of one width; both bounds 0 mean the extremes.

    Example:
        >>> import minigrad
        >>> minigrad.histc(minigrad.tensor([0.0, 1.0, 3.0]), 3).tolist()
        [1.0, 1.0, 1.0]
    """
    bounds = None if min == max == 0 else (min, max)
    return ops.astype(ops.histogram(input, bins, bounds)[0], input.dtype)
