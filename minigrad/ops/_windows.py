"""Windows that slide over the last axes of an array.

An array of shape (N, C, *S) has a window at each position of an output of shape (N, C, *P). The
elements of a window differ in their offset. All functions here loop over the few offsets, and
process one element of all windows at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

Padding = tuple[tuple[int, int], ...]
"""The number of elements added before and after each axis."""

Offsets = Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]


class Window(NamedTuple):
    """A window; each attribute has one number for each axis."""

    kernel: tuple[int, ...]  # the number of its elements
    stride: tuple[int, ...]  # the distance between neighbouring windows
    padding: Padding  # the padding of the array before and after
    dilation: tuple[int, ...]  # the distance between neighbouring elements of a window

    def counts(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The number of windows along each axis of an array; less than 1 if none fits."""
        return tuple(
            (size + before + after - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, (before, after), dilation in zip(
                sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True
            )
        )

    @property
    def spans(self) -> tuple[int, ...]:
        """The extent of a window along each axis."""
        return tuple(
            dilation * (kernel - 1) + 1
            for kernel, dilation in zip(self.kernel, self.dilation, strict=True)
        )


def offsets(window: Window, counts: tuple[int, ...]) -> Offsets:
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
