"""Unpooling: what max pooling has chosen, put back where it was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, value_error
from minigrad.nn.functional.convolution import Sizes
from minigrad.nn.functional.framing import framed
from minigrad.support.checks import check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = ["max_unpool1d", "max_unpool2d"]


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
    kernel = check_sizes(owner, "kernel_size", kernel_size, axes)
    strides = kernel if stride is None else check_sizes(owner, "stride", stride, axes)
    widths = check_sizes(owner, "padding", padding, axes, least=0)
    refuse_shapes(
        input.ndim not in (axes + 1, axes + 2) or np.shape(indices) != input.shape, owner,
        f"an input with {axes + 1} or {axes + 2} axes and indices of its shape", input, indices,
    )  # fmt: skip
    *leading, sizes = *input.shape[:-axes], input.shape[-axes:]
    usual = tuple(
        (count - 1) * step - 2 * width + size
        for count, step, width, size in zip(sizes, strides, widths, kernel, strict=True)
    )
    target = usual if output_size is None else tuple(output_size)[-axes:]
    if len(target) != axes or any(
        abs(n - m) >= step for n, m, step in zip(target, usual, strides, strict=True)
    ):
        raise value_error(
            f"{owner}: an output_size of {usual}, with less than a stride of {strides} more or "
            f"less, expected, got {output_size}"
        )
    zeros = np.zeros((*leading, math.prod(target)), input.dtype)
    rows = (*leading, math.prod(sizes))
    places = ops.reshape(indices, rows)
    return ops.scatter(zeros, -1, places, input.reshape(rows)).reshape(*leading, *target)
