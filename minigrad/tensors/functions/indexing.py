"""Functions that read and write at places: gathered, scattered, masked, selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.ops.argument_errors import checked
from minigrad.ops.gathering import in_axes
from minigrad.ops.indexing import index_of, integers
from minigrad.support.checks import check_choice
from minigrad.tensors.creation import tensor
from minigrad.tensors.functions.arguments import of_numbers, part

__all__ = [
    "diagonal_scatter", "fill", "gather", "index_add", "index_copy", "index_fill", "index_put",
    "index_reduce", "index_select", "masked_scatter", "nonzero", "put", "scatter", "scatter_add",
    "scatter_reduce", "select", "select_scatter", "slice_scatter", "take", "take_along_dim",
    "unravel_index",
]  # fmt: skip


@overload
def nonzero(input: Any, *, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Any, *, as_tuple: bool) -> tuple[Tensor, ...]: ...
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Find the elements that are not 0: a row of indices for each, or a tensor for each axis.

    Example:
        >>> import minigrad
        >>> minigrad.nonzero(minigrad.tensor([0, 3, 4])).tolist()
        [[1], [2]]
    """
    return ops.nonzero(ops.atleast_1d(input)) if as_tuple else ops.argwhere(input)


def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """Convert places among all elements to an index for each axis.

    Example:
        >>> import minigrad
        >>> [i.item() for i in minigrad.unravel_index(minigrad.tensor(5), (2, 3))]
        [1, 2]
    """
    found = np.unravel_index(integers(indices), shape)
    return tuple([tensor(places) for places in found])


# Reading


@checked
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Tensor:
    """Read along an axis at the places that `index` names.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1, 2], [3, 4]])
        >>> x.gather(1, minigrad.tensor([[0], [1]])).tolist()
        [[1], [4]]
    """
    return _read(ops.gather, input, index, dim)


@of_numbers
def index_select(input: Any, dim: int, index: Any) -> Tensor:
    """Select places of an axis.

    Example:
        >>> import minigrad
        >>> minigrad.eye(3).index_select(0, minigrad.tensor([2, 0])).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return ops.take(input, ops.atleast_1d(index), dim)


@checked
def select(input: Any, dim: int, index: int) -> Tensor:
    """Select one place of an axis, which goes.

    Example:
        >>> import minigrad
        >>> minigrad.tensor([[1, 2], [3, 4]]).select(1, 0).tolist()
        [1, 3]
    """
    return part(input, dim, index)


def take(input: Any, index: Any) -> Tensor:
    """Read at places among all elements.

    Example:
        >>> import minigrad
        >>> minigrad.take(minigrad.tensor([[1, 2], [3, 4]]), minigrad.tensor([3, 0])).tolist()
        [4, 1]
    """
    return ops.take(ops.ravel(input), index)


@checked
def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Tensor:
    """Read along an axis at the places of an index that broadcasts; without an axis, of all.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[3, 1], [2, 4]])
        >>> minigrad.take_along_dim(x, x.argsort(1), 1).tolist()
        [[1, 3], [2, 4]]
    """
    if dim is None:
        return ops.take(ops.ravel(input), ops.ravel(indices))
    return _read(lambda x, dim, index: ops.take_along_axis(x, index, dim), input, indices, dim)


def _read(read: Callable[..., Any], input: Any, index: Any, dim: int) -> Any:
    """Read along an axis; a tensor without axes, or an index, has one of length 1."""
    if np.ndim(input) > 1 or (np.ndim(input) and np.ndim(index)):
        return read(input, dim, index)
    found = read(ops.reshape(input, (-1,)), dim, ops.reshape(index, (-1,)))
    return ops.reshape(found, np.shape(index))


# Writing: the result is a new tensor


def masked_scatter(input: Any, mask: Any, source: Any) -> Tensor:
    """Write the first elements of a source where a mask is true.

    Example:
        >>> import minigrad
        >>> x, mask = minigrad.zeros(3), minigrad.tensor([True, False, True])
        >>> x.masked_scatter(mask, minigrad.tensor([5.0, 6.0])).tolist()
        [5.0, 0.0, 6.0]
    """
    shape = np.broadcast_shapes(input.shape, mask.shape)
    chosen = ops.broadcast_to(mask, shape)
    first = ops.getitem(ops.ravel(source), slice(int(ops.sum(chosen))))
    return _put(ops.broadcast_to(input, shape), (chosen,), first, False)


@of_numbers
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None,
    reduce: str | None = None,
) -> Tensor:  # fmt: skip
    """Write values, or one number, along an axis at the places that `index` names.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(3).scatter(0, minigrad.tensor([2, 0]), 5.0).tolist()
        [5.0, 0.0, 5.0]
    """
    given, index = value if src is None else src, in_axes(index, input)
    if not isinstance(given, Variable):
        given = ops.broadcast_to(tensor(given, dtype=input.dtype), index.shape)
    if reduce is None:
        return ops.scatter(input, dim, index, given)
    kind = {"add": "sum", "multiply": "prod"}[reduce]
    first = ops.getitem(given, tuple([slice(n) for n in index.shape]))
    return ops.scatter_reduce(input, dim, index, first, kind)


scatter_add, scatter_reduce = of_numbers(ops.scatter_add), of_numbers(ops.scatter_reduce)
index_add, index_fill = of_numbers(ops.index_add), of_numbers(ops.index_fill)


@checked
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Tensor:
    """Write slices at places of an axis.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(3).index_copy(0, minigrad.tensor([2]), minigrad.ones(1)).tolist()
        [0.0, 0.0, 1.0]
    """
    return _written(input, dim, index_of(index), source)


@of_numbers
def index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Combine slices written to one place of an axis: see `scatter_reduce`.

    Example:
        >>> import minigrad
        >>> x, index = minigrad.ones(2), minigrad.tensor([1, 1])
        >>> x.index_reduce(0, index, minigrad.tensor([2.0, 3.0]), "prod").tolist()
        [1.0, 6.0]
    """
    check_choice("index_reduce", "reduce", reduce, ("prod", "mean", "amax", "amin"))
    source, rows, wanted = ops.atleast_1d(source), ops.moveaxis(input, dim, -1), [*input.shape]
    wanted[dim] = np.size(index)
    wrong = source.shape != tuple(wanted)
    refuse_shapes(wrong, "index_reduce", f"source of shape {tuple(wanted)}", source)
    places = ops.broadcast_to(index, (*rows.shape[:-1], np.size(index)))
    source = ops.moveaxis(source, dim, -1)
    found = ops.scatter_reduce(rows, -1, places, source, reduce, include_self=include_self)
    return ops.moveaxis(found, -1, dim)


@checked
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Tensor:
    """Write a slice at one place of an axis.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2, 2).select_scatter(minigrad.ones(2), 0, 1).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    return _written(input, dim, index, src)


@checked
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Write at a diagonal of two axes.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2, 2).diagonal_scatter(minigrad.ones(2)).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    filled = ops.clone(input)
    places = ops.diagonal(filled, offset, dim1, dim2)
    wrong = places.shape != np.shape(src)
    refuse_shapes(wrong, "diagonal_scatter", "src in the shape of the diagonal", src, places)
    places.copy_(src)
    return filled


@checked
def slice_scatter(
    input: Any, src: Any, dim: int = 0, start: int | None = None, end: int | None = None,
    step: int = 1,
) -> Tensor:  # fmt: skip
    """Write at a slice of an axis.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(4).slice_scatter(minigrad.ones(2), 0, 1, 3).tolist()
        [0.0, 1.0, 1.0, 0.0]
    """
    return _written(input, dim, slice(start, end, step), src)


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """Write at ``input[indices]``, or add there.

    Example:
        >>> import minigrad
        >>> x, index = minigrad.zeros(2), (minigrad.tensor([1, 1]),)
        >>> x.index_put(index, minigrad.tensor(3.0), accumulate=True).tolist()
        [0.0, 6.0]
    """
    return _put(input, tuple(indices), values, accumulate)


def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Tensor:
    """Write at places among all elements, or add there.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2, 2).put(minigrad.tensor([3]), minigrad.tensor([5.0])).tolist()
        [[0.0, 0.0], [0.0, 5.0]]
    """
    if np.size(source) != np.size(index):
        came = f"{np.size(source)} for {np.size(index)}"
        raise ValueError(f"put: as many values as indices expected, got {came}")
    source = ops.reshape(source, np.shape(index))
    return ops.reshape(_put(ops.ravel(input), (index,), source, accumulate), input.shape)


def fill(input: Any, value: Any) -> Tensor:
    """Write one number everywhere.

    Example:
        >>> import minigrad
        >>> minigrad.fill(minigrad.zeros(2), 3).tolist()
        [3.0, 3.0]
    """
    given = value if isinstance(value, Variable) else tensor(value, dtype=input.dtype)
    return ops.clone(ops.astype(ops.broadcast_to(given, input.shape), input.dtype))


def _written(x: Any, dim: int, index: Any, value: Any) -> Any:
    """The tensor with other values at some places of an axis."""
    filled = ops.clone(ops.reshape(x, x.shape or (1,)))
    filled[(slice(None),) * (dim % filled.ndim) + (index,)] = value
    return ops.reshape(filled, x.shape)


def _put(x: Any, index: tuple[Any, ...], values: Any, add: bool) -> Any:
    """The tensor with other values at some places, or with values added there."""
    filled = ops.clone(x)
    if not add:
        filled[index] = values
        return filled
    places = ops.getitem(np.arange(x._data.size).reshape(x.shape), index)
    source = ops.reshape(ops.broadcast_to(values, places.shape), (-1,))
    return ops.reshape(ops.index_add(ops.ravel(x), 0, ops.ravel(places), source), x.shape)
