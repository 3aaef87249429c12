"""The matrix of all windows of some images (im2col): a column for each window.

The columns are in one of two orders, so that each copy is long:

    pixels      image by image, the windows of each in row order
    across      position by position, with the images contiguous: for rows of few pixels,
                where it is worth transposing the images

Shapes: x (B, C, *S), y (B, O, *P), kernels of K elements, G groups of channels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops._parallel import shared
from minigrad.ops._windows import Window, cut, offsets

Sizes = tuple[int, ...]

_CACHED = 1 << 22  # bytes


class WindowMatrix:
    """Converts windows to columns, and columns to windows, for images of the given sizes.

    The weight has shape (O, C/G, *K).
    """

    def __init__(
        self, window: Window, sizes: Sizes, weight_shape: tuple[int, ...], groups: int
    ) -> None:
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
