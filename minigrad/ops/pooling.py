"""Pooling: the largest element of each window, and the sum of each window.

Windows are defined in `_windows.py`. Average and adaptive pooling are composed of these ops in
`minigrad.nn.functional.pooling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.mode import state
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import formula, widened, within_rule, zeroed
from minigrad.ops._parallel import for_rows, shared
from minigrad.ops._windows import Sizes, Window, inside, padded, places
from minigrad.ops.gathering import take_along_axis
from minigrad.ops.indexing import IndexUpdate

__all__ = ["max_pool", "max_pool_places", "sum_pool"]


def _counts(x: Any, window: Window) -> Sizes:
    """The number of windows along each axis; an error if none fits into the input."""
    axes = len(window.kernel)
    if x.ndim != axes + 2:
        raise ArgumentError(f"windows along {axes} axes need an input of {axes + 2}, got {x.shape}")
    counts = window.counts(x.shape[2:])
    if min(counts) < 1:
        raise ArgumentError(
            f"a window of {window.spans} does not fit into an input of shape {x.shape} with "
            f"padding {window.padding}; pad more, or take a smaller window"
        )
    return counts


@primitive(arrays=1, residuals=("chosen",))
def _max_pool(x: Any, window: Window) -> Any:
    counts = _counts(x, window)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min if x.dtype.kind != "b" else 0
    wide = padded(x, window, lowest)
    first, *others = places(window, counts)
    out = np.empty((*x.shape[:2], *counts), x.dtype)
    chosen = np.zeros(out.shape, np.min_scalar_type(len(others)))

    def work(start: int, stop: int) -> None:
        part, numbers = wide[start:stop], chosen[start:stop]
        best = part[first].copy()
        for number, place in enumerate(others, start=1):
            larger = np.maximum(best, part[place])
            better = (larger != best) & (best == best)  # the first NaN stays
            # The largest number is the latest element; writing with a mask is many times slower.
            np.maximum(numbers, better * numbers.dtype.type(number), out=numbers)
            best = larger
        out[start:stop] = best

    _for_samples(out, len(others), work)
    return out, chosen


def _for_samples(out: np.ndarray, elements: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(start, stop)`` for samples, in several threads if that is worthwhile."""
    effort = 2 * elements * out.size
    for_rows(len(out), shared(len(out), len(out), effort), effort, work)


def max_pool(x: Any, window: Window) -> Any:
    """The largest element of each window, padding excluded. NaN counts as larger than any number.

    From (N, C, *S) to (N, C, *P). The padding of each axis is less than a window. Of equal elements
    the first receives the gradient.
    """
    if not state.get().sampled:
        return _max_pool(x, window)
    found = max_pool_places(x, window)
    flat, index = (each.reshape(*each.shape[:2], math.prod(each.shape[2:])) for each in (x, found))
    return take_along_axis(flat, index, 2).reshape(found.shape)


@formula(
    """
    largest = _chosen_places(chosen, window, shape)  # where the largest of each window is
    largest
    """
)
def _chosen_places(chosen: Any, window: Window, shape: Sizes) -> tuple[np.ndarray, ...]:
    """The index in the input of the chosen element of each window."""
    counts = chosen.shape[2:]
    index = [*np.ogrid[: shape[0], : shape[1]]]
    index = [part.reshape(*part.shape, *(1,) * len(counts)) for part in index]
    for axis, within in enumerate(np.indices(window.kernel)):
        starts = np.arange(counts[axis]) * window.stride[axis] - window.padding[axis][0]
        found = np.take(within * window.dilation[axis], chosen)  # `chosen` counts the elements
        found += starts.reshape(-1, *(1,) * (len(counts) - axis - 1))
        # In a window of -inf only, a padding element may have been chosen.
        index.append(np.clip(found, 0, shape[2 + axis] - 1, out=found))
    return tuple(index)


@formula("IndexUpdate(g, _chosen_places(chosen, window, x_shape), x_shape)")
def _to_chosen(g: Any, chosen: Any, window: Window, x_shape: Sizes) -> Any:
    # Padding may be chosen where all else is -inf; float16 is added up in float32.
    if isinstance(g, Variable) or any(map(any, window.padding)) or g.dtype == np.float16:
        return IndexUpdate(g, _chosen_places(chosen, window, x_shape), x_shape)
    out = np.zeros(x_shape, g.dtype)
    elements = places(window, g.shape[2:])

    def work(start: int, stop: int) -> None:
        part, numbers = out[start:stop], chosen[start:stop]
        for number, place in enumerate(elements):
            part[place] += np.where(numbers == number, g[start:stop], 0)

    _for_samples(g, len(elements), work)
    return out


@primitive(arrays=1)
def max_pool_places(x: Any, window: Window) -> Any:
    """Where `max_pool` finds its elements: the index within each channel, flattened."""
    _, chosen = _max_pool.op.forward(x, window)
    _, _, *index = _chosen_places(chosen, window, x.shape)
    found = np.zeros(chosen.shape, np.int64)
    for along, size in zip(index, x.shape[2:], strict=True):
        found = found * size + along
    return found


@primitive(arrays=1)
def sum_pool(x: Any, window: Window) -> Any:
    """The sum of each window, where padding counts as 0; arguments as for `max_pool`."""
    counts = _counts(x, window)
    wide = padded(x, window)
    out = np.zeros((*x.shape[:2], *counts), widened(x[:0]).dtype)
    for place in places(window, counts):
        out += wide[place]
    return out.astype(x.dtype, copy=False)


@primitive(arrays=1)
def sum_pool_transpose(y: Any, size: Sizes, window: Window) -> Any:
    """The transpose of `sum_pool`: adds a number to all elements of each window.

    From (N, C, *P) to (N, C, *S), where S is `size`; the padding is cut off at the edges.
    """
    out = np.zeros((*y.shape[:2], *window.padded(size)), widened(y[:0]).dtype)
    for place in places(window, y.shape[2:]):
        out[place] += y
    return np.ascontiguousarray(inside(out, window)).astype(y.dtype, copy=False)


def parts(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The starts and ends of parts of an axis, as equal as possible and not empty.

    Element j is in part i of `count` exactly if i is in part j of `size`.
    """
    edges = np.arange(count + 1) * size
    return edges[:-1] // count, -(-edges[1:] // count)


@primitive(arrays=1)
def sum_parts(x: Any, axis: int, count: int) -> Any:
    """The sum of each of `count` parts of an axis. Parts may share their first or last element."""
    starts, ends = parts(x.shape[axis], count)
    wide = widened(x)
    if x.shape[axis] <= 8 * count:  # short parts: all at once, element by element
        sums = wide.take(starts, axis)
        for offset in range(1, int((ends - starts).max())):
            index = starts + offset
            beyond = (index >= ends).reshape(-1, *(1,) * (x.ndim - axis - 1))
            sums += zeroed(wide.take(np.minimum(index, ends - 1), axis), beyond)
    else:
        lines = [wide[(*[slice(None)] * axis, slice(*ends_of))].sum(axis)
                 for ends_of in zip(starts, ends, strict=True)]  # fmt: skip
        sums = np.stack(lines, axis)
    return sums.astype(x.dtype, copy=False)


# The table.
sum_parts.defvjp(x=lambda g, axis, x_shape: within_rule(sum_parts, g, axis, x_shape[axis]))
_max_pool.defvjp(x=_to_chosen)
sum_pool.defvjp(
    x=lambda g, x_shape, window: within_rule(sum_pool_transpose, g, x_shape[2:], window)
)
sum_pool_transpose.defvjp(y=lambda g, window: within_rule(sum_pool, g, window))
