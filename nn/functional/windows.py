"""All windows of an image as columns, and their sum back into an image."""

from __future__ import annotations

import math

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.nn.functional.convolution import Sizes, over_a_batch
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import widened
from minigrad.ops._windows import Window
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import scatter_index
from minigrad.support.checks import check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = ["fold", "unfold"]


@framed
def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Put the windows of an image into columns (im2col).

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        kernel_size: (K, K'), the size of a window; options take one int for both axes, or one per
            axis.
        dilation: The distance between the pixels of a window.
        padding: The number of zeros added on each side.
        stride: The distance between neighbouring windows.

    Returns:
        Shape (N, C · K · K', L) with L windows in rows, or (C · K · K', L).

    Example:
        >>> from minigrad import arange, nn
        >>> image = arange(6.0).reshape(1, 2, 3)
        >>> nn.functional.unfold(image, 2).tolist()
        [[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]
    """
    window = _window("unfold", kernel_size, dilation, padding, stride)

    def unfolded(x: Tensor) -> Tensor:
        places = _places("unfold", window, x.shape[2:])  # (K·K', L)
        wide = ops.pad(x, ((0, 0), (0, 0), *window.padding)) if any(map(any, window.padding)) else x
        pixels = as_tensor(wide).reshape(*x.shape[:2], math.prod(wide.shape[2:]))
        columns = ops.take(pixels, places, 2)  # (N, C, K·K', L)
        return columns.reshape(len(x), x.shape[1] * len(places), places.shape[1])

    return over_a_batch("unfold", 2, input, unfolded)


@framed
def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Add columns up to an image (col2im), the transpose of `unfold`: sums where windows overlap.

    The input has shape (N, C · K · K', L), or (C · K · K', L), and the image `output_size`, (H, W).
    The other arguments are those of `unfold`; padding is removed from the image.

    Returns:
        Shape (N, C, H, W), or (C, H, W).

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.fold(ones((4, 2)), (2, 3), 2).tolist()
        [[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]
    """
    window = _window("fold", kernel_size, dilation, padding, stride)
    size = check_sizes("fold", "output_size", output_size, 2)
    places = _places("fold", window, size)  # (K·K', L)
    if input.ndim not in (2, 3) or input.shape[-1] != places.shape[1] or (
        input.shape[-2] % len(places)
    ):  # fmt: skip
        raise value_error(
            f"fold: an input of shape (N, C·{len(places)}, {places.shape[1]}), one column for "
            f"each window of {size}, expected, with or without N; got {tuple(input.shape)}"
        )
    *batch, rows, _ = input.shape
    shape = (*batch, rows // len(places))  # (N, C) or (C,)
    (top, bottom), (left, right) = window.padding
    height, width = size[0] + top + bottom, size[1] + left + right
    index = (*(slice(None) for _ in shape), places)
    pixels = scatter_index(
        widened(as_tensor(input)).reshape(*shape, *places.shape), index, (*shape, height * width)
    )
    image = pixels.reshape(*shape, height, width)[..., top : top + size[0], left : left + size[1]]
    return image.astype(input.dtype) if input.dtype == np.float16 else image


def _window(
    owner: str, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Window:
    widths = check_sizes(owner, "padding", padding, 2, least=0)
    return Window(
        check_sizes(owner, "kernel_size", kernel_size, 2), check_sizes(owner, "stride", stride, 2),
        tuple((width, width) for width in widths), check_sizes(owner, "dilation", dilation, 2),
    )  # fmt: skip


def _places(owner: str, window: Window, size: tuple[int, ...]) -> np.ndarray:
    """Where each pixel (rows) of each window (columns) lies in the padded image, made flat."""
    counts = window.counts(size)
    if min(counts) < 1:
        raise value_error(
            f"{owner}: a window of {window.spans} does not fit into {size} with padding "
            f"{window.padding[0][0], window.padding[1][0]}"
        )
    along = [
        np.add.outer(np.arange(kernel) * dilation, np.arange(count) * stride)
        for kernel, count, stride, dilation in zip(
            window.kernel, counts, window.stride, window.dilation, strict=True
        )
    ]
    width = size[1] + sum(window.padding[1])
    grid = along[0][:, None, :, None] * width + along[1][None, :, None, :]  # (K, K', P, P')
    return grid.reshape(math.prod(window.kernel), math.prod(counts))
