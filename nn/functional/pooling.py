"""Pooling along one axis and two: the largest element of each window, or the mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad._checks import check_size, check_sizes
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.nn.functional.convolution import Sizes, over_a_batch
from minigrad.ops._numerics import widened
from minigrad.ops.pooling import parts, sum_parts

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d",
]  # fmt: skip

Pairs = tuple[tuple[int, int], ...]


def max_pool1d(
    input_: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    *,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window along an axis.

    Args:
        input_: Shape (N, C, L), or (C, L).
        kernel_size: K, how many elements a window has.
        stride: How far apart neighbouring windows are; K by default.
        padding: How far the first window may begin before the input, and the last one end behind
            it; at most half a window. What is not there is never the largest.
        dilation: How far apart the elements of a window are.
        ceil_mode: Whether a last window is added for elements that no other reaches.

    Returns:
        Shape (N, C, P) with P = (L + 2 · padding - dilation · (K - 1) - 1) // stride + 1, or
        (C, P).
        Of equal elements the first receives the gradient.

    Raises:
        ValueError: A window does not fit into the input, or the padding is too wide.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.max_pool1d(minigrad.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[3.0, 2.0]]]
    """
    return _max("max_pool1d", 1, input_, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input_: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    *,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest pixel of each window of an image.

    Args:
        input_: Shape (N, C, H, W), or (C, H, W).
        kernel_size: (K, K'), the sizes of a window; one number stands for both, here and below.
        stride: How far apart neighbouring windows are; (K, K') by default.
        padding: How far windows may reach over the edges; at most half a window. What is not there
            is never the largest.
        dilation: How far apart the pixels of a window are.
        ceil_mode: Whether last windows are added for pixels that no other reaches.

    Returns:
        Shape (N, C, P, P') with P = (H + 2 · padding - dilation · (K - 1) - 1) // stride + 1 and P'
        likewise, or (C, P, P'). Of equal pixels the first receives the gradient.

    Raises:
        ValueError: A window does not fit into the input, or the padding is too wide.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.max_pool2d(minigrad.tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
        [[[[3.0]]]]
    """
    return _max("max_pool2d", 2, input_, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool1d(
    input_: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window along an axis.

    Args:
        input_: Shape (N, C, L), or (C, L).
        kernel_size: K, how many elements a window has.
        stride: How far apart neighbouring windows are; K by default.
        padding: How many zeros are put at both ends; at most half a window.
        ceil_mode: Whether a last window is added for elements that no other reaches.
        count_include_pad: Whether these zeros count as elements.

    Returns:
        Shape (N, C, P) with P = (L + 2 · padding - K) // stride + 1, or (C, P).

    Raises:
        ValueError: A window does not fit into the input, or the padding is too wide.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.avg_pool1d(minigrad.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[2.0, 1.0]]]
    """
    return _average(
        "avg_pool1d", 1, input_, kernel_size, stride, padding, ceil_mode, count_include_pad
    )


def avg_pool2d(
    input_: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of an image.

    Args:
        input_: Shape (N, C, H, W), or (C, H, W).
        kernel_size: (K, K'), the sizes of a window; one number stands for both, here and below.
        stride: How far apart neighbouring windows are; (K, K') by default.
        padding: How many zeros are put around; at most half a window.
        ceil_mode: Whether last windows are added for pixels that no other reaches.
        count_include_pad: Whether these zeros count as pixels.

    Returns:
        Shape (N, C, P, P') with P = (H + 2 · padding - K) // stride + 1 and P' likewise, or
        (C, P, P').

    Raises:
        ValueError: A window does not fit into the input, or the padding is too wide.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.avg_pool2d(minigrad.tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
        [[[[1.5]]]]
    """
    return _average(
        "avg_pool2d", 2, input_, kernel_size, stride, padding, ceil_mode, count_include_pad
    )


def adaptive_avg_pool1d(input_: Tensor, output_size: int) -> Tensor:
    """The mean of each of as many parts of an axis as are asked for.

    Args:
        input_: Shape (N, C, L), or (C, L).
        output_size: P, how many parts; part i runs from floor(i · L / P) to ceil((i + 1) · L / P).

    Returns:
        Shape (N, C, P), or (C, P).

    Raises:
        ValueError: There is nothing to take a mean of.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.adaptive_avg_pool1d(minigrad.tensor([[[1.0, 3.0, 5.0]]]), 2).tolist()
        [[[2.0, 4.0]]]
    """
    return _adaptive("adaptive_avg_pool1d", 1, input_, output_size, _mean_of_parts)


def adaptive_avg_pool2d(input_: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The mean of each of as many parts of an image as are asked for.

    Args:
        input_: Shape (N, C, H, W), or (C, H, W).
        output_size: (P, P'), how many parts along each axis, None for as many as there are pixels;
            one number stands for both. Part i runs from floor(i · H / P) to ceil((i + 1) · H / P).

    Returns:
        Shape (N, C, P, P'), or (C, P, P').

    Raises:
        ValueError: There is nothing to take a mean of.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.adaptive_avg_pool2d(minigrad.ones((2, 8, 5, 7)), 1).shape
        (2, 8, 1, 1)
    """
    return _adaptive("adaptive_avg_pool2d", 2, input_, output_size, _mean_of_parts)


def adaptive_max_pool1d(input_: Tensor, output_size: int) -> Tensor:
    """The largest element of each of as many parts of an axis as are asked for.

    Args:
        input_: Shape (N, C, L), or (C, L).
        output_size: P, how many parts; part i runs from floor(i · L / P) to ceil((i + 1) · L / P).

    Returns:
        Shape (N, C, P), or (C, P). Of equal elements the first receives the gradient.

    Raises:
        ValueError: There is nothing to choose from.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.adaptive_max_pool1d(minigrad.tensor([[[1.0, 3.0, 5.0]]]), 2).tolist()
        [[[3.0, 5.0]]]
    """
    return _adaptive("adaptive_max_pool1d", 1, input_, output_size, _largest_of_parts)


def adaptive_max_pool2d(input_: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The largest pixel of each of as many parts of an image as are asked for.

    Args:
        input_: Shape (N, C, H, W), or (C, H, W).
        output_size: (P, P'), how many parts along each axis, None for as many as there are pixels;
            one number stands for both. Part i runs from floor(i · H / P) to ceil((i + 1) · H / P).

    Returns:
        Shape (N, C, P, P'), or (C, P, P'). Of equal pixels the first receives the gradient.

    Raises:
        ValueError: There is nothing to choose from.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.adaptive_max_pool2d(minigrad.ones((2, 8, 5, 7)), (2, None)).shape
        (2, 8, 2, 7)
    """
    return _adaptive("adaptive_max_pool2d", 2, input_, output_size, _largest_of_parts)


def _window(
    owner: str, axes: int, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes
) -> tuple[tuple[int, ...], ...]:
    """Kernel, stride, padding and dilation, a number for each axis."""
    kernel = check_sizes(owner, "kernel_size", kernel_size, axes)
    strides = kernel if stride is None else check_sizes(owner, "stride", stride, axes)
    widths = check_sizes(owner, "padding", padding, axes, least=0)
    gaps = check_sizes(owner, "dilation", dilation, axes)
    for size, width, gap in zip(kernel, widths, gaps, strict=True):
        if width > (gap * (size - 1) + 1) // 2:
            raise ValueError(
                located(f"{owner}: padding {widths} must be at most half of a window of {kernel}")
            )
    return kernel, strides, widths, gaps


def _pairs(sizes: Sequence[int], window: tuple[tuple[int, ...], ...], ceil_mode: bool) -> Pairs:
    """The padding as pairs, the second one longer where a last window needs it."""
    pairs = []
    for size, kernel, stride, width, gap in zip(sizes, *window, strict=True):
        more, span = 0, gap * (kernel - 1) + 1
        if ceil_mode and size + 2 * width >= span:
            count = -(-(size + 2 * width - span) // stride) + 1
            count -= (count - 1) * stride >= size + width  # it must not begin behind the input
            more = max(0, (count - 1) * stride + span - size - 2 * width)
        pairs.append((width, width + more))
    return tuple(pairs)


def _max(
    owner: str, axes: int, input_: Tensor, kernel_size: Sizes, stride: Sizes | None,
    padding: Sizes, dilation: Sizes, ceil_mode: bool,
) -> Tensor:  # fmt: skip
    window = _window(owner, axes, kernel_size, stride, padding, dilation)
    kernel, strides, _, gaps = window

    def pooled(x: Tensor) -> Tensor:
        return ops.max_pool(x, kernel, strides, _pairs(x.shape[2:], window, ceil_mode), gaps)

    return over_a_batch(owner, axes, input_, pooled)


def _average(
    owner: str, axes: int, input_: Tensor, kernel_size: Sizes, stride: Sizes | None,
    padding: Sizes, ceil_mode: bool, count_include_pad: bool,
) -> Tensor:  # fmt: skip
    window = _window(owner, axes, kernel_size, stride, padding, 1)
    kernel, strides, widths, gaps = window

    def pooled(x: Tensor) -> Tensor:
        pairs = _pairs(x.shape[2:], window, ceil_mode)
        sums = ops.sum_pool(widened(x), kernel, strides, pairs, gaps)
        if not any(widths) and not ceil_mode:
            return _divided(sums, math.prod(kernel), x)
        counts = np.ones((), int)
        for size, count, reach, step, width in zip(
            x.shape[2:], sums.shape[2:], kernel, strides, widths, strict=True
        ):
            starts = np.arange(count) * step - width
            ends = starts + reach
            if count_include_pad:
                inside = np.minimum(ends, size + width) - starts
            else:
                inside = np.minimum(ends, size) - np.maximum(starts, 0)
            counts = counts[..., None] * inside
        return _divided(sums, counts, x)

    return over_a_batch(owner, axes, input_, pooled)


def parts_per_axis(
    owner: str, axes: int, output_size: int | Sequence[int | None] | None
) -> tuple[int | None, ...]:
    """Into how many parts each axis is split; None for as many as it has elements.

    Raises:
        TypeError: A count is no whole number.
        ValueError: There are more or fewer than axes, or one is too small.
    """
    given = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,) * axes
    if len(given) != axes:
        raise ValueError(
            located(f"{owner}: output_size must be an int or {axes} of them, got {output_size!r}")
        )
    return tuple(n if n is None else check_size(owner, "output_size", n) for n in given)


def _adaptive(
    owner: str,
    axes: int,
    input_: Tensor,
    output_size: int | Sequence[int | None] | None,
    pooled: Callable[[Tensor, tuple[int, ...]], Tensor],
) -> Tensor:
    given = parts_per_axis(owner, axes, output_size)

    def over(x: Tensor) -> Tensor:
        sizes = x.shape[2:]
        if 0 in sizes:
            raise ValueError(located(f"{owner}: nothing to pool in an input of shape {x.shape}"))
        counts = tuple(
            size if count is None else count for size, count in zip(sizes, given, strict=True)
        )
        return pooled(x, counts)

    return over_a_batch(owner, axes, input_, over)


def _mean_of_parts(x: Tensor, counts: tuple[int, ...]) -> Tensor:
    sums, lengths = widened(x), np.ones((), int)
    for axis, (size, count) in enumerate(zip(x.shape[2:], counts, strict=True), start=2):
        starts, ends = parts(size, count)
        if size % count:
            sums = sum_parts(sums, axis, count)
        else:
            sums = sums.reshape(*sums.shape[:axis], count, size // count, *sums.shape[axis + 1 :])
            sums = sums.sum(axis=axis + 1)
        lengths = lengths[..., None] * (ends - starts)
    return _divided(sums, lengths, x)


def _divided(sums: Tensor, counts: Any, x: Tensor) -> Tensor:
    """The means of sums that were added up of float16 in float32, which holds them."""
    means = sums / counts
    return means.astype(x.dtype) if x.dtype == np.float16 else means


def _largest_of_parts(x: Tensor, counts: tuple[int, ...]) -> Tensor:
    kernel = []
    for axis, (size, count) in enumerate(zip(x.shape[2:], counts, strict=True), start=2):
        starts, ends = parts(size, count)
        longest = int((ends - starts).max())
        if size % count:  # parts of one length, in which the last element may stand repeatedly
            places = np.minimum(starts[:, None] + np.arange(longest), ends[:, None] - 1)
            x = x.take(places.ravel(), axis)
        kernel.append(longest)
    still = ((0, 0),) * len(kernel)
    return ops.max_pool(x, tuple(kernel), tuple(kernel), still, (1,) * len(kernel))
