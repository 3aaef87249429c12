"""Pooling: the largest element of each window, and the sum of each window.

Windows are defined in `_windows.py`. Average and adaptive pooling are composed of these ops in
`minigrad.nn.functional.pooling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.engine import Update
from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.mode import state
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import formula, widened, within_rule, zeroed
from minigrad.ops._parallel import for_rows, shared
from minigrad.ops._windows import Padding, Sizes, Window, cut, offsets, padded
from minigrad.ops.gathering import take_along_axis
from minigrad.ops.indexing import IndexUpdate

__all__ = ["max_pool", "max_pool_places", "sum_pool"]


def _window(x: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Window:
    """A window that fits into the input."""
    if x.ndim != len(kernel) + 2:
        raise ArgumentError(
            f"windows along {len(kernel)} axes need an input of {len(kernel) + 2}, got {x.shape}"
        )
    window = Window(kernel, stride, padding, dilation)
    if min(window.counts(x.shape[2:])) < 1:
        raise ArgumentError(
            f"a window of {window.spans} does not fit into an input of shape {x.shape} with "
            f"padding {padding}; pad more, or take a smaller window"
        )
    return window


@primitive(arrays=1, residuals=("chosen",))
def _max_pool(x: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Any:
    window = _window(x, kernel, stride, padding, dilation)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min if x.dtype.kind != "b" else 0
    wide = padded(x, padding, lowest)
    counts = window.counts(x.shape[2:])
    (_, first), *others = offsets(window, counts)
    out = np.empty((*x.shape[:2], *counts), x.dtype)
    chosen = np.zeros(out.shape, np.min_scalar_type(len(others)))

    def work(start: int, stop: int) -> None:
        part, numbers = wide[start:stop], chosen[start:stop]
        best = part[first].copy()
        for number, (_, places) in enumerate(others, start=1):
            larger = np.maximum(best, part[places])
            better = (larger != best) & (best == best)  # the first NaN stays
            # The largest number is the latest offset; writing with a mask is many times slower.
            np.maximum(numbers, better * numbers.dtype.type(number), out=numbers)
            best = larger
        out[start:stop] = best

    _for_samples(out, len(others), work)
    return out, chosen


def _for_samples(out: np.ndarray, offsets: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(start, stop)`` for samples, in several threads if that is worthwhile."""
    effort = 2 * offsets * out.size
    for_rows(len(out), shared(len(out), len(out), effort), effort, work)


def max_pool(x: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Any:
    """The largest element of each window, padding excluded. NaN counts as larger than any number.

    From (N, C, *S) to (N, C, *P). The padding has a pair (before, after) for each axis of S, each
    less than a window. Of equal elements the first receives the gradient.
    """
    if not state.get().sampled:
        return _max_pool(x, kernel, stride, padding, dilation)
    places = max_pool_places(x, kernel, stride, padding, dilation)
    flat, found = (each.reshape(*each.shape[:2], math.prod(each.shape[2:])) for each in (x, places))
    return take_along_axis(flat, found, 2).reshape(places.shape)


@formula(
    """
    index = chosen, kernel, stride, padding, dilation, shape  #
    largest = _chosen_places(*index)  # where the largest of each window is
    largest
    """
)
def _chosen_places(
    chosen: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes, shape: Sizes
) -> tuple[np.ndarray, ...]:
    """The index in the input of the chosen element of each window."""
    counts = chosen.shape[2:]
    index = [*np.ogrid[: shape[0], : shape[1]]]
    index = [part.reshape(*part.shape, *(1,) * len(counts)) for part in index]
    for axis, within in enumerate(np.indices(kernel)):
        starts = np.arange(counts[axis]) * stride[axis] - padding[axis][0]
        places = np.take(within * dilation[axis], chosen)  # `chosen` counts the elements in order
        places += starts.reshape(-1, *(1,) * (len(counts) - axis - 1))
        # In a window of -inf only, a padding element may have been chosen.
        index.append(np.clip(places, 0, shape[2 + axis] - 1, out=places))
    return tuple(index)


class PoolUpdate(Update):
    """The same as an update at `_chosen_places`, without an index of every element."""

    def __init__(
        self, g: Any, chosen: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes,
        shape: Sizes,
    ) -> None:  # fmt: skip
        self._value, self._shape, self._chosen = g, shape, chosen
        self._window = kernel, stride, padding, dilation

    def _by_index(self) -> IndexUpdate:
        places = _chosen_places(self._chosen, *self._window, self._shape)
        return IndexUpdate(self._value, places, self._shape)

    def dense(self) -> Any:
        return self._by_index().dense()

    def add_to(self, buffer: np.ndarray) -> None:
        # Padding may be chosen where all else is -inf; float16 is added up in float32.
        if any(map(any, self._window[2])) or buffer.dtype == np.float16:
            return self._by_index().add_to(buffer)
        window = Window(*self._window)
        places = [place for _, place in offsets(window, self._chosen.shape[2:])]

        def work(start: int, stop: int) -> None:
            part, numbers = buffer[start:stop], self._chosen[start:stop]
            for number, place in enumerate(places):
                part[place] += np.where(numbers == number, self._value[start:stop], 0)

        _for_samples(self._value, len(places), work)


@formula(
    "IndexUpdate(g, _chosen_places(chosen, kernel, stride, padding, dilation, x_shape), x_shape)"
)
def _to_chosen(
    g: Any, chosen: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes,
    x_shape: Sizes,
) -> PoolUpdate:  # fmt: skip
    return PoolUpdate(g, chosen, kernel, stride, padding, dilation, x_shape)


@primitive(arrays=1)
def max_pool_places(x: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Any:
    """Where `max_pool` finds its elements: the index within each channel, flattened."""
    _, chosen = _max_pool.op.forward(x, kernel, stride, padding, dilation)
    _, _, *parts = _chosen_places(chosen, kernel, stride, padding, dilation, x.shape)
    places = np.zeros(chosen.shape, np.int64)
    for part, size in zip(parts, x.shape[2:], strict=True):
        places = places * size + part
    return places


@primitive(arrays=1)
def sum_pool(x: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Any:
    """The sum of each window, where padding counts as 0; arguments as for `max_pool`."""
    window = _window(x, kernel, stride, padding, dilation)
    counts = window.counts(x.shape[2:])
    wide = padded(x, padding)
    out = np.zeros((*x.shape[:2], *counts), np.float32 if x.dtype == np.float16 else x.dtype)
    for _, places in offsets(window, counts):
        out += wide[places]
    return out.astype(x.dtype, copy=False)


@primitive(arrays=1)
def sum_pool_transpose(
    y: Any, size: Sizes, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes
) -> Any:
    """The transpose of `sum_pool`: adds a number to all elements of each window.

    From (N, C, *P) to (N, C, *S), where S is `size`; the padding is cut off at the edges.
    """
    window = Window(kernel, stride, padding, dilation)
    wide = [n + sum(pair) for n, pair in zip(size, padding, strict=True)]
    out = np.zeros((*y.shape[:2], *wide), np.float32 if y.dtype == np.float16 else y.dtype)
    for _, places in offsets(window, y.shape[2:]):
        out[places] += y
    return np.ascontiguousarray(cut(out, padding)).astype(y.dtype, copy=False)


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
            places = starts + offset
            beyond = (places >= ends).reshape(-1, *(1,) * (x.ndim - axis - 1))
            sums += zeroed(wide.take(np.minimum(places, ends - 1), axis), beyond)
    else:
        lines = [wide[(*[slice(None)] * axis, slice(*ends_of))].sum(axis)
                 for ends_of in zip(starts, ends, strict=True)]  # fmt: skip
        sums = np.stack(lines, axis)
    return sums.astype(x.dtype, copy=False)


# The table.
sum_parts.defvjp(x=lambda g, axis, x_shape: within_rule(sum_parts, g, axis, x_shape[axis]))
_max_pool.defvjp(x=_to_chosen)
sum_pool.defvjp(
    x=lambda g, x_shape, kernel, stride, padding, dilation: within_rule(
        sum_pool_transpose, g, x_shape[2:], kernel, stride, padding, dilation
    )
)
sum_pool_transpose.defvjp(
    y=lambda g, kernel, stride, padding, dilation: within_rule(
        sum_pool, g, kernel, stride, padding, dilation
    )
)
