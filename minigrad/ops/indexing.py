"""Reading and writing parts of a tensor, in all of NumPy's index forms; rows of a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.engine import Update
from minigrad.autograd.mode import state
from minigrad.autograd.node import Variable, data_of
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import formula, values_of, within_rule, zeroed
from minigrad.ops.casting import clone

__all__ = ["RowUpdate", "embedding", "getitem", "setitem"]


class IndexUpdate(Update):
    """The cotangent of ``x[index]``: `value` at `index`, zero elsewhere in the shape of x."""

    def __init__(self, value: Any, index: Any, shape: tuple[int, ...]) -> None:
        self.value = value
        self.index = index
        self.shape = shape

    def add_to(self, buffer: np.ndarray) -> None:
        if _reads_twice(self.index):
            add_at(buffer, self.index, self.value)
        else:
            buffer[self.index] += self.value

    def dense(self) -> Any:
        return scatter_index(self.value, self.index, self.shape)


def add_at(buffer: np.ndarray, index: Any, value: Any) -> None:
    """``np.add.at``, but many times faster for integer arrays that index rows or single elements.

    float16 is accumulated in float32.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in parts):
        np.add.at(buffer, index, value)
    elif len(parts) == 1 and (buffer.ndim > 1 or buffer.dtype == np.float16):
        _add_rows(buffer, parts[0], value)
    elif len(parts) == buffer.ndim > 1 and buffer.flags.c_contiguous:
        places = _places_in_memory(parts, buffer.shape)
        add_at(buffer.reshape(-1), (places.ravel(),), np.broadcast_to(value, places.shape).ravel())
    else:
        np.add.at(buffer, index, value)


def _add_rows(buffer: np.ndarray, rows: np.ndarray, value: Any) -> None:
    """Add to rows of the first axis, in one pass over the sorted rows."""
    flat = rows.ravel().astype(np.intp)
    if not flat.size:
        return
    flat %= len(buffer)
    values = np.broadcast_to(value, rows.shape + buffer.shape[1:])
    values = values.reshape(flat.size, *buffer.shape[1:])
    order = np.argsort(flat, kind="stable")
    ranked = flat[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    wide = np.float32 if buffer.dtype == np.float16 else None
    sums = np.add.reduceat(values[order], starts, axis=0, dtype=wide)
    buffer[ranked[starts]] += sums.astype(buffer.dtype, copy=False)


def _places_in_memory(parts: tuple[np.ndarray, ...], shape: tuple[int, ...]) -> np.ndarray:
    """The flat index of each element, for an index with an integer array for each axis."""
    places: Any = 0
    for part, n in zip(parts, shape, strict=True):
        part = part.astype(np.intp, copy=False)
        if part.min(initial=0) < 0:
            part = part % n
        places = places * n + part
    return np.asarray(places)


def _reads_twice(index: Any) -> bool:
    """Whether an index may select an element several times: only integer arrays can."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in parts)


def normalized(index: Any) -> Any:
    """Convert an index to ints, slices, None, Ellipsis and arrays, without the caller's memory.

    A list of more than numbers is the index of several axes, as in PyTorch.
    """
    if isinstance(index, list) and len(index) < 32:
        plain = all(isinstance(part, (int, np.generic)) for part in index)
        index = index if plain else tuple(index)
    if isinstance(index, tuple):
        return tuple([i if i.__class__ is int else _normalized_part(i) for i in index])
    return _normalized_part(index)


def integers(values: Any, what: str = "the indices") -> np.ndarray:
    """Convert integers to an array of intp; an empty one may have any dtype. Errors say `what`."""
    array = np.asarray(values_of(values))
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be integers, got {array.dtype}")
    return array.astype(np.intp, copy=False)


def index_of(values: Any) -> np.ndarray:
    """The same for an index that goes to an op as it is: it may differ where a sample runs."""
    if isinstance(values, Variable) and state.get().sampled:
        return _values(values.astype(np.intp))  # type: ignore[attr-defined]
    return integers(values)


def _normalized_part(index: Any) -> Any:
    if index is None or index is Ellipsis or isinstance(index, (int, slice)):
        return index
    known = isinstance(index, np.ndarray) and state.get().sampled
    array = _values(index) if known or isinstance(index, Variable) else np.array(index)
    if array.size == 0 and not isinstance(index, (np.ndarray, Variable)):
        array = array.astype(np.intp)  # x[[]] selects nothing
    if array.dtype == np.uint8 and isinstance(index, (np.ndarray, Variable)):
        return array.astype(bool)  # a mask, as in PyTorch
    if array.dtype.kind not in "biu":
        raise IndexError(f"getitem: an index holds integers or bools, got {array.dtype}")
    return array


def _values(index: Any) -> np.ndarray:
    """A copy of the values of an index; observers are told of an op."""
    array: np.ndarray = clone(index)._data if state.get().observers else index._data.copy()
    return array


@primitive(arrays=1)
def _getitem(x: Any, index: Any) -> Any:
    part = x[index]
    if part.__class__ is np.ndarray and part.base is not None:
        return part
    if index.__class__ is int:
        return x[index, ...]
    return _without_axes(x, index if isinstance(index, tuple) else (index,), part)


def _without_axes(x: Any, index: tuple[Any, ...], part: Any) -> Any:
    """A view where NumPy makes a copy, as it does for the index of one element."""
    if np.ndarray in map(type, index):
        if any(np.ndim(each) for each in index):
            return part
        index = tuple(each.item() if isinstance(each, np.ndarray) else each for each in index)
    return x[index if Ellipsis in index else (*index, ...)]


def getitem(x: Any, index: Any) -> Tensor:
    """Read a part: ``x[index]`` in all of NumPy's forms.

    Args:
        x: Tensor or array.
        index: Ints, slices, None, Ellipsis, int or bool arrays, lists, tensors, or a tuple.

    Returns:
        A view for ints and slices, a copy for arrays. An element that is read several times
        receives the sum of the gradients.

    Raises:
        IndexError: The index is out of range, or of another kind.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
        >>> minigrad.ops.getitem(x, [0, 0, 2]).sum().backward()
        >>> x.grad
        tensor([2., 0., 1.])
    """
    return _getitem(x, normalized(index))


@primitive(arrays=1)
def scatter_index(value: Any, index: Any, shape: Any) -> Any:
    """Zeros of `shape` with `value` added at an index of `normalized`: the transpose of reading."""
    buffer = np.zeros(shape, value.dtype)
    IndexUpdate(value, index, shape).add_to(buffer)
    return buffer


@primitive(arrays=2)
def _setitem(x: Any, value: Any, index: Any, in_place: bool = False) -> Any:
    x = x if in_place else x.copy()
    x[index] = value
    return x


def setitem(x: Any, index: Any, value: Any) -> Tensor:
    """A copy of `x` with ``x[index] = value``; gradients reach `x` elsewhere, and `value`.

    If an element is written several times, the last value and its gradient count.
    """
    return write(x, normalized(index), value, in_place=False)


def write(x: Any, index: Any, value: Any, in_place: bool) -> Any:
    """As `setitem`, by an index of `normalized`; into the memory of `x`, if that is safe."""
    dtype = data_of(x).dtype
    if isinstance(value, Variable):
        value = value.astype(dtype)  # type: ignore[attr-defined]
    else:
        value = wrap(to_array(value, dtype, name="setitem"))
    return _setitem(x, value, index, in_place)


def written(shape: tuple[int, ...], index: Any) -> Any:
    """A mask of the elements that a write replaced."""
    assign = _setitem if state.get().sampled else _setitem.op.forward
    return assign(np.zeros(shape, bool), np.ones((), bool), index, True)


def overwritten(shape: tuple[int, ...], index: Any) -> Any:
    """A mask of the values that a later value of the same write replaced."""
    if not _reads_twice(index):
        return np.False_
    count = np.broadcast_to(np.False_, shape)[index].shape
    numbers = np.arange(math.prod(count)).reshape(count)
    assign = _setitem if state.get().sampled else _setitem.op.forward
    last = assign(np.zeros(shape, np.intp), numbers, index, True)
    return within_rule(_getitem, last, index) != numbers


class RowUpdate(IndexUpdate):
    """The same for rows of a large table, of which `index` has the numbers, in one axis."""

    sparse = True
    tensor_class: Any
    """The tensor of such rows, `SparseRows`, which is defined with tensors."""

    def joined(self, other: RowUpdate) -> RowUpdate:
        value = np.concatenate([self.value, other.value])
        return RowUpdate(value, np.concatenate([self.index, other.index]), self.shape)

    def as_tensor(self, known: Any = None) -> Any:
        if known is not None and not isinstance(known, self.tensor_class):
            sums = known._data.copy()
            self.add_to(sums)
            return wrap(sums)
        if known is not None:
            return self.joined(RowUpdate(known.values, known.indices, self.shape)).as_tensor()
        indices, places = np.unique(self.index, return_inverse=True)
        values = np.zeros((len(indices), *self.shape[1:]), self.value.dtype)
        IndexUpdate(self.value, places, values.shape).add_to(values)
        return self.tensor_class._of(indices, values, self.shape)


@primitive(holds_back="padding_idx")
def embedding(ids: Any, weight: Any, padding_idx: int | None = None, sparse: bool = False) -> Any:
    """Rows of a table (rows, width) by index, ``weight[ids]``: see `nn.functional.embedding`."""
    if ids.dtype.kind not in "iu":
        raise TypeError(f"the indices must be integers, got {ids.dtype}")
    rows = len(weight)
    if ids.size and (ids.min() < 0 or ids.max() >= rows):
        bad = ids[(ids < 0) | (ids >= rows)].flat[0]
        raise IndexError(f"index {bad} is outside of a table with {rows} rows (0 to {rows - 1})")
    return weight[ids]


@formula("IndexUpdate(where((ids != padding_idx)[..., None], g, 0), ids, weight_shape)")
def _embedding_weight(
    g: Any, ids: Any, weight_shape: tuple[int, ...], padding_idx: int | None, sparse: bool
) -> IndexUpdate:
    if sparse:
        kept = ids != (-1 if padding_idx is None else padding_idx % weight_shape[0])
        return RowUpdate(g[kept], ids[kept], weight_shape)
    if padding_idx is not None:
        g = np.where((ids == padding_idx % weight_shape[0])[..., None], 0, g)
    return IndexUpdate(g, ids, weight_shape)


embedding.defvjp(weight=_embedding_weight)


_getitem.defvjp(x=lambda g, index, x_shape: IndexUpdate(g, index, x_shape))


def _read(g: Any, index: Any) -> Any:
    return within_rule(_getitem, g, index)


scatter_index.defvjp(value=_read)
_setitem.defvjp(
    x=lambda g, x_shape, index: zeroed(g, written(x_shape, index)),
    value=lambda g, x_shape, index: zeroed(_read(g, index), overwritten(x_shape, index)),
)
