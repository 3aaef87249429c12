"""Constants: parameters, tables, and arrays that a model computes with NumPy.

An array is stored as it is only if it is the same in all runs. Otherwise a rule must give its
values exactly in every run: one number everywhere; a range; a triangle, as a causal mask is; or the
leading block of a table seen in a larger run. If no rule fits, the model is refused, because a
stored array would be wrong for other inputs.
"""

from typing import Any

import numpy as np

from minigrad.onnx.graph import Graph
from minigrad.onnx.program import Value
from minigrad.onnx.sizes import Size, fit


def make_constant(g: Graph, value: Value) -> str:
    """The name of the tensor for a value that no op made; an error if no rule gives its values."""
    if value.changes:
        raise NotImplementedError(
            f"the model writes to {value.name}, and a file keeps no values from one run to the "
            f"next; write to a copy: .clone()"
        )
    if value.fixed:
        return g.initializer(value.arrays[0], value.name)
    name = _uniform(g, value) or _range(g, value) or _triangle(g, value)
    if name is None and whole_table(value) is not None and None not in value.shape:
        name = _leading_block(g, value)
    if name is None:
        shapes = " and ".join(str(array.shape) for array in value.arrays[:2])
        raise NotImplementedError(
            f"an array of {value.dtype}, of shapes {shapes}, is computed outside of the graph, in "
            f"NumPy or Python, from the values or sizes of the inputs; compute it with ops on "
            f"tensors, give it as an input, or fix the size with dynamic_axes"
        )
    return name


def needs_table(value: Value) -> bool:
    """Whether only a table could give a value that no op computed."""
    if value.fixed or value.dtype == np.bool_:
        return False
    return _number(value) is None and _steps(value) is None


def whole_table(value: Value) -> np.ndarray | None:
    """The array whose leading blocks are the values of all runs, if there is one."""
    table = max(value.arrays, key=lambda array: array.size)
    for array in value.arrays:
        if array.ndim != table.ndim:
            return None
        block = table[tuple(slice(n) for n in array.shape)]
        if block.shape != array.shape or not _equal(block, array):
            return None
    return table


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays are equal; floats up to rounding, which can depend on memory layout."""
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    resolution = 4 * np.finfo(a.dtype).eps
    return np.allclose(a, b, rtol=resolution, atol=resolution, equal_nan=True)


def _leading_block(g: Graph, value: Value) -> str:
    table = whole_table(value)
    assert table is not None
    axes = [axis for axis, size in enumerate(value.shape) if isinstance(size, Size)]
    for axis in axes:
        g.limit(value.shape[axis], table.shape[axis])
    ends = [value.shape[axis] for axis in axes]
    return g.Slice(g.initializer(table), [0] * len(axes), ends, axes)


def _number(value: Value) -> Any:
    """The number that is everywhere in a value, if there is one: it may be a size."""
    if None in value.shape or not all(a.size and (a == a.flat[0]).all() for a in value.arrays):
        return None
    numbers = [array.flat[0].item() for array in value.arrays]
    if len({*numbers}) > 1:
        whole = value.dtype != np.bool_ and all(n == n // 1 for n in numbers)
        return fit([int(n) for n in numbers], value.sizes) if whole else None
    return numbers[0]


def _uniform(g: Graph, value: Value) -> str | None:
    """One number everywhere, in a shape that can depend on the inputs."""
    number = _number(value)
    if number is None:
        return None
    return g.Expand(g.tensor(number, value.dtype), [*value.shape])


def _steps(value: Value) -> tuple[Any, int] | None:
    """The start and step of the value, if it is a range of integers."""
    if value.ndim != 1 or value.dtype.kind not in "iu" or min(map(len, value.arrays)) < 2:
        return None
    step = int(value.arrays[0][1]) - int(value.arrays[0][0])
    start = fit([int(array[0]) for array in value.arrays], value.sizes)
    fits = (np.array_equal(a, a[0] + step * np.arange(len(a))) for a in value.arrays)
    return (start, step) if step and start is not None and all(fits) else None


def _range(g: Graph, value: Value) -> str | None:
    """A range of integers whose length can depend on the inputs."""
    steps = _steps(value)
    if steps is None or value.shape[0] is None:
        return None
    return _arange(g, value.shape[0], *steps, value.dtype)


def _arange(g: Graph, size: Any, start: Any = 0, step: int = 1, dtype: Any = np.int64) -> str:
    places = g.Range(*(g.tensor(n, np.int64) for n in (0, size, 1)))
    if step != 1:
        places = g.Mul(places, g.tensor(step, np.int64))
    if start:
        places = g.Add(places, g.tensor(start, np.int64))
    return places if dtype == np.int64 else g.cast(places, dtype)


def _triangle(g: Graph, value: Value) -> str | None:
    """A mask that is True where j <= i + offset, or its negation."""
    if value.dtype != np.bool_ or value.ndim < 2 or None in value.shape:
        return None
    for negated in (False, True):
        masks = [~array if negated else array for array in value.arrays]
        ends = [np.argwhere(mask)[:, -2:] for mask in masks]
        offsets = [max((end[:, 1] - end[:, 0]).tolist(), default=0) for end in ends]
        offset = fit(offsets, value.sizes)
        if offset is None or not all(
            (mask == np.tri(mask.shape[-2], mask.shape[-1], k, bool)).all()
            for mask, k in zip(masks, offsets, strict=True)
        ):
            continue
        queries = g.Unsqueeze(_arange(g, value.shape[-2]), [1])
        if offset:
            queries = g.Add(queries, g.tensor(offset, np.int64))
        name = g.LessOrEqual(_arange(g, value.shape[-1]), queries)
        name = g.Not(name) if negated else name
        return name if value.ndim == 2 else g.Expand(name, [*value.shape])
    return None
