"""Functions that rearrange, join and divide tensors."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from itertools import accumulate
from itertools import combinations as choices
from itertools import combinations_with_replacement as choices_again
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.errors import refuse_shapes
from minigrad.autograd.mode import located, state
from minigrad.autograd.mutation import view_of
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.autograd.views import Place, owner
from minigrad.ops.argument_errors import checked
from minigrad.tensors.creation import Size, tensor
from minigrad.tensors.functions.arguments import of_numbers, part, signed, sizes_of

__all__ = [
    "adjoint", "as_strided", "block_diag", "broadcast_shapes", "broadcast_to", "cartesian_prod",
    "cat", "chunk", "combinations", "concat", "concatenate", "diag", "diagflat", "diagonal",
    "expand", "flatten", "flip", "fliplr", "flipud", "meshgrid", "moveaxis", "movedim", "narrow",
    "narrow_copy", "permute", "repeat", "repeat_interleave", "reshape", "roll", "rot90", "split",
    "split_with_sizes", "squeeze", "stack", "swapaxes", "swapdims", "t", "tensor_split", "tile",
    "transpose", "tril", "triu", "unbind", "unflatten", "unsqueeze",
]  # fmt: skip


# Order of axes


@of_numbers
def transpose(input: Any, dim0: int, dim1: int) -> Tensor:
    """Exchange two axes.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.transpose(minigrad.ones(2, 3, 4), 0, 2).shape)
        (4, 3, 2)
    """
    return ops.swapaxes(input, dim0, dim1)


@of_numbers
def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Exchange two axes: `transpose` under another name.

    Example:
        >>> import minigrad
        >>> minigrad.swapaxes(minigrad.ones(2, 3, 4), 0, 2).shape
        minigrad.Size([4, 3, 2])
    """
    return ops.swapaxes(input, axis0, axis1)


swapdims = transpose


@of_numbers
def moveaxis(input: Any, source: Any, destination: Any) -> Tensor:
    """Move axes to other places; the others keep their order.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.moveaxis(minigrad.ones(2, 3, 4), 0, -1).shape)
        (3, 4, 2)
    """
    return ops.moveaxis(input, source, destination)


movedim = moveaxis


def permute(input: Any, *axes: Any, dims: Any = None) -> Tensor:
    """Put the axes in another order.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.permute(minigrad.ones(2, 3, 4), (1, 2, 0)).shape)
        (3, 4, 2)
    """
    return ops.transpose(input, sizes_of(axes, dims))


def t(input: Any) -> Tensor:
    """Transpose a matrix; a vector stays.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.t(minigrad.ones(2, 3)).shape)
        (3, 2)
    """
    if input.ndim > 2:
        raise RuntimeError(f"t: at most 2 axes expected, got shape {tuple(input.shape)}; see .mT")
    return ops.transpose(input)


def adjoint(input: Any) -> Tensor:
    """Exchange the last two axes.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.adjoint(minigrad.ones(2, 3, 4)).shape)
        (2, 4, 3)
    """
    return ops.swapaxes(input, -1, -2) if np.ndim(input) else input


# Shapes


def reshape(input: Any, *sizes: Any, shape: Any = None) -> Tensor:
    """Give the elements another shape; one length may be -1.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.reshape(minigrad.arange(6), (2, -1)).shape)
        (2, 3)
    """
    return ops.reshape(input, sizes_of(sizes, shape))


def reshape_as(input: Any, other: Any) -> Tensor:
    """Give the elements the shape of another tensor."""
    return ops.reshape(input, other.shape)


view_as = reshape_as


@checked
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge neighbouring axes into one; a tensor whose axes stay apart is returned itself.

    Example:
        >>> import minigrad
        >>> minigrad.flatten(minigrad.ones(2, 3, 4), 1).shape
        minigrad.Size([2, 12])
    """
    n = input._data.ndim if isinstance(input, Variable) else 0
    alone = -n <= start_dim < n and -n <= end_dim < n and (start_dim - end_dim) % n == 0
    return input if alone else ops.flatten(input, start_dim, end_dim)


def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Tensor:
    """Make several axes of one.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.unflatten(minigrad.ones(2, 12), 1, (3, -1)).shape)
        (2, 3, 4)
    """
    dim = normalize_axis_index(dim, input.ndim, located("unflatten"))
    wrong = -1 not in sizes and math.prod(sizes) != input.shape[dim]
    refuse_shapes(wrong, "unflatten", f"an axis {dim} of size {math.prod(sizes)}", input)
    return ops.reshape(input, (*input.shape[:dim], *sizes, *input.shape[dim + 1 :]))


@checked
def squeeze(input: Any, dim: Any = None) -> Tensor:
    """Leave out axes of length 1; one that is longer stays.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.squeeze(minigrad.ones(1, 3, 1), (0, 1)).shape)
        (3, 1)
    """
    if dim is None:
        return ops.squeeze(input)
    given, count = ([dim] if isinstance(dim, int) else dim), builtins.max(input.ndim, 1)
    for axis in given:
        if not -count <= axis < count:
            raise IndexError(f"squeeze: dim {axis} of a tensor with {input.ndim} axes")
    short = tuple(axis for axis in given if input.ndim and input.shape[axis] == 1)
    return ops.squeeze(input, short) if short else ops.reshape(input, input.shape)


@checked
def unsqueeze(input: Any, dim: int) -> Tensor:
    """Insert an axis of length 1.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.unsqueeze(minigrad.ones(3), 0).shape)
        (1, 3)
    """
    return ops.expand_dims(input, dim)


def expand(input: Any, *sizes: Any, size: Any = None) -> Tensor:
    """Repeat along axes of length 1, without copying; -1 leaves an axis as it is.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.ones(3, 1).expand(-1, 4).shape)
        (3, 4)
    """
    return ops.expand(input, *sizes_of(sizes, size))


@checked
def broadcast_to(input: Any, *sizes: Any, size: Any = None) -> Tensor:
    """Repeat along axes of length 1 to a shape, without copying; -1 leaves an axis as it is.

    Example:
        >>> import minigrad
        >>> minigrad.broadcast_to(minigrad.arange(3), (2, 3)).tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    if not sizes and size is None:
        raise TypeError("broadcast_to: a shape expected, got none")
    shape = sizes_of(sizes, size)
    if len(shape) == 1 and np.iterable(shape[0]):
        shape = tuple(shape[0])
    shape = tuple([operator.index(n) for n in shape])
    kept = min(shape, default=0) < 0
    return ops.expand(input, *shape) if kept else ops.broadcast_to(input, shape)


def expand_as(input: Any, other: Any) -> Tensor:
    """Repeat along axes of length 1 to the shape of another tensor."""
    return ops.broadcast_to(input, other.shape)


def sum_to_size(input: Any, *sizes: Any, size: Any = None) -> Tensor:
    """Add up along the axes that a shape, which broadcasts to this one, does not have.

    Example:
        >>> import minigrad
        >>> minigrad.ones(2, 3).sum_to_size(3).tolist()
        [2.0, 2.0, 2.0]
    """
    shape = sizes_of(sizes, size)
    given = (1,) * (input.ndim - len(shape)) + tuple(shape)
    short = tuple(i for i, n in enumerate(given) if n == 1 and input.shape[i] != 1)
    total = ops.sum(signed(input), short, True) if short or not shape else input
    return total if total.shape == shape else ops.reshape(total, shape)


def broadcast_shapes(*shapes: Any) -> Size:
    """Compute the shape to which shapes broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.broadcast_shapes((2, 1), (3,))
        minigrad.Size([2, 3])
    """
    return Size(np.broadcast_shapes(*shapes))


# Repetition and order along axes


def repeat(input: Any, *sizes: Any, repeats: Any = None) -> Tensor:
    """Repeat the whole tensor along its axes, and along new ones before them.

    Example:
        >>> import minigrad
        >>> minigrad.tensor([1, 2]).repeat(2, 2).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    given = sizes_of(sizes, repeats)
    if len(given) < input.ndim:
        raise RuntimeError(f"repeat: a size for each of {input.ndim} axes expected, got {given}")
    return ops.tile(input, given)


def tile(input: Any, *repeats: Any, dims: Any = None) -> Tensor:
    """Repeat the whole tensor along its last axes.

    Example:
        >>> import minigrad
        >>> minigrad.tile(minigrad.tensor([1, 2]), (2,)).tolist()
        [1, 2, 1, 2]
    """
    return ops.tile(input, sizes_of(repeats, dims))


@of_numbers
def repeat_interleave(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element, or each slice along an axis; the length follows from `repeats`.

    What is given alone are the repeats, of the numbers from 0.

    Example:
        >>> import minigrad
        >>> minigrad.repeat_interleave(minigrad.tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    if repeats is None:
        input, repeats = tensor(np.arange(len(input))), input
    return ops.repeat(input, repeats, dim)


@of_numbers
def flip(input: Any, *axes: Any, dims: Any = None) -> Tensor:
    """Reverse the elements along axes: a copy; `np.flip` of a tensor is a view.

    If none is named, along all of them; in PyTorch that is an error.

    Example:
        >>> import minigrad
        >>> minigrad.flip(minigrad.tensor([1, 2, 3]), (0,)).tolist()
        [3, 2, 1]
    """
    if dims is None and not axes:
        return ops.clone(ops.flip(input))
    chosen = sizes_of(axes) if dims is None else dims
    return ops.clone(ops.flip(input, chosen if isinstance(chosen, int) else tuple(chosen)))


def fliplr(input: Any) -> Tensor:
    """Flip left and right: reverse the second axis.

    Example:
        >>> import minigrad
        >>> minigrad.fliplr(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [[2, 1], [4, 3]]
    """
    return ops.clone(ops.fliplr(input))


def flipud(input: Any) -> Tensor:
    """Flip up and down: reverse the first axis.

    Example:
        >>> import minigrad
        >>> minigrad.flipud(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [[3, 4], [1, 2]]
    """
    return ops.clone(ops.flipud(input))


@of_numbers
def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Move elements along axes; those that leave at the end come back at the start.

    Example:
        >>> import minigrad
        >>> minigrad.roll(minigrad.tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    dims = dims if np.size(dims) else None
    if np.size(shifts) != (1 if dims is None else np.size(dims)):
        raise ValueError(f"roll: a shift for each of dims expected, got {shifts} for {dims}")
    return ops.roll(input, shifts, dims)


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Turn by k right angles in the plane of two axes.

    Example:
        >>> import minigrad
        >>> minigrad.rot90(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    return ops.clone(ops.rot90(input, k, dims))


# Joining


@checked
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an axis; empty ones with one axis take any shape.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.cat([minigrad.ones(2, 1), minigrad.zeros(2, 2)], dim=1).shape)
        (2, 3)
    """
    given = list(tensors)
    shapes = [x._data.shape if isinstance(x, Variable) else np.shape(x) for x in given]
    if (0,) in shapes:
        like = next((shape for shape in shapes if shape != (0,)), (0,))
        empty = tuple([0 if axis == dim % len(like) else n for axis, n in enumerate(like)])
        given = [ops.reshape(x, empty) if np.shape(x) == (0,) else x for x in given]
        dim = 0 if like == (0,) else dim
    return ops.concatenate(given, dim)


concat = concatenate = cat


@checked
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.stack([minigrad.ones(3), minigrad.zeros(3)], dim=1).shape)
        (3, 2)
    """
    return ops.stack(tensors, dim)


def block_diag(*tensors: Any) -> Tensor:
    """Put matrices along a diagonal, with zeros elsewhere.

    Example:
        >>> import minigrad
        >>> tuple(minigrad.block_diag(minigrad.ones(1, 2), minigrad.ones(2, 1)).shape)
        (3, 3)
    """
    blocks = [ops.reshape(x, (1,) * (2 - x.ndim) + tuple(x.shape)) for x in tensors or [tensor([])]]
    width = builtins.sum(block.shape[1] for block in blocks)
    starts = accumulate((block.shape[1] for block in blocks), initial=0)
    return ops.concatenate([
        ops.pad(block, ((0, 0), (start, width - start - block.shape[1])))
        for block, start in zip(blocks, starts, strict=False)
    ])  # fmt: skip


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Compute the coordinates of a grid; the first tensor runs along the first axis.

    Example:
        >>> import minigrad
        >>> minigrad.meshgrid(minigrad.arange(2), minigrad.arange(3))[0].tolist()
        [[0, 0, 0], [1, 1, 1]]
    """
    return ops.meshgrid(*sizes_of(tensors), indexing=indexing)


def cartesian_prod(*tensors: Any) -> Tensor:
    """List all combinations of the elements of vectors.

    Example:
        >>> import minigrad
        >>> minigrad.cartesian_prod(minigrad.arange(2), minigrad.tensor([5])).tolist()
        [[0, 5], [1, 5]]
    """
    if len(tensors) == 1:
        return tensors[0]
    return ops.stack([ops.ravel(x) for x in ops.meshgrid(*tensors, indexing="ij")], -1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """List all choices of r elements of a vector.

    Example:
        >>> import minigrad
        >>> minigrad.combinations(minigrad.tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    if not r:
        return input[:0]
    chosen = [*(choices_again if with_replacement else choices)(range(len(input)), r)]
    return ops.take(input, np.array(chosen, np.int64).reshape(-1, r))


# Dividing


@checked
def split(
    input: Any, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None
) -> tuple[Tensor, ...]:
    """Divide along an axis into pieces of one size, where the last may be smaller, or of several.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.split(minigrad.arange(5), 2)]
        [[0, 1], [2, 3], [4]]
        >>> [part.tolist() for part in minigrad.arange(5).split([1, 4])]
        [[0], [1, 2, 3, 4]]
    """
    size, n = (split_size_or_sections if split_size is None else split_size), input.shape[dim]
    if isinstance(size, int):
        if size <= 0:
            raise RuntimeError(f"split: a positive size expected, got {size}")
        return ops.split(input, list(range(size, n, size)), dim)
    if builtins.sum(size) != n:
        raise RuntimeError(f"split: sizes that add up to {n}, the axis, expected, got {list(size)}")
    return ops.split(input, [int(end) for end in accumulate(size)][:-1], dim)


split_with_sizes = split


@checked
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Divide along an axis into at most so many pieces of one size; the last may be smaller.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.chunk(minigrad.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
    """
    n = input.shape[dim]
    if chunks <= 0:
        raise RuntimeError(f"chunk: a positive number of chunks expected, got {chunks}")
    size = builtins.max(-(-n // chunks), 1)
    return ops.split(input, [*range(size, n, size)] if n else [0] * (chunks - 1), dim)


@checked
def tensor_split(
    input: Any, indices_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Divide along an axis into so many pieces of nearly one size, or at places.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.tensor_split(minigrad.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
    """
    return ops.array_split(input, indices_or_sections, dim)


@checked
def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Take an axis away: a tensor for each of its places.

    Example:
        >>> import minigrad
        >>> [row.tolist() for row in minigrad.unbind(minigrad.tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    return ops.unbind(input, dim)


@checked
def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """Take some consecutive places of an axis.

    A negative start counts from the end.

    Raises:
        RuntimeError: There are not so many places.

    Example:
        >>> import minigrad
        >>> minigrad.narrow(minigrad.arange(5), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    n, first = input.shape[dim], operator.index(start)
    first += n if -n <= first < 0 else 0
    if not (0 <= first <= n and 0 <= length <= n - first):
        raise RuntimeError(f"narrow: an axis of length {n} has no {length} places from {start} on")
    return part(input, dim, slice(first, first + length))


@checked
def narrow_copy(input: Any, dim: int, start: int, length: int) -> Tensor:
    """Copy some consecutive places of an axis: see `narrow`.

    Example:
        >>> import minigrad
        >>> minigrad.narrow_copy(minigrad.arange(5), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    return ops.clone(narrow(input, dim, start, length))


def _places(shape: Any, stride: Any, offset: int) -> np.ndarray:
    """The places in memory of all elements of a shape."""
    places = np.full(shape, offset)
    for axis, (n, by) in enumerate(zip(shape, stride, strict=True), 1):
        places += np.arange(n).reshape(-1, *[1] * (len(shape) - axis)) * by
    return places


def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """View the memory of a tensor by lengths and steps, counted in elements.

    Where a gradient is recorded the result cannot be written to.

    Raises:
        RuntimeError: The memory has no such places, or a gradient is recorded and they are not all
            of the tensor, or two of its elements are at one place.

    Example:
        >>> import minigrad
        >>> minigrad.as_strided(minigrad.arange(5), (3, 2), (1, 2)).tolist()
        [[0, 2], [1, 3], [2, 4]]
    """
    array, shape = input._data, tuple(size)
    memory, step = owner(array), array.itemsize
    first = (Place.of_array(array).start - Place.of_array(memory).start) // step
    offset = first if storage_offset is None else storage_offset
    places, own = _places(shape, stride, offset), np.arange(memory.size)
    recorded = input._node is not None or state.get().observers
    if recorded:
        own = np.full(memory.size, -1)
        by = np.array(array.strides, int) // step
        own[_places(array.shape, by, first).ravel()] = np.arange(array.size)
    if not memory.flags.c_contiguous or (recorded and (own >= 0).sum() < array.size):
        raise RuntimeError("as_strided: a contiguous tensor is needed here; call .contiguous()")
    if (places < 0).any() or (places >= own.size).any() or (own[places] < 0).any():
        given = f"size {shape}, stride {tuple(stride)} and offset {offset}"
        raise RuntimeError(f"as_strided: {given} reach beyond the {(own >= 0).sum()} elements")
    if recorded:
        found = ops.getitem(ops.ravel(input), own[places])
        found._data.flags.writeable = False
        return found
    strides = [by * step for by in stride]
    view = wrap(np.ndarray(shape, array.dtype, memory, offset * step, strides))
    view_of(view, input)
    return view


# Diagonals


def diag(input: Any, diagonal: int = 0) -> Tensor:
    """Copy a diagonal of a matrix, or make a matrix with a vector on a diagonal.

    `diagonal` gives a view, and `np.diag` too.

    Example:
        >>> import minigrad
        >>> minigrad.diag(minigrad.tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    found = ops.diag(input, diagonal)
    return ops.clone(found) if np.ndim(input) == 2 else found


def diagflat(input: Any, offset: int = 0) -> Tensor:
    """Make a matrix with all elements on a diagonal.

    Example:
        >>> import minigrad
        >>> minigrad.diagflat(minigrad.tensor([[1], [2]])).tolist()
        [[1, 0], [0, 2]]
    """
    return ops.diag(ops.ravel(input), offset)


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Take a diagonal of two axes, as a last axis.

    Example:
        >>> import minigrad
        >>> minigrad.diagonal(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    return ops.diagonal(input, offset, dim1, dim2)


def tril(input: Any, diagonal: int = 0) -> Tensor:
    """Keep the lower triangle of matrices, with zeros above it.

    Example:
        >>> import minigrad
        >>> minigrad.tril(minigrad.ones(2, 2)).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    return ops.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Tensor:
    """Keep the upper triangle of matrices, with zeros below it.

    Example:
        >>> import minigrad
        >>> minigrad.triu(minigrad.ones(2, 2)).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    return ops.triu(input, diagonal)
