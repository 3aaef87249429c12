"""Windows: their options, windows as columns or channels and back, and max pooling undone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, value_error
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import widened
from minigrad.ops._windows import Window
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import scatter_index
from minigrad.support.checks import check_size, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "channel_shuffle", "fold", "max_unpool1d", "max_unpool2d", "pixel_shuffle", "pixel_unshuffle",
    "unfold",
]  # fmt: skip

Sizes = int | Sequence[int]


def window_of(
    owner: str, axes: int, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes = 1
) -> Window:
    """A window with the options of a user."""
    widths = check_sizes(owner, "padding", padding, axes, least=0)
    return Window(
        check_sizes(owner, "kernel_size", kernel_size, axes),
        check_sizes(owner, "stride", stride, axes),
        tuple((width, width) for width in widths),
        check_sizes(owner, "dilation", dilation, axes),
    )


def stride_of(stride: Sizes | None, kernel_size: Sizes) -> Sizes:
    """The stride; without one, also an empty one as in PyTorch, the size of the window."""
    empty = isinstance(stride, Sequence) and not stride
    return kernel_size if stride is None or empty else stride


def size_of_input(window: Window, counts: Sequence[int]) -> tuple[int, ...]:
    """The smallest size of an image that has so many windows along each axis."""
    lines = zip(counts, window.stride, window.spans, window.padding, strict=True)
    return tuple((n - 1) * step + span - sum(pair) for n, step, span, pair in lines)


def over_a_batch(
    owner: str, axes: int, input: Tensor, function: Callable[[Tensor], Tensor]
) -> Tensor:
    """Call a function of a batch (N, C, ...) on a batch, or on a single sample (C, ...)."""
    if input.ndim == axes + 2:
        return function(input)
    shape = "C, " + ("L" if axes == 1 else "H, W")
    wanted = f"an input of shape (N, {shape}) or ({shape})"
    refuse_shapes(input.ndim != axes + 1, owner, wanted, input)
    return function(input[None])[0]


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
    window = window_of("unfold", 2, kernel_size, stride, padding, dilation)

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
    window = window_of("fold", 2, kernel_size, stride, padding, dilation)
    size = check_sizes("fold", "output_size", output_size, 2)
    places = _places("fold", window, size)  # (K·K', L)
    wrong = input.ndim not in (2, 3) or input.shape[-1] != places.shape[1]
    wrong = wrong or input.shape[-2] % len(places)
    wanted = f"(N, C·{len(places)}, {places.shape[1]}), a column for each window of {size},"
    refuse_shapes(wrong, "fold", wanted, input)
    *batch, rows, _ = input.shape
    shape = (*batch, rows // len(places))  # (N, C) or (C,)
    (top, bottom), (left, right) = window.padding
    height, width = size[0] + top + bottom, size[1] + left + right
    index = (*(slice(None) for _ in shape), places)
    columns = widened(as_tensor(input)).reshape(*shape, *places.shape)
    pixels = scatter_index(columns, index, (*shape, height * width))
    image = pixels.reshape(*shape, height, width)[..., top : top + size[0], left : left + size[1]]
    return image.astype(input.dtype) if input.dtype == np.float16 else image


def _places(owner: str, window: Window, size: tuple[int, ...]) -> np.ndarray:
    """Where each pixel (rows) of each window (columns) lies in the padded image, made flat."""
    counts = window.counts(size)
    if min(counts) < 1:
        widths = tuple(width for width, _ in window.padding)
        spans = window.spans
        raise value_error(f"{owner}: window {spans} does not fit into {size} with padding {widths}")
    lines = zip(window.kernel, counts, window.stride, window.dilation, strict=True)
    along = [
        np.add.outer(np.arange(kernel) * gap, np.arange(count) * step)
        for kernel, count, step, gap in lines
    ]
    width = size[1] + sum(window.padding[1])
    grid = along[0][:, None, :, None] * width + along[1][None, :, None, :]  # (K, K', P, P')
    return grid.reshape(math.prod(window.kernel), math.prod(counts))


@framed
def max_unpool1d(
    input: Tensor, indices: Any, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Put what `max_pool1d` has chosen back into sequences of zeros.

    Arguments, errors and sizes are those of `max_unpool2d`, for an input (N, C, P) or (C, P).

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[[1.0, 3.0, 2.0, 0.0]]])
        >>> chosen, indices = nn.functional.max_pool1d(x, 2, return_indices=True)
        >>> nn.functional.max_unpool1d(chosen, indices, 2).tolist()
        [[[0.0, 3.0, 2.0, 0.0]]]
    """
    return _unpooled("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@framed
def max_unpool2d(
    input: Tensor, indices: Any, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Put what `max_pool2d` has chosen back into images of zeros.

    Args:
        input: Shape (N, C, P, P'), or (C, P, P').
        indices: The places, as `max_pool2d` returns them with ``return_indices=True``.
        kernel_size: The arguments of the pooling, as `stride` and `padding`.
        stride: The step of the window, `kernel_size` by default.
        padding: The number of rows and columns that were added on each side.
        output_size: The size of the input of the pooling, of which several are possible: the last
            two numbers are (H, W).

    Returns:
        Shape (N, C, H, W) with H = (P - 1) · stride - 2 · padding + K by default, or (C, H, W).
        Where windows overlap, a pixel that was chosen several times gives its gradient to the last
        of them.

    Raises:
        IndexError: An index is outside of the output.
        ValueError: The shapes differ, or no pooling of `output_size` gives the input.

    Source: Zeiler et al., "Adaptive deconvolutional networks for mid and high level feature
    learning", 2011.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[[[1.0, 3.0], [2.0, 0.0]]]])
        >>> chosen, indices = nn.functional.max_pool2d(x, 2, return_indices=True)
        >>> nn.functional.max_unpool2d(chosen, indices, 2).tolist()
        [[[[0.0, 3.0], [0.0, 0.0]]]]
    """
    return _unpooled("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def _unpooled(
    owner: str, axes: int, input: Tensor, indices: Any, kernel_size: Sizes, stride: Sizes | None,
    padding: Sizes, output_size: Sequence[int] | None,
) -> Tensor:  # fmt: skip
    window = window_of(owner, axes, kernel_size, stride_of(stride, kernel_size), padding)
    wrong = input.ndim not in (axes + 1, axes + 2) or np.shape(indices) != input.shape
    wanted = f"an input with {axes + 1} or {axes + 2} axes and indices of its shape"
    refuse_shapes(wrong, owner, wanted, input, indices)
    *leading, sizes = *input.shape[:-axes], input.shape[-axes:]
    usual = size_of_input(window, sizes)
    target = usual if output_size is None else tuple(output_size)[-axes:]
    lines = zip(target, usual, window.stride, strict=False)
    if len(target) != axes or any(abs(n - m) >= step for n, m, step in lines):
        wanted = f"an output_size of {usual}, or within a stride of {window.stride} of it,"
        raise value_error(f"{owner}: {wanted} expected, got {output_size}")
    zeros = np.zeros((*leading, math.prod(target)), input.dtype)
    rows = (*leading, math.prod(sizes))
    places = ops.reshape(indices, rows)
    return ops.scatter(zeros, -1, places, input.reshape(rows)).reshape(*leading, *target)


@framed
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels into pixels: (..., C·r², H, W) to (..., C, H·r, W·r).

    `upscale_factor` is r.

    Source: Shi et al., "Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network", 2016.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pixel_shuffle(tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2).tolist()
        [[[1.0, 2.0], [3.0, 4.0]]]
    """
    r = check_size("pixel_shuffle", "upscale_factor", upscale_factor)
    input = as_tensor(input)
    wanted = f"an input of shape (..., C, H, W) with C divisible by {r * r}"
    refuse_shapes(input.ndim < 3 or input.shape[-3] % (r * r), "pixel_shuffle", wanted, input)
    *leading, channels, height, width = input.shape
    whole = (math.prod(leading), channels // (r * r), r, r, height, width)
    pixels = ops.transpose(input.reshape(whole), (0, 1, 4, 2, 5, 3))  # (N, C, H, r, W, r)
    return pixels.reshape(*leading, channels // (r * r), height * r, width * r)


@framed
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearrange pixels into channels: the inverse of `pixel_shuffle`.

    From (..., C, H·r, W·r) to (..., C·r², H, W); `downscale_factor` is r.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pixel_unshuffle(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).tolist()
        [[[1.0]], [[2.0]], [[3.0]], [[4.0]]]
    """
    r = check_size("pixel_unshuffle", "downscale_factor", downscale_factor)
    input = as_tensor(input)
    wrong = input.ndim < 3 or input.shape[-2] % r or input.shape[-1] % r
    wanted = f"an input of shape (..., C, H, W) with H and W divisible by {r}"
    refuse_shapes(wrong, "pixel_unshuffle", wanted, input)
    *leading, channels, height, width = input.shape
    parts = (math.prod(leading), channels, height // r, r, width // r, r)
    pixels = ops.transpose(input.reshape(parts), (0, 1, 3, 5, 2, 4))  # (N, C, r, r, H, W)
    return pixels.reshape(*leading, channels * r * r, height // r, width // r)


@framed
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Take channels from each group in turn: those of a group are then spread over all groups.

    Source: Zhang et al., "ShuffleNet", 2018.

    Args:
        input: Shape (N, C, ...).
        groups: The number of groups; it divides C.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[[1.0], [2.0], [3.0], [4.0]]])
        >>> nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [1.0, 3.0, 2.0, 4.0]
    """
    check_size("channel_shuffle", "groups", groups)
    input = as_tensor(input)
    wanted = f"an input of shape (N, C, L, ...) with C divisible by {groups}"
    refuse_shapes(input.ndim < 3 or input.shape[1] % groups, "channel_shuffle", wanted, input)
    n, channels, *rest = input.shape
    parts = input.reshape(n, groups, channels // groups, *rest)
    return ops.swapaxes(parts, 1, 2).reshape(input.shape)
