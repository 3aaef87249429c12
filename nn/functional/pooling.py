"""1-D and 2-D pooling: the largest element, mean or norm of windows, or of parts of an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.windows import Sizes, over_a_batch, stride_of, window_of
from minigrad.ops._numerics import widened
from minigrad.ops._windows import Window
from minigrad.ops.casting import floating
from minigrad.ops.pooling import parts, sum_parts
from minigrad.ops.sorting import ValuesAndIndices
from minigrad.support.checks import check_number, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "avg_pool1d", "avg_pool2d", "lp_pool1d", "lp_pool2d", "max_pool1d", "max_pool2d",
]  # fmt: skip

NewSize = int | Sequence[int | None] | None
"""The sizes that an adaptive pooling gives; None keeps the size of an axis."""


@overload
def max_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: Literal[False] = False,
) -> Tensor: ...  # fmt: skip
@overload
def max_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, *, return_indices: Literal[True],
) -> ValuesAndIndices: ...  # fmt: skip
@framed
def max_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Apply 1-D max pooling: the largest element of each window.

    Arguments, errors and sizes are those of `max_pool2d`, for an input (N, C, L) or (C, L).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.max_pool1d(tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[3.0, 2.0]]]
    """
    window = _window("max_pool1d", 1, kernel_size, stride, padding, dilation)
    return _max("max_pool1d", input, window, ceil_mode, return_indices)


@overload
def max_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: Literal[False] = False,
) -> Tensor: ...  # fmt: skip
@overload
def max_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, *, return_indices: Literal[True],
) -> ValuesAndIndices: ...  # fmt: skip
@framed
def max_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Apply 2-D max pooling: the largest pixel of each window.

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        kernel_size: (K, K'), the size of the window; options take one int for both axes, or one
            per axis.
        stride: The step of the window, (K, K') by default.
        padding: The number of rows and columns of -∞ added on each side; at most half a window.
        dilation: The distance between the pixels of a window.
        ceil_mode: Whether to round the output size up, with last partial windows.
        return_indices: Whether to return where the pixels were found too, for `max_unpool2d`.

    Returns:
        Shape (N, C, P, P') with P = (H + 2 · padding - dilation · (K - 1) - 1) // stride + 1 and P'
        likewise, or (C, P, P'). Of equal pixels the first receives the gradient. With
        `return_indices` also their places, int64, of the same shape: W · row + column.

    Raises:
        ValueError: A window does not fit into the input, or the padding is too wide.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.max_pool2d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
        [[[[3.0]]]]
    """
    window = _window("max_pool2d", 2, kernel_size, stride, padding, dilation)
    return _max("max_pool2d", input, window, ceil_mode, return_indices)


@framed
def avg_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Apply 1-D average pooling: the mean of each window.

    Arguments and sizes are those of `avg_pool2d`, for an input of shape (N, C, L) or (C, L).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.avg_pool1d(tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[2.0, 1.0]]]
    """
    window = _window("avg_pool1d", 1, kernel_size, stride, padding)
    return _average("avg_pool1d", input, window, ceil_mode, count_include_pad)


@framed
def avg_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Apply 2-D average pooling: the mean of each window.

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        kernel_size: As for `max_pool2d`, and `stride`, `padding` with zeros, and `ceil_mode`.
        stride: The step of the window, `kernel_size` by default.
        padding: The number of rows and columns of zeros added on each side.
        ceil_mode: Whether to round the output size up.
        count_include_pad: Whether the padding counts in the mean.
        divisor_override: What each sum is divided by, in place of the number of elements; not 0.

    Returns:
        Shape (N, C, P, P') with P = (H + 2 · padding - K) // stride + 1 and P' likewise, or
        (C, P, P').

    Raises:
        TypeError: The input holds integers that are no int64, of which means are cut off towards 0.
        ValueError: A window does not fit into the input, or the padding is too wide.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.avg_pool2d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
        [[[[1.5]]]]
    """
    window = _window("avg_pool2d", 2, kernel_size, stride, padding)
    return _average("avg_pool2d", input, window, ceil_mode, count_include_pad, divisor_override)


@framed
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Compute the p-norm of each window of sequences, as `lp_pool2d` does of images.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.lp_pool1d(tensor([[[3.0, 4.0, 0.0, 2.0]]]), 2, 2).tolist()
        [[[5.0, 2.0]]]
    """
    return _norms(1, input, norm_type, kernel_size, stride, ceil_mode)


@framed
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Compute the p-norm of each window of images: the p-th root of the sum of p-th powers.

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        norm_type: p.
        kernel_size: The size of the window, one int or one per axis.
        stride: The step of the window, `kernel_size` by default.
        ceil_mode: Whether to round the output size up.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.lp_pool2d(tensor([[[[3.0, 0.0], [0.0, 4.0]]]]), 2, 2).tolist()
        [[[[5.0]]]]
    """
    return _norms(2, input, norm_type, kernel_size, stride, ceil_mode)


@framed
def adaptive_avg_pool1d(input: Tensor, output_size: int) -> Tensor:
    """Apply 1-D average pooling to a given output length.

    As `adaptive_avg_pool2d`, from (N, C, L) or (C, L) to (N, C, P) or (C, P).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.adaptive_avg_pool1d(tensor([[[1.0, 3.0, 5.0]]]), 2).tolist()
        [[[2.0, 4.0]]]
    """
    return _adaptive("avg", 1, input, output_size, _mean_of_parts)


@framed
def adaptive_avg_pool2d(input: Tensor, output_size: NewSize) -> Tensor:
    """Apply 2-D average pooling to a given output size.

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        output_size: (P, P'), the output size, one int for both axes or one per axis; None keeps an
            axis. Part i is from floor(i · H / P) to ceil((i + 1) · H / P).

    Returns:
        Shape (N, C, P, P'), or (C, P, P').

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.adaptive_avg_pool2d(ones((2, 8, 5, 7)), 1).shape
        minigrad.Size([2, 8, 1, 1])
    """
    return _adaptive("avg", 2, input, output_size, _mean_of_parts)


@framed
def adaptive_max_pool1d(input: Tensor, output_size: int, return_indices: bool = False) -> Any:
    """Apply 1-D max pooling to a given output length.

    As `adaptive_max_pool2d`, from (N, C, L) or (C, L) to (N, C, P) or (C, P).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.adaptive_max_pool1d(tensor([[[1.0, 3.0, 5.0]]]), 2).tolist()
        [[[3.0, 5.0]]]
    """
    return _largest(1, input, output_size, return_indices)


@framed
def adaptive_max_pool2d(input: Tensor, output_size: NewSize, return_indices: bool = False) -> Any:
    """Apply 2-D max pooling to a given output size.

    Arguments and result are those of `adaptive_avg_pool2d`. Of equal pixels the first receives the
    gradient. With `return_indices` their places too, as `max_pool2d` returns them.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.adaptive_max_pool2d(ones((2, 8, 5, 7)), (2, None)).shape
        minigrad.Size([2, 8, 2, 7])
    """
    return _largest(2, input, output_size, return_indices)


def _window(
    owner: str, axes: int, kernel_size: Sizes, stride: Sizes | None, padding: Sizes,
    dilation: Sizes = 1,
) -> Window:  # fmt: skip
    stride = stride_of(stride, kernel_size)
    window = window_of(owner, axes, kernel_size, stride, padding, dilation)
    widths = tuple(width for width, _ in window.padding)
    if any(width > span // 2 for width, span in zip(widths, window.spans, strict=True)):
        raise value_error(f"{owner}: padding {widths} must be at most half of {window.kernel}")
    return window


def _fitted(window: Window, sizes: Sequence[int], ceil_mode: bool) -> Window:
    """The window; for `ceil_mode` with more padding at the end, for last partial windows.

    An only window that is longer than its axis is cut off there.
    """
    if not ceil_mode:
        return window
    axes = []
    for size, kernel, stride, (width, _), gap in zip(sizes, *window, strict=True):
        rest = size + 2 * width - gap * (kernel - 1) - 1  # what lies behind the first window
        others = -(-rest // stride)
        others -= others * stride >= size + width  # none starts in the padding at the end
        if others == 0 > rest:
            kernel, stride, rest = (size + 2 * width - 1) // gap + 1, max(stride, gap), 0
        more = max(0, others * stride - rest) * (others >= 0)
        axes.append((kernel, stride, (width, width + more), gap))
    return Window(*zip(*axes, strict=True))


def _max(owner: str, input: Tensor, window: Window, ceil_mode: bool, return_indices: bool) -> Any:
    def pooled(op: Any) -> Tensor:
        fitted = lambda x: op(x, _fitted(window, x.shape[2:], ceil_mode))
        return over_a_batch(owner, len(window.kernel), input, fitted)

    values = pooled(ops.max_pool)
    return ValuesAndIndices(values, pooled(ops.max_pool_places)) if return_indices else values


def _norms(
    axes: int, input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None,
    ceil_mode: bool,
) -> Tensor:  # fmt: skip
    owner = f"lp_pool{axes}d"
    check_number(owner, "norm_type", norm_type, above=0.0)
    powers = floating(input) ** norm_type
    window = _window(owner, axes, kernel_size, stride, 0)
    means, count = _average(owner, powers, window, ceil_mode, True), math.prod(window.kernel)
    return (ops.sign(means) * ops.relu(ops.abs(means)) * count) ** (1.0 / norm_type)


def _average(
    owner: str, input: Tensor, window: Window, ceil_mode: bool, count_include_pad: bool,
    divisor: int | None = None,
) -> Tensor:  # fmt: skip
    wrong = input.dtype.kind != "f" and input.dtype != np.int64
    refuse_dtypes(wrong, owner, "floats (convert it by .float()) or int64", input)
    if divisor == 0:
        raise ValueError(f"{owner}: divisor_override must not be 0, got {divisor!r}")

    def pooled(x: Tensor) -> Tensor:
        sums = ops.sum_pool(widened(x), _fitted(window, x.shape[2:], ceil_mode))
        counts: Any = divisor or math.prod(window.kernel)
        if divisor is None and (ceil_mode or any(map(any, window.padding))):
            counts = np.ones((), int)
            kernel, strides, borders = window.kernel, window.stride, window.padding
            lines = zip(x.shape[2:], sums.shape[2:], kernel, strides, borders, strict=True)
            for size, count, reach, step, (width, _) in lines:
                border = width if count_include_pad else 0
                starts = np.arange(count) * step - width
                inside = np.minimum(starts + reach, size + border) - np.maximum(starts, -border)
                counts = counts[..., None] * inside
        if x.dtype.kind == "f":
            return _divided(sums, counts, x)
        sizes = ops.floor_divide(ops.abs(sums), np.abs(counts))  # cut off towards 0
        return ops.sign(sums) * np.sign(counts) * sizes

    return over_a_batch(owner, len(window.kernel), input, pooled)


def _adaptive(
    kind: str, axes: int, input: Tensor, output_size: NewSize,
    pooled: Callable[[Tensor, tuple[int, ...]], Tensor],
) -> Tensor:  # fmt: skip
    owner = f"adaptive_{kind}_pool{axes}d"
    given = output_size if isinstance(output_size, Sequence) else (output_size,) * axes
    check_sizes(owner, "output_size", tuple(1 if n is None else n for n in given), axes)

    def over(x: Tensor) -> Tensor:
        sizes = x.shape[2:]
        refuse_shapes(0 in sizes, owner, "elements to pool", x)
        counts = [size if n is None else n for n, size in zip(given, sizes, strict=True)]
        return pooled(x, tuple(counts))

    return over_a_batch(owner, axes, input, over)


def _largest(axes: int, input: Tensor, output_size: NewSize, return_indices: bool) -> Any:
    """The largest elements of the parts, and if wanted their indices."""
    values = _adaptive("max", axes, input, output_size, _largest_of_parts)
    if not return_indices:
        return values
    return ValuesAndIndices(values, _adaptive("max", axes, input, output_size, _places_of_largest))


def _mean_of_parts(x: Tensor, counts: tuple[int, ...]) -> Tensor:
    if all(count == 1 for count in counts):
        return ops.mean(x, tuple(range(2, x.ndim)), True)
    sums, lengths = widened(x), np.ones((), int)
    for axis, (size, count) in enumerate(zip(x.shape[2:], counts, strict=True), start=2):
        starts, ends = parts(size, count)
        if size % count:
            sums = sum_parts(sums, axis, count)
        else:
            sums = sums.reshape(*sums.shape[:axis], count, size // count, *sums.shape[axis + 1 :])
            sums = ops.sum(sums, axis + 1)
        lengths = lengths[..., None] * (ends - starts)
    return _divided(sums, lengths, x)


def _divided(sums: Tensor, counts: Any, x: Tensor) -> Tensor:
    """Divide sums, which for float16 were accumulated in float32."""
    means = sums / counts
    return means.astype(x.dtype) if x.dtype == np.float16 else means


def _beside(kernel: tuple[int, ...]) -> Window:
    """A window that is moved by its own size."""
    return Window(kernel, kernel, ((0, 0),) * len(kernel), (1,) * len(kernel))


def _largest_of_parts(x: Tensor, counts: tuple[int, ...]) -> Tensor:
    x, kernel, _ = _equal_parts(x, counts)
    return ops.max_pool(x, _beside(kernel))


def _places_of_largest(x: Tensor, counts: tuple[int, ...]) -> Tensor:
    """Where the largest elements of the parts are among all elements of an image."""
    sizes = x.shape[2:]
    x, kernel, sources = _equal_parts(x, counts)
    rest = ops.max_pool_places(x, _beside(kernel))
    origin = np.arange(math.prod(sizes)).reshape(sizes)[np.ix_(*sources)]
    return ops.take(origin.ravel(), rest)


def _equal_parts(
    x: Tensor, counts: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...], list[np.ndarray]]:
    """The parts made equally long by repeating their last element.

    Also their length along each axis, and from where each element of an axis is.
    """
    kernel, sources = [], []
    for axis, (size, count) in enumerate(zip(x.shape[2:], counts, strict=True), start=2):
        starts, ends = parts(size, count)
        longest = int((ends - starts).max())
        source = np.arange(size)
        if size % count:
            source = np.minimum(starts[:, None] + np.arange(longest), ends[:, None] - 1).ravel()
            x = ops.take(x, source, axis)
        kernel.append(longest)
        sources.append(source)
    return x, tuple(kernel), sources
