"""Ops that move elements without changing them: shapes, indexing, joining, gathering."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from minigrad.onnx.constants import whole_table
from minigrad.onnx.graph import Graph
from minigrad.onnx.operators import OPERATORS, exports
from minigrad.onnx.program import Value
from minigrad.onnx.sizes import Size
from minigrad.ops.rearranging import window_places

END = np.iinfo(np.int64).max


def _shaped(g: Graph, name: str, shape: Sequence[Any]) -> str:
    """Reshape a tensor; one length that depends on the inputs is inferred (-1)."""
    open_lengths = [n for n in shape if not isinstance(n, int)]
    if None in open_lengths:
        raise NotImplementedError(f"no size that a graph could compute in shape {tuple(shape)}")
    if len(open_lengths) == 1 and 0 not in shape:
        shape = [n if isinstance(n, int) else -1 for n in shape]
    return g.Reshape(name, [*shape])


# Shapes


@exports("squeeze")
def _squeeze(g: Graph, out: Value, x: Any, axis: Any) -> str:
    if axis is None and any(isinstance(n, Size) for n in x.shape):
        raise NotImplementedError("which axes have length 1 depends on the inputs; name the axis")
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axis is None else axis
    return g.Squeeze(x, [*normalize_axis_tuple(axes, x.ndim)])


def _permuted(move: Callable[..., np.ndarray], g: Graph, out: Value, x: Any, *axes: Any) -> str:
    # Of an array with the lengths 0, 1, 2 and so on, the new shape is the order of the axes.
    return g.Transpose(x, perm=[*move(np.empty(range(x.ndim)), *axes).shape])


OPERATORS |= {
    "transpose": partial(_permuted, np.transpose),
    "swapaxes": partial(_permuted, np.swapaxes),
    "moveaxis": partial(_permuted, np.moveaxis),
}


# Sorting


def _ordered(g: Graph, x: Any, k: Any, axis: int, largest: bool) -> Sequence[str]:
    """The first k elements in order, and their indices; among equal ones the first are taken."""
    options = {"axis": axis, "largest": int(largest), "sorted": 1}
    return g.nodes("TopK", [x if isinstance(x, str) else g.tensor(x), g.length(k)], 2, **options)


@exports("topk")
def _topk(g: Graph, out: Value, x: Any, k: Any, axis: int, largest: bool, ordered: bool) -> str:
    indices = _ordered(g, x, k, axis, largest)[1]
    return indices if ordered else _ordered(g, indices, k, axis, False)[0]


@exports("take_along_axis")
def _take_along_axis(g: Graph, out: Value, x: Any, indices: Any, axis: int) -> str:
    axis = normalize_axis_index(axis, x.ndim)
    names = [g.tensor(x), g.tensor(indices, np.int64)]
    for i, part in enumerate((x, indices)):
        whole = [*out.shape]
        whole[axis] = part.shape[axis]
        if whole != [*part.shape]:
            names[i] = _expanded(g, names[i], whole)
    return g.GatherElements(*names, axis=axis)


# Joining, and more of the same


@exports("stack")
def _stack(g: Graph, out: Value, tensors: Any, axis: int) -> str:
    new = [normalize_axis_index(axis, out.ndim)]
    return g.Concat(*(g.Unsqueeze(part, new) for part in tensors), axis=axis)


@exports("tile")
def _tile(g: Graph, out: Value, x: Any, reps: Any) -> str:
    counts = [*reps] if isinstance(reps, tuple) else [reps]
    counts = [1] * (x.ndim - len(counts)) + counts
    name = g.tensor(x)
    if len(counts) > x.ndim:
        name = g.Unsqueeze(name, [*range(len(counts) - x.ndim)])
    return g.Tile(name, counts)


@exports("repeat")
def _repeat(g: Graph, out: Value, x: Any, repeats: Any, axis: int) -> str:
    if isinstance(repeats, Value):
        raise NotImplementedError("only one number of repeats for all elements is exported")
    after = normalize_axis_index(axis, x.ndim) + 1
    counts = [1] * (x.ndim + 1)
    counts[after] = repeats
    return _shaped(g, g.Tile(g.Unsqueeze(x, [after]), counts), out.shape)


@exports("flip")
def _flip(g: Graph, out: Value, x: Any, axis: Any) -> str:
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    return _sliced(g, g.tensor(x), {i: slice(None, None, -1) for i in axes})


@exports("unfold")
def _unfold(g: Graph, out: Value, x: Any, axis: int, size: int, step: int) -> str:
    if isinstance(x.shape[axis], Size):
        raise NotImplementedError("the number of windows depends on the inputs")
    places = window_places(x.shape[axis], size, step)
    order = [*range(axis + 1), *range(axis + 2, len(out.shape)), axis + 1]
    return g.Transpose(g.Gather(x, g.tensor(places, np.int64), axis=axis), perm=order)


@exports("pad")
def _pad(g: Graph, out: Value, x: Any, pad_width: Any, mode: str, constant_values: Any) -> str:
    if mode not in ("constant", "edge", "reflect", "wrap") or np.ndim(constant_values):
        raise NotImplementedError(f"mode {mode!r} with {constant_values} has no ONNX operator")
    widths = [pair[side] for side in (0, 1) for pair in pad_width]
    filling = [constant_values] if mode == "constant" else []
    return g.Pad(x, widths, *filling, mode=mode)


# Indexing


@exports("take")
def _take(g: Graph, out: Value, x: Any, indices: Any, axis: int | None) -> str:
    flat = g.Reshape(x, [-1]) if axis is None else x
    return g.Gather(flat, g.tensor(indices, np.int64), axis=axis or 0)


def _read(g: Graph, x: Any, index: Any, name: str = "") -> str:
    """A part of a value, or of another tensor of its shape, by slices, integers and arrays."""
    slices: dict[int, Any] = {}
    picks: list[tuple[int, Any]] = []
    new: list[int] = []
    axis = 0
    for place, part in enumerate(_explicit(index, x.ndim)):  # the axis once new ones are inserted
        if part is None:
            new.append(place)
            continue
        if not isinstance(part, slice):
            picks.append((place, part))
        elif part != slice(None):
            slices[axis] = part
        axis += 1
    arrays = [part for _, part in picks if isinstance(part, (Value, np.ndarray))]
    if any(part.dtype == np.bool_ for part in arrays):
        raise NotImplementedError("a bool array as index makes a size that depends on its values")
    name = _sliced(g, name or _table_or_tensor(g, x, slices), slices)
    if new:
        name = g.Unsqueeze(name, new)
    if arrays and len(picks) > 1:
        return _gathered(g, name, x.ndim + len(new), picks)
    for place, part in reversed(picks):
        name = g.Gather(name, g.tensor(part, np.int64), axis=place)
    return name


def _gathered(g: Graph, name: str, ndim: int, picks: list[tuple[int, Any]]) -> str:
    """The elements at several arrays of indices, which are broadcast, for several axes."""
    axes = [axis for axis, _ in picks]
    rest = [axis for axis in range(ndim) if axis not in axes]
    shapes = [[*getattr(part, "shape", ())] for _, part in picks]
    shapes = [[1] * (max(map(len, shapes)) - len(shape)) + shape for shape in shapes]
    shape = [next((n for n in ns if n != 1), 1) for ns in zip(*shapes, strict=True)]
    indices = [
        g.Unsqueeze(_expanded(g, g.tensor(part, np.int64), shape), [-1]) for _, part in picks
    ]
    found = g.GatherND(g.Transpose(name, perm=axes + rest), g.Concat(*indices, axis=-1))
    # NumPy puts the new axes first, unless the indexed axes are adjacent.
    adjacent = axes == [*range(axes[0], axes[-1] + 1)]
    first, count = axes[0] if adjacent else 0, len(shape)
    order = [*range(count, count + len(rest))]
    order[first:first] = range(count)
    return g.Transpose(found, perm=order)


def _expanded(g: Graph, name: str, shape: Sequence[Any]) -> str:
    if None in shape:
        raise NotImplementedError(f"no size that a graph could compute in shape {tuple(shape)}")
    return g.Expand(name, [*shape])


@exports("setitem")
def _setitem(g: Graph, out: Value, x: Any, value: Any, index: Any, *_: Any) -> str:
    """A tensor with other values in a part of it, which are scattered to their flat places."""
    mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(mask, Value) and mask.dtype == np.bool_:
        if value.ndim > x.ndim - mask.ndim:
            raise NotImplementedError(
                "only values that are the same for all that a bool array selects are exported; use "
                "minigrad.where"
            )
        chosen = g.tensor(mask)
        if x.ndim > mask.ndim:
            chosen = g.Unsqueeze(chosen, [*range(mask.ndim, x.ndim)])
        return g.Where(chosen, value, x)
    shape, zero, one = g.Shape(x), g.tensor(0, np.int64), g.tensor(1, np.int64)
    count = g.ReduceProd(shape, keepdims=0)
    places = _read(g, x, index, g.Reshape(g.Range(zero, count, one), shape))
    values = g.Expand(value, g.Shape(places))
    flat = [g.Reshape(part, [-1]) for part in (x, places, values)]
    return g.Reshape(g.ScatterElements(*flat, axis=0), shape)


def _explicit(index: Any, ndim: int) -> list[Any]:
    """The parts of an index, with slices for omitted axes."""
    parts = [*index] if isinstance(index, tuple) else [index]
    if any(isinstance(part, bool) for part in parts):
        raise NotImplementedError("a bool in an index is not exported")
    used = sum(part is not None and part is not Ellipsis for part in parts)
    rest = [slice(None)] * (ndim - used)
    for i, part in enumerate(parts):
        if part is Ellipsis:
            return [*parts[:i], *rest, *parts[i + 1 :]]
    return parts + rest


def _table_or_tensor(g: Graph, x: Any, slices: dict[int, Any]) -> str:
    """The sliced tensor; for the start of a table, the longest table of all runs."""
    first = slices.get(0)
    if first is None or first.step not in (None, 1) or not isinstance(first.stop, Size):
        return g.tensor(x)
    if not x.made and not isinstance(x.shape[0], Size):
        table = whole_table(x)
        if table is not None and (x.fixed or {n.shape[1:] for n in x.arrays} == {table.shape[1:]}):
            g.limit(first.stop, len(table))
            return g.initializer(table, x.name)
    return g.tensor(x)


def _sliced(g: Graph, name: str, slices: dict[int, slice]) -> str:
    """Slice a tensor along some axes."""
    if not slices:
        return name
    starts, ends, steps = [], [], []
    for part in slices.values():
        step = 1 if part.step is None else part.step
        backwards = not isinstance(step, Size) and step < 0
        starts.append((END if backwards else 0) if part.start is None else part.start)
        ends.append((-END if backwards else END) if part.stop is None else part.stop)
        steps.append(step)
    return g.Slice(name, starts, ends, [*slices], steps)


# Pairs of features


@exports("rotate_pairs")
def _rotate_pairs(g: Graph, out: Value, x: Any, cos: Any, sin: Any, interleaved: bool) -> str:
    """(a, b) -> (a cos - b sin, a sin + b cos), for each pair of the last axis."""
    half = out.shape[-1] // 2
    if interleaved:
        firsts, seconds = slice(0, END, 2), slice(1, END, 2)
    else:
        firsts, seconds = slice(0, half), slice(half, END)
    last = out.ndim - 1
    name = g.tensor(x, out.dtype)
    a, b = _sliced(g, name, {last: firsts}), _sliced(g, name, {last: seconds})
    left = g.Sub(g.Mul(a, cos), g.Mul(b, sin))
    right = g.Add(g.Mul(a, sin), g.Mul(b, cos))
    if not interleaved:
        return g.Concat(left, right, axis=-1)
    pairs = g.Concat(g.Unsqueeze(left, [-1]), g.Unsqueeze(right, [-1]), axis=-1)
    return _shaped(g, pairs, out.shape)


# Ops of one formula

exports("reshape", "ravel", "flatten")(lambda g, out, x, *_: _shaped(g, g.tensor(x), out.shape))
exports("broadcast_to", "expand")(lambda g, out, x, *_: g.Expand(x, [*out.shape]))
OPERATORS |= {
    "getitem": lambda g, out, x, index: _read(g, x, index),
    "sort": lambda g, out, x, axis, down: _ordered(g, x, x.shape[axis], axis, down)[0],
    "argsort": lambda g, out, x, axis, down: _ordered(g, x, x.shape[axis], axis, down)[1],
    "expand_dims": lambda g, out, x, axis: g.Unsqueeze(x, [*normalize_axis_tuple(axis, out.ndim)]),
    "concatenate": lambda g, out, tensors, axis: g.Concat(*tensors, axis=axis),
    "tril": lambda g, out, x, k: g.Trilu(x, g.tensor(k, np.int64), upper=0),
    "triu": lambda g, out, x, k: g.Trilu(x, g.tensor(k, np.int64), upper=1),
    "embedding": lambda g, out, ids, weight, *_: g.Gather(weight, g.tensor(ids, np.int64), axis=0),
    "gather": lambda g, out, x, index, axis: g.GatherElements(
        x, g.tensor(index, np.int64), axis=axis
    ),
}
