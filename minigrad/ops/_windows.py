"""Windows that slide over the last axes of an array.

An array of shape (N, C, *S) has a window at each position of an output of shape (N, C, *P). The
elements of a window differ in their offset. All functions here loop over the few elements of a
window, and process one of them for all windows at a time.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from minigrad.ops._parallel import shared

Sizes = tuple[int, ...]
"""One number for each axis."""

Padding = tuple[tuple[int, int], ...]
"""The number of elements added before and after each axis."""


class Window(NamedTuple):
    """A window; each attribute has one number for each axis."""

    kernel: Sizes  # the number of its elements
    stride: Sizes  # the distance between neighbouring windows
    padding: Padding  # the padding of the array before and after
    dilation: Sizes  # the distance between neighbouring elements of a window

    def padded(self, sizes: Sizes) -> Sizes:
        """The sizes of an array with its padding."""
        return tuple(n + sum(pair) for n, pair in zip(sizes, self.padding, strict=True))

    def counts(self, sizes: Sizes) -> Sizes:
        """The number of windows along each axis of an array; less than 1 if none fits."""
        lines = zip(self.padded(sizes), self.spans, self.stride, strict=True)
        return tuple((size - span) // stride + 1 for size, span, stride in lines)

    @property
    def spans(self) -> Sizes:
        """The extent of a window along each axis."""
        lines = zip(self.kernel, self.dilation, strict=True)
        return tuple(dilation * (kernel - 1) + 1 for kernel, dilation in lines)


def places(window: Window, counts: Sizes) -> list[tuple[slice, ...]]:
    """For each element of a window, in order, an index of it in all windows.

    Of a padded array, the index gives the shape (N, C, *counts), with the number of windows along
    each axis.
    """
    axes = zip(window.kernel, window.stride, window.dilation, counts, strict=True)
    along = [
        [slice(i * gap, i * gap + step * (count - 1) + 1, step) for i in range(size)]
        for size, step, gap, count in axes
    ]
    return [(slice(None), slice(None), *place) for place in itertools.product(*along)]


def padded(x: np.ndarray, window: Window, value: float = 0.0) -> np.ndarray:
    """An array with its last axes padded; the array itself without padding."""
    if not any(map(any, window.padding)):
        return x
    out = np.full((*x.shape[:2], *window.padded(x.shape[2:])), value, x.dtype)
    inside(out, window)[...] = x
    return out


def inside(x: Any, window: Window) -> Any:
    """Undo `padded`: a view without the padding."""
    axes = zip(x.shape[2:], window.padding, strict=True)
    return x[(..., *(slice(before, n - after) for n, (before, after) in axes))]


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
        self.padded = window.padded(sizes)
        outputs, *inner = weight_shape
        # With one output in a group, no window is read twice: long copies count more.
        self._cached = 2 * _CACHED if outputs == groups else _CACHED
        many_elements = groups * math.prod(inner) >= 4 * outputs
        self.across = self.counts[-1] < 12 and many_elements
        self._elements = math.prod(window.kernel)
        self._places = places(window, self.counts)

    def block(self, images: np.ndarray, channels: int, effort: float) -> int:
        """The number of images whose windows of so many channels fit into the cache."""
        one = channels * self._elements * math.prod(self.counts) * images.itemsize
        return shared(len(images), self._cached // max(1, one), effort)

    def columns(self, x: np.ndarray) -> np.ndarray:
        """(B, C, *S) -> (G, C/G·K, B·P): a column for each window."""
        images, channels = x.shape[:2]
        wide = x.swapaxes(0, 1)  # (C, B, *S)
        if self.across or any(map(any, self.window.padding)):
            wide = self._empty((channels,), images, self.padded, x.dtype)
            wide[...] = 0
            inside(wide, self.window)[...] = x.swapaxes(0, 1)
        columns = self._empty((channels, self._elements), images, self.counts, x.dtype)
        for number, place in enumerate(self._places):
            columns[:, number] = wide[place]
        rows = channels // self.groups * self._elements
        ordered = np.moveaxis(columns, 2, -1) if self.across else columns
        return ordered.reshape(self.groups, rows, images * math.prod(self.counts))

    def added_up(self, columns: np.ndarray, images: int) -> np.ndarray:
        """(G, C/G·K, B·P) -> (B, C, *S), the transpose of `columns`: adds overlapping windows."""
        channels = columns.shape[0] * columns.shape[1] // self._elements
        out = self._empty((channels,), images, self.padded, columns.dtype)
        out[...] = 0
        elements = self._shaped(columns, (channels, self._elements), images, self.counts)
        for number, place in enumerate(self._places):
            out[place] += elements[:, number]
        return inside(out, self.window).swapaxes(0, 1)

    def rows(self, y: np.ndarray) -> np.ndarray:
        """(B, O, *P) -> (G, O/G, B·P): a row for each channel."""
        images, channels = y.shape[:2]
        ordered = np.moveaxis(y, 0, -1 if self.across else 1)
        columns = images * math.prod(self.counts)
        return ordered.reshape(self.groups, channels // self.groups, columns)

    def images(self, rows: np.ndarray, images: int) -> np.ndarray:
        """(G, O/G, B·P) -> (B, O, *P), the inverse of `rows`."""
        channels = rows.shape[0] * rows.shape[1]
        return self._shaped(rows, (channels,), images, self.counts).swapaxes(0, 1)

    def _empty(self, leading: Sizes, images: int, sizes: Sizes, dtype: Any) -> np.ndarray:
        """Memory for an array of shape (*leading, B, *sizes), in the order of the columns."""
        memory = np.empty(math.prod((*leading, images, *sizes)), dtype)
        return self._shaped(memory, leading, images, sizes)

    def _shaped(self, x: np.ndarray, leading: Sizes, images: int, sizes: Sizes) -> np.ndarray:
        """View memory in the order of the columns as (*leading, B, *sizes)."""
        if not self.across:
            return x.reshape(*leading, images, *sizes)
        return np.moveaxis(x.reshape(*leading, *sizes, images), -1, len(leading))
