"""PyTorch's functions whose answer depends on what they are given, written out.

Each has PyTorch's names, order and defaults. Those with a first argument `input` are methods of
tensors too.
"""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from minigrad import linalg as ours_linalg
from minigrad import ops
from minigrad.autograd.node import Variable
from minigrad.torch.creation import tensor
from minigrad.torch.helpers import axes, deviation, pieces

__all__ = [
    "cross", "fill", "flip", "kthvalue", "max", "median",
    "meshgrid", "min", "mode", "nonzero", "norm", "permute", "prod", "reshape", "scatter", "sort",
    "split", "squeeze", "std", "sum", "tile", "topk", "unflatten", "unique", "unique_consecutive",
    "var", "where",
]  # fmt: skip


class ValuesAndIndices(NamedTuple):
    """Chosen elements, and their places along the axis."""

    values: Any
    indices: Any


def _sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes that are given one by one, or as one tuple."""
    first = given[0] if len(given) == 1 else None
    return tuple(first) if isinstance(first, (tuple, list)) else given


def _extreme(
    input: Any, dim: Any, keepdim: bool, other: Any, of_two: Any, reduce: Any, place: Any
) -> Any:
    """`max` and `min`: of two tensors, of all elements, or along an axis with the places."""
    if isinstance(dim, Variable):
        other = dim
    if other is not None:
        return of_two(input, other)
    if dim is None:
        return reduce(input)
    return _at(input, place(input, dim, True), dim, keepdim)


def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element; along `dim` with its place; or the larger of two, element by element."""
    return _extreme(input, dim, keepdim, other, ops.maximum, ops.max, ops.argmax)


def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The least element; along `dim` with its place; or the lesser of two, element by element."""
    return _extreme(input, dim, keepdim, other, ops.minimum, ops.min, ops.argmin)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or along axes."""
    return ops.sum(input, axes(dim), keepdim, dtype=dtype)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along an axis."""
    return ops.prod(input, dim, keepdim, dtype=dtype)


def std(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: Any = None,
) -> Any:  # fmt: skip
    """The standard deviation; by default of a sample, which divides by n - 1."""
    return deviation(ops.std, input, dim, unbiased, keepdim, correction)


def var(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: Any = None,
) -> Any:  # fmt: skip
    """The variance; by default of a sample, which divides by n - 1."""
    return deviation(ops.var, input, dim, unbiased, keepdim, correction)


def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """The norm of vectors, or of all elements; "nuc" is of matrices."""
    input = input if dtype is None else ops.astype(input, dtype)
    if p == "nuc":
        matrices = input if dim is None else ops.moveaxis(input, axes(dim), (-2, -1))
        return ours_linalg.matrix_norm(matrices, keepdims=keepdim, ord="nuc")
    return ops.norm(input, 2 if p in ("fro", None) else p, axes(dim), keepdim)


def _median_index(input: Any, dim: int) -> Any:
    """The position of the lower of the two middle elements, or of the first NaN."""
    n, order = input.shape[dim], ops.argsort(input, dim)  # NaN is last
    nans = ops.sum(ops.isnan(input), dim, True)
    return ops.take_along_axis(order, ops.where(nans > 0, n - nans, (n - 1) // 2), dim)


def _at(input: Any, index: Any, dim: int, keepdim: bool) -> ValuesAndIndices:
    if not input.ndim:
        return ValuesAndIndices(ops.reshape(input, ()), index)
    values = ops.take_along_axis(input, index, dim)
    if not keepdim:
        values, index = ops.squeeze(values, dim), ops.squeeze(index, dim)
    return ValuesAndIndices(values, index)


def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower of the two middle elements; along `dim` with its place."""
    if dim is None:
        flat = ops.ravel(input)
        return _at(flat, _median_index(flat, 0), 0, False).values
    return _at(input, _median_index(input, dim), dim, keepdim)


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """The k-th smallest element along an axis, and its place."""
    if not 1 <= k <= input.shape[dim]:
        raise RuntimeError(f"kthvalue: k from 1 to {input.shape[dim]} expected, got {k}")
    order = ops.argsort(input, dim)
    index = ops.getitem(order, (slice(None),) * (dim % input.ndim) + (slice(k - 1, k),))
    return _at(input, index, dim, keepdim)


def mode(input: Any, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """The commonest element along an axis, the least of several, and the last place where it is."""
    moved = np.moveaxis(input._data, dim, -1)
    flat = moved.reshape(-1, moved.shape[-1])
    index = np.empty(len(flat), np.int64)
    for i, row in enumerate(flat):
        found, counts = np.unique(row, return_counts=True)
        index[i] = np.flatnonzero(row == found[counts.argmax()])[-1]
    places = np.expand_dims(index.reshape(moved.shape[:-1]), dim % input.ndim)
    return _at(input, ops.astype(tensor(places), "int64"), dim, keepdim)


def sort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesAndIndices:
    """The elements in order along an axis, and where they were."""
    if not input.ndim:
        return ValuesAndIndices(ops.clone(input), tensor(np.zeros((), np.int64)))
    index = ops.argsort(input, dim, descending)
    return ValuesAndIndices(ops.take_along_axis(input, index, dim), index)


def topk(
    input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    """The k largest or smallest elements along an axis, and their places."""
    return ValuesAndIndices(*ops.topk(input, k, dim, largest, sorted))


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """The elements of `input` where the condition holds, of `other` elsewhere."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return ops.where(condition, input, other)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the nonzero elements: a row for each element, or a tensor for each axis."""
    return tuple(ops.nonzero(input)) if as_tuple else ops.argwhere(input)


def split(
    input: Any, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None
) -> tuple[Any, ...]:
    """Pieces of a size, or of several sizes, along an axis."""
    size = split_size_or_sections if split_size is None else split_size
    n = input.shape[dim]
    if isinstance(size, int):
        if size <= 0:
            raise RuntimeError(f"split: a positive size expected, got {size}")
        return pieces(input, size, dim)
    if builtins.sum(size) != n:
        raise RuntimeError(f"split: sizes {list(size)} of an axis of length {n}")
    return tuple(ops.split(input, [int(end) for end in np.cumsum(size)[:-1]], dim))


def permute(input: Any, *axes: Any, dims: Any = None) -> Any:
    """The axes in another order."""
    return ops.transpose(input, _sizes(axes) if dims is None else tuple(dims))


def reshape(input: Any, *shape: Any) -> Any:
    """The elements in another shape."""
    return ops.reshape(input, _sizes(shape))


def tile(input: Any, *repeats: Any, dims: Any = None) -> Any:
    """The tensor repeated along its axes."""
    return ops.tile(input, _sizes(repeats) if dims is None else tuple(dims))


def flip(input: Any, *axes: Any, dims: Any = None) -> Any:
    """The elements in reverse order along axes."""
    return ops.flip(input, _sizes(axes) if dims is None else tuple(dims))


def squeeze(input: Any, dim: Any = None) -> Any:
    """Without the axes of length 1; one that is longer stays."""
    if dim is None:
        return ops.squeeze(input)
    given = [dim] if isinstance(dim, int) else dim
    for axis in given:
        if not -builtins.max(input.ndim, 1) <= axis < builtins.max(input.ndim, 1):
            raise IndexError(f"squeeze: dim {axis} of a tensor with {input.ndim} axes")
    short = tuple(axis for axis in given if input.ndim and input.shape[axis] == 1)
    return ops.squeeze(input, short) if short else ops.reshape(input, input.shape)


def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One axis as several."""
    dim %= input.ndim
    return ops.reshape(input, (*input.shape[:dim], *sizes, *input.shape[dim + 1 :]))


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """The coordinates of a grid; the first tensor runs along the first axis."""
    return tuple(ops.meshgrid(*_sizes(tensors), indexing=indexing))


def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """The cross product of vectors of 3; along the first axis of that length by default."""
    if dim is None:
        dim = next((i for i, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError(f"cross: an axis of length 3 expected, got {tuple(input.shape)}")
    return ops.cross(input, other, axis=dim)


def scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Any:
    """The tensor with values at the places that `index` names along an axis."""
    given = value if src is None else src
    if not isinstance(given, Variable):
        given = ops.astype(ops.broadcast_to(tensor(given), index.shape), input.dtype)
    if reduce is None:
        return ops.scatter(input, dim, index, given)
    parts = tuple([slice(n) for n in index.shape])
    kind = {"add": "sum", "multiply": "prod"}[reduce]
    return ops.scatter_reduce(input, dim, index, ops.getitem(given, parts), kind)


def fill(input: Any, value: Any) -> Any:
    """A number everywhere, in the shape of the tensor."""
    given = value if isinstance(value, Variable) else tensor(value)
    return ops.astype(ops.broadcast_to(given, input.shape), input.dtype)


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: Any = None,
) -> Any:  # fmt: skip
    """The different elements in order; with their places in `input` and their counts on request."""
    return ops.unique(input, False, return_inverse, return_counts, dim)


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements, or slices along `dim`, of which each differs from the one before it."""
    rows = ops.ravel(input) if dim is None else ops.moveaxis(input, dim, 0)
    flat = rows._data.reshape(len(rows), -1)
    first = np.ones(len(flat), bool)
    first[1:] = (flat[1:] != flat[:-1]).any(1)
    kept = ops.getitem(rows, tensor(first))
    found = [kept if dim is None else ops.moveaxis(kept, 0, dim)]
    if return_inverse:
        inverse = np.cumsum(first) - 1
        found.append(tensor(inverse.reshape(input.shape) if dim is None else inverse))
    if return_counts:
        found.append(tensor(np.diff(np.append(np.flatnonzero(first), len(flat)))))
    return found[0] if len(found) == 1 else tuple(found)
