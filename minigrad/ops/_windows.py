"""Windows that slide over the last axes of an array.

An array of shape (N, C, *S) has a window at each position of an output of shape (N, C, *P). The
elements of a window differ in their offset. All functions here loop over the few offsets, and
process one element of all windows at a time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad.ops._parallel import shared

Sizes = tuple[int, ...]
"""One number for each axis."""

Padding = tuple[tuple[int, int], ...]
"""The number of elements added before and after each axis."""

Offsets = Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]


class Window(NamedTuple):
    """A window; each attribute has one number for each axis."""

    kernel: Sizes  # the number of its elements
    stride: Sizes  # the distance between neighbouring windows
    padding: Padding  # the padding of the array before and after
    dilation: Sizes  # the distance between neighbouring elements of a window

    def counts(self, sizes: Sizes) -> Sizes:
        """The number of windows along each axis of an array; less than 1 if none fits."""
        return tuple(
            (size + before + after - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, (before, after), dilation in zip(
                sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True
            )
        )

    @property
    def spans(self) -> Sizes:
        """The extent of a window along each axis."""
        return tuple(
            dilation * (kernel - 1) + 1
            for kernel, dilation in zip(self.kernel, self.dilation, strict=True)
        )


def offsets(window: Window, counts: Sizes) -> Offsets:
    """Each offset within a window, with an index of the elements of all windows there.

    For a padded array, the index gives the shape (N, C, *counts), with the number of windows along
    each axis.
    """
    for offset in itertools.product(*map(range, window.kernel)):
        places = [
            slice(dilation * i, dilation * i + stride * (count - 1) + 1, stride)
            for i, count, stride, dilation in zip(
                offset, counts, window.stride, window.dilation, strict=True
            )
        ]
        yield offset, (slice(None), slice(None), *places)


def padded(x: np.ndarray, padding: Padding, value: float = 0.0) -> np.ndarray:
    """An array with its last axes padded; the array itself without padding."""
    if not any(before or after for before, after in padding):
        return x
    leading = x.shape[: x.ndim - len(padding)]
    sizes = [n + sum(pair) for n, pair in zip(x.shape[len(leading) :], padding, strict=True)]
    out = np.full((*leading, *sizes), value, x.dtype)
    cut(out, padding)[...] = x
    return out


def cut(x: Any, padding: Padding) -> Any:
    """Undo `padded`: a view without the padding."""
    inner = [slice(before, n - after) for n, (before, after) in
             zip(x.shape[x.ndim - len(padding) :], padding, strict=True)]  # fmt: skip
    return x[(..., *inner)]


_CACHED = 1 << 22  # bytes


class WindowMatrix:
    """The matrix of all windows of some images (im2col): a column for each window.

    The columns are in one of two orders, so that each copy is long:

        pixels      image by image, the windows of each in row order
        across      position by position, with the images contiguous: for rows of few pixels,
                    where it is worth transposing the images

    Shapes: x (B, C, *S), y (B, O, *P), kernels of K elements, G groups of channels, a weight of
    (O, C/G, *K).
    """

    def __init__(self, window: Window, sizes: Sizes, weight_shape: Sizes, groups: int) -> None:
        self.window, self.groups = window, groups
        self.counts = window.counts(sizes)
        self.padded = tuple(n + sum(pair) for n, pair in zip(sizes, window.padding, strict=True))
        outputs, *inner = weight_shape
        # With one output in a group, no window is read twice: long copies count more.
        self._cached = 2 * _CACHED if outputs == groups else _CACHED
        many_elements = groups * math.prod(inner) >= 4 * outputs
        self.across = self.counts[-1] < 12 and many_elements
        self._places = list(offsets(window, self.counts))

    def block(self, images: np.ndarray, channels: int, effort: float) -> int:
        """The number of images whose windows of so many channels fit into the cache."""
        one = channels * math.prod(self.window.kernel) * math.prod(self.counts) * images.itemsize
        return shared(len(images), self._cached // max(1, one), effort)

    def columns(self, x: np.ndarray) -> np.ndarray:
        """(B, C, *S) -> (G, C/G·K, B·P): a column for each window."""
        images, channels = x.shape[:2]
        wide = x.swapaxes(0, 1)  # (C, B, *S)
        if self.across or any(before or after for before, after in self.window.padding):
            wide = self._empty((channels,), images, self.padded, x.dtype)
            wide[...] = 0
            cut(wide, self.window.padding)[...] = x.swapaxes(0, 1)
        columns: Any = self._empty((channels, *self.window.kernel), images, self.counts, x.dtype)
        for offset, places in self._places:
            columns[:, *offset] = wide[places]
        rows = channels // self.groups * math.prod(self.window.kernel)
        ordered = np.moveaxis(columns, 1 + len(self.counts), -1) if self.across else columns
        return ordered.reshape(self.groups, rows, images * math.prod(self.counts))

    def added_up(self, columns: np.ndarray, images: int) -> np.ndarray:
        """(G, C/G·K, B·P) -> (B, C, *S), the transpose of `columns`: adds overlapping windows."""
        channels = columns.shape[0] * columns.shape[1] // math.prod(self.window.kernel)
        out = self._empty((channels,), images, self.padded, columns.dtype)
        out[...] = 0
        if self.across:
            ordered: Any = columns.reshape(channels, *self.window.kernel, *self.counts, images)
            by_offset = np.moveaxis(ordered, -1, 1 + len(self.counts))
        else:
            by_offset = columns.reshape(channels, *self.window.kernel, images, *self.counts)
        for offset, places in self._places:
            out[places] += by_offset[:, *offset]
        return cut(out, self.window.padding).swapaxes(0, 1)

    def rows(self, y: np.ndarray) -> np.ndarray:
        """(B, O, *P) -> (G, O/G, B·P): a row for each channel."""
        images, channels = y.shape[:2]
        ordered = np.moveaxis(y, 0, -1 if self.across else 1)
        return ordered.reshape(
            self.groups, channels // self.groups, images * math.prod(self.counts)
        )

    def images(self, rows: np.ndarray, images: int) -> np.ndarray:
        """(G, O/G, B·P) -> (B, O, *P), the inverse of `rows`."""
        channels = rows.shape[0] * rows.shape[1]
        if self.across:
            return np.moveaxis(rows.reshape(channels, *self.counts, images), -1, 0)
        return rows.reshape(channels, images, *self.counts).swapaxes(0, 1)

    def _empty(self, channels: Sizes, images: int, sizes: Sizes, dtype: Any) -> np.ndarray:
        """Memory for an array of shape (*channels, B, *sizes), in the order of the columns."""
        if not self.across:
            return np.empty((*channels, images, *sizes), dtype)
        return np.moveaxis(np.empty((*channels, *sizes, images), dtype), -1, len(channels))
