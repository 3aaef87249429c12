"""Constants: parameters, tables, and arrays that a model computes with NumPy.

An array is stored as it is only if it is the same in all runs. Otherwise a rule must give its
values exactly in every run: one number everywhere; a range; a mask, which is a conjunction of the
bool inputs, their negations and a triangle; or the leading block of a table seen in a larger run.
If no rule fits, the model is refused, because a stored array would be wrong for other inputs.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad.onnx.graph import Graph
from minigrad.onnx.program import Value
from minigrad.onnx.sizes import Size, fit, value_at


def make_constant(g: Graph, value: Value) -> str:
    """The name of the tensor for a value that no op made; an error if no rule gives its values."""
    if value.changes:
        raise NotImplementedError(
            f"the model writes to {value.name}, and a file keeps no values from one run to the "
            f"next; write to a copy: .clone()"
        )
    if value.fixed:
        return g.initializer(value.arrays[0], value.name)
    name = _uniform(g, value) or _range(g, value) or _mask(g, value)
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
    ends = g.lengths(value.shape[axis] for axis in axes)
    starts, along = (g.initializer(np.array(n, np.int64)) for n in ([0] * len(axes), axes))
    return g.node("Slice", [g.initializer(table), starts, ends, along])


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
    return g.node("Expand", [g.tensor(number, value.dtype), g.lengths(value.shape)])


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
    count = g.tensor(size, np.int64)
    places = g.node("Range", [g.tensor(0, np.int64), count, g.tensor(1, np.int64)])
    if step != 1:
        places = g.node("Mul", [places, g.tensor(step, np.int64)])
    if start:
        places = g.node("Add", [places, g.tensor(start, np.int64)])
    return places if dtype == np.int64 else g.cast(places, dtype)


# Masks


class Literal(NamedTuple):
    """One condition of a mask."""

    arrays: list[np.ndarray]  # its values in each run, which broadcast to the shape of the mask
    source: Value | None  # the bool input, or None for a triangle
    axes: tuple[int, ...]  # the axes of the mask to which the input's axes belong
    negated: bool = False  # whether the input is negated
    offset: Any = 0  # for a triangle: key j may be attended by query i if j <= i + offset
    extra: int = 0  # the number of columns after those of the condition, which are always True


def _mask(g: Graph, value: Value) -> str | None:
    """A conjunction of bool inputs, negated ones and triangles, or the negation of one."""
    if value.dtype != np.bool_ or None in value.shape:
        return None
    for negated in (False, True):
        wanted = [~array if negated else array for array in value.arrays]
        literals = [
            literal
            for literal in _literals(g.inputs.values(), value, wanted)
            if all((w <= one).all() for w, one in zip(wanted, literal.arrays, strict=True))
        ]
        if not _say(literals, wanted):
            continue
        for literal in literals[::-1]:  # leave out redundant conditions
            fewer = [other for other in literals if other is not literal]
            literals = fewer if _say(fewer, wanted) else literals
        names = [_literal(g, value, literal) for literal in literals]
        name = functools.reduce(lambda a, b: g.node("And", [a, b]), names)
        met = [np.broadcast_shapes(*(literal.arrays[i].shape for literal in literals))
               for i in range(len(wanted))]  # fmt: skip
        if met != [array.shape for array in wanted]:
            name = g.node("Expand", [name, g.lengths(value.shape)])
        return g.node("Not", [name]) if negated else name
    return None


def _say(literals: list[Literal], wanted: list[np.ndarray]) -> bool:
    """Whether the conjunction of some conditions equals a mask, in every run."""
    if not literals:
        return False
    runs = zip(*(literal.arrays for literal in literals), strict=True)
    found = (functools.reduce(np.logical_and, run) for run in runs)
    return all(bool((w == f).all()) for w, f in zip(wanted, found, strict=True))


def _literals(inputs: Iterable[Value], value: Value, wanted: list[np.ndarray]) -> Iterator[Literal]:
    """Every condition that could be part of a mask."""
    for source in inputs:
        if source.dtype != np.bool_:
            continue
        for axes in itertools.combinations(range(value.ndim), source.ndim):
            extra = _extra(value, source, axes)
            if extra is not None:
                for negated in (False, True):
                    arrays = [
                        _placed(~a if negated else a, axes, value.ndim, extra)
                        for a in source.arrays
                    ]
                    yield Literal(arrays, source, axes, negated, extra=extra)
    if value.ndim < 2:
        return
    for extra in (0, 1, 2):
        corners = [
            np.argwhere(w[..., : w.shape[-1] - extra].any(tuple(range(w.ndim - 2)))) for w in wanted
        ]
        offset = None
        if all(map(len, corners)):
            offset = fit([int((c[:, 1] - c[:, 0]).max()) for c in corners], value.sizes)
        for k in dict.fromkeys([0] if offset is None else [0, offset]):
            arrays = []
            for w, sizes in zip(wanted, value.sizes, strict=True):
                triangle = np.tri(w.shape[-2], w.shape[-1] - extra, value_at(k, sizes), dtype=bool)
                axes = (w.ndim - 2, w.ndim - 1)
                arrays.append(_placed(triangle, axes, w.ndim, extra))
            yield Literal(arrays, None, axes, offset=k, extra=extra)


def _extra(value: Value, source: Value, axes: tuple[int, ...]) -> int | None:
    """The number of extra columns of the mask; None if the input does not fit the mask."""
    extras = set()
    for i, axis in enumerate(axes):
        lengths = [array.shape[i] for array in source.arrays]
        gaps = {run.shape[axis] - n for run, n in zip(value.arrays, lengths, strict=True)}
        if {*lengths} == {1} or gaps == {0}:
            continue
        if axis < value.ndim - 1 or gaps not in ({1}, {2}):
            return None
        extras |= gaps
    return extras.pop() if extras else 0


def _placed(array: np.ndarray, axes: tuple[int, ...], ndim: int, extra: int) -> np.ndarray:
    """A condition in the axes of a mask, followed by columns of True."""
    array = np.expand_dims(array, tuple(axis for axis in range(ndim) if axis not in axes))
    if extra:
        array = np.concatenate([array, np.ones((*array.shape[:-1], extra), bool)], -1)
    return array


def _literal(g: Graph, value: Value, literal: Literal) -> str:
    """A condition as a tensor."""
    extra = literal.extra
    if literal.source is not None:
        name = g.tensor(literal.source)
        name = g.node("Not", [name]) if literal.negated else name
        shape = [*literal.source.shape]
    else:
        rows, columns = value.shape[-2], value.shape[-1]
        if extra:
            columns = fit([a.shape[-1] - extra for a in value.arrays], value.sizes)
        shape = [rows, columns]
        queries = g.node("Unsqueeze", [_arange(g, rows), g.lengths([1])])
        if literal.offset:
            queries = g.node("Add", [queries, g.tensor(literal.offset, np.int64)])
        name = g.node("LessOrEqual", [_arange(g, columns), queries])
    new = [axis for axis in range(value.ndim) if axis not in literal.axes]
    if new:
        name = g.node("Unsqueeze", [name, g.lengths(new)])
        for axis in new:
            shape.insert(axis, 1)
    if extra:
        true = g.node("Expand", [g.initializer(np.array([True])), g.lengths([*shape[:-1], extra])])
        name = g.node("Concat", [name, true], axis=-1)
    return name
