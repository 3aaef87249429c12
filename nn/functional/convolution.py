"""1-D and 2-D convolution, its transpose, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, type_error, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.windows import Sizes, over_a_batch, size_of_input, window_of
from minigrad.ops._windows import Window
from minigrad.support.checks import check_choice, check_size, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = ["conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "pad"]

Border = Sizes | Literal["same", "valid"]
"""The padding on both sides of each axis; "same" keeps the sizes, "valid" means no padding."""
PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]


@framed
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Border = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Apply a 1-D convolution: a cross-correlation with each kernel, summed over the channels.

    Arguments, errors and sizes are those of `conv2d`, with one axis less: an input of shape
    (N, C, L) or (C, L), and kernels of shape (O, C / groups, K).

    Example:
        >>> from minigrad import nn, tensor
        >>> x, kernel = tensor([[[1.0, 2.0, 4.0]]]), tensor([[[-1.0, 1.0]]])
        >>> nn.functional.conv1d(x, kernel).tolist()
        [[[1.0, 2.0]]]
    """
    return convolved("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@framed
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Border = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Apply a 2-D convolution: a cross-correlation with each kernel, summed over the channels.

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        weight: The kernels, of shape (O, C / groups, K, K').
        bias: Shape (O,), or None.
        stride: The step of the kernel, one int or one per axis.
        padding: The number of zeros added on each side, likewise; "same" keeps the size, "valid"
            adds none.
        dilation: The distance between the pixels that a kernel reads, likewise.
        groups: The number of groups of channels, each with its own kernels.

    Returns:
        Shape (N, O, P, P') with P = (H + 2 · padding - dilation · (K - 1) - 1) // stride + 1 and P'
        likewise, or (O, P, P').

    Raises:
        TypeError: Input and weight both hold bools.
        ValueError: The shapes do not fit, or the kernel does not fit into the input.

    Example:
        >>> from minigrad import nn, ones
        >>> x, kernel = ones((1, 1, 3, 3)), ones((1, 1, 2, 2))
        >>> nn.functional.conv2d(x, kernel, padding=1, stride=2).tolist()
        [[[[1.0, 2.0], [2.0, 4.0]]]]
    """
    return convolved("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@framed
def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Apply a 1-D transposed convolution: each element adds a multiple of the kernel to the output.

    Arguments, errors and sizes are those of `conv_transpose2d`, with one axis less: an input of
    shape (N, C, L) or (C, L), and kernels of shape (C, O / groups, K).

    Example:
        >>> from minigrad import nn, tensor
        >>> x, kernel = tensor([[[1.0, 10.0]]]), tensor([[[1.0, 2.0, 3.0]]])
        >>> nn.functional.conv_transpose1d(x, kernel, stride=2).tolist()
        [[[1.0, 2.0, 13.0, 20.0, 30.0]]]
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@framed
def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Apply a 2-D transposed convolution: each pixel adds a multiple of the kernel to the output.

    Args:
        input: Shape (N, C, H, W), or (C, H, W).
        weight: The kernels, of shape (C, O / groups, K, K').
        bias: Shape (O,), or None.
        stride: The step between kernels in the output, one int or one per axis.
        padding: The number of rows and columns removed on each side of the output.
        output_padding: The number of rows and columns added at the end; less than the stride or
            the dilation.
        groups: The number of groups of channels.
        dilation: The distance between the elements of a kernel in the output.

    Returns:
        Shape (N, O, P, P') with P = (H - 1) · stride - 2 · padding + dilation · (K - 1) +
        output_padding + 1 and P' likewise; without N if the input has none.

    Raises:
        TypeError: Input and weight both hold bools.
        ValueError: The shapes do not fit, or the output would be empty.

    Example:
        >>> from minigrad import nn, ones
        >>> x, kernel = ones((1, 1, 2, 2)), ones((1, 1, 2, 2))
        >>> nn.functional.conv_transpose2d(x, kernel).tolist()
        [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def convolution_window(
    owner: str, axes: int, kernel_size: Sizes, stride: Sizes, padding: Border, dilation: Sizes
) -> Window:
    """The window of a convolution, whose padding may be a word."""
    if not isinstance(padding, str):
        return window_of(owner, axes, kernel_size, stride, padding, dilation)
    if padding not in ("same", "valid"):
        raise value_error(f'{owner}: padding must be a number, "same" or "valid", got {padding!r}')
    window = window_of(owner, axes, kernel_size, stride, 0, dilation)
    if padding == "valid":
        return window
    if any(step != 1 for step in window.stride):
        raise value_error(f'{owner}: padding="same" needs a stride of 1, got {window.stride}')
    more = [span - 1 for span in window.spans]
    return window._replace(padding=tuple((total // 2, total - total // 2) for total in more))


def convolved(
    owner: str, axes: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes,
    padding: Border, dilation: Sizes, groups: int, padding_mode: PaddingMode = "zeros",
) -> Tensor:  # fmt: skip
    """The convolution of a batch or of one sample."""
    _check_weight(owner, axes, input, weight)
    window = convolution_window(owner, axes, tuple(weight.shape[2:]), stride, padding, dilation)
    parts = check_size(owner, "groups", groups)

    def convolved_batch(x: Tensor) -> Tensor:
        inner = window
        if padding_mode != "zeros":
            x = ops.pad(x, ((0, 0), (0, 0), *window.padding), MODES[padding_mode])
            inner = window._replace(padding=((0, 0),) * axes)
        return ops.convolution(x, weight, bias, inner, parts)

    return over_a_batch(owner, axes, input, convolved_batch)


def _transposed(
    axes: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes,
    output_padding: Sizes, groups: int, dilation: Sizes,
) -> Tensor:  # fmt: skip
    owner = f"conv_transpose{axes}d"
    _check_weight(owner, axes, input, weight)
    window = window_of(owner, axes, weight.shape[2:], stride, padding, dilation)
    extra = check_sizes(owner, "output_padding", output_padding, axes, least=0)
    parts = check_size(owner, "groups", groups)
    strides, gaps = window.stride, window.dilation
    if any(more >= max(steps) for more, *steps in zip(extra, strides, gaps, strict=True)):
        limits = f"stride {strides} or dilation {gaps}"
        raise value_error(f"{owner}: output_padding {extra} is not below {limits}")

    # Zeros behind the input make room for output padding of the stride or more.
    behind = [(0, more // step) for more, step in zip(extra, strides, strict=True)]
    widths = tuple(width for width, _ in window.padding)

    def transposed(x: Tensor) -> Tensor:
        least = size_of_input(window, x.shape[2:])
        size = tuple(n + more for n, more in zip(least, extra, strict=True))
        wanted = f"an output of sizes above 0, not {size} with padding {widths},"
        refuse_shapes(min(size) < 1, owner, wanted, x)
        if any(map(any, behind)):
            x = ops.pad(x, ((0, 0), (0, 0), *behind))
        out = ops.convolution_transpose(x, weight, size, window, parts)
        return out if bias is None else out + bias.reshape(-1, *(1,) * axes)

    return over_a_batch(owner, axes, input, transposed)


def _check_weight(owner: str, axes: int, input: Tensor, weight: Tensor) -> None:
    refuse_shapes(weight.ndim != axes + 2, owner, f"a weight with {axes + 2} axes", weight)
    bools = input.dtype.kind == weight.dtype.kind == "b"
    refuse_dtypes(bools, owner, "an input and a weight of numbers", input, weight)


PadMode = Literal["constant", "reflect", "replicate", "circular"]

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""PyTorch's modes that repeat elements, and NumPy's."""


@framed
def pad(
    input: Tensor, pad: Sequence[int], mode: PadMode = "constant", value: float | None = None
) -> Tensor:
    """Put a border around the last axes, the last one first; `minigrad.pad` has NumPy's arguments.

    Args:
        input: A tensor with at least as many axes as are padded.
        pad: The widths (left, right), then (top, bottom) and so on: two for each axis, the last
            axis first. A negative width removes elements.
        mode: "constant", "reflect" without and "replicate" with the edge, or "circular".
        value: The constant, 0 by default.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pad(tensor([[1.0, 2.0, 3.0]]), (2, 1), "reflect").tolist()
        [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]
    """
    widths = _widths(pad, input.shape)
    check_choice("pad", "mode", mode, ("constant", *MODES))
    removed = [(max(-before, 0), max(-after, 0)) for before, after in widths]
    widths = [(max(before, 0), max(after, 0)) for before, after in widths]
    if mode in ("constant", "circular"):
        input, removed = _without(input, removed), []
    if mode != "constant":
        if value:
            raise value_error(f'pad: a value is for mode="constant", got mode={mode!r}')
        for n, pair in zip(input.shape, widths, strict=True):
            most = {"reflect": n - 1, "circular": n}.get(mode, max(pair))
            if max(pair) > most and any(pair):
                what = f"cannot pad an axis of {n} elements by {pair}"
                raise value_error(f"pad: {mode=} {what}: widths from 0 to {max(most, 0)} expected")
        return _without(ops.pad(input, widths, MODES[mode]), removed)
    return ops.pad(input, widths, constant_values=0 if value is None else value)


def _without(x: Tensor, removed: list[tuple[int, int]]) -> Tensor:
    """The tensor without so many elements at the two ends of each axis."""
    if not any(map(any, removed)):
        return x
    ends = [(before, n - after) for n, (before, after) in zip(x.shape, removed, strict=True)]
    refuse_shapes(any(a > b for a, b in ends), "pad", f"more elements than {removed}", x)
    return x[tuple(slice(*end) for end in ends)]


def _widths(pad: Sequence[int], shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """A pair (before, after) for each axis, the first axis first."""
    flat = list(pad) if isinstance(pad, Sequence) else [None]
    if not all(hasattr(width, "__index__") and not isinstance(width, bool) for width in flat):
        wanted = "ints (left, right, top, bottom, ...) expected, the last axis first"
        remedy = "minigrad.pad takes pairs, the first axis first"
        raise type_error(f"pad: {wanted}, got {pad!r}; {remedy}")
    if len(flat) % 2 or len(flat) > 2 * len(shape):
        raise value_error(f"pad: two widths each for up to {len(shape)} axes expected, got {pad!r}")
    pairs = [(int(flat[i]), int(flat[i + 1])) for i in range(0, len(flat), 2)]
    return [(0, 0)] * (len(shape) - len(pairs)) + pairs[::-1]
