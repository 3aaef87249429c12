"""1-D and 2-D max and average pooling, by window or to a given output size."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad._checks import check_sizes
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.functional.convolution import Sizes
from minigrad.nn.functional.pooling import parts_per_axis
from minigrad.nn.module.base import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d",
]  # fmt: skip


class _Windows(Module):
    """The options that all poolings by window share."""

    axes: int
    repr_fields = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None, padding: Sizes) -> None:
        super().__init__()
        owner = type(self).__name__
        check_sizes(owner, "kernel_size", kernel_size, self.axes)
        check_sizes(owner, "padding", padding, self.axes, least=0)
        if stride is not None:
            check_sizes(owner, "stride", stride, self.axes)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding


class _MaxPool(_Windows):
    """Max pooling along `axes` axes."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        *,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        check_sizes(type(self).__name__, "dilation", dilation, self.axes)
        self.dilation = dilation
        self.ceil_mode = ceil_mode

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the pooling.

        Args:
            input_: A tensor of shape (N, C, ...), or (C, ...).

        Returns:
            A tensor with as many axes, the last of them shorter.
        """
        pool = F.max_pool1d if self.axes == 1 else F.max_pool2d
        return pool(
            input_, self.kernel_size, self.stride, self.padding, self.dilation,
            ceil_mode=self.ceil_mode,
        )  # fmt: skip


class MaxPool1d(_MaxPool):
    """Apply 1-D max pooling: see `functional.max_pool1d`.

    Args:
        kernel_size: The length of the window.
        stride: The step of the window, kernel_size by default.
        padding: The number of elements of -∞ added at both ends; at most half a window.
        dilation: The distance between the elements of a window.
        ceil_mode: Whether to round the output length up, with a last partial window.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MaxPool1d(2)(tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
        [[[3.0, 2.0]]]
    """

    axes = 1


class MaxPool2d(_MaxPool):
    """Apply 2-D max pooling: see `functional.max_pool2d`.

    Args:
        kernel_size: The size of the window; options take one int for both axes, or one per axis.
        stride: The step of the window, kernel_size by default.
        padding: The number of rows and columns of -∞ added on each side; at most half a window.
        dilation: The distance between the pixels of a window.
        ceil_mode: Whether to round the output size up, with last partial windows.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.MaxPool2d(2)(ones((2, 8, 28, 28))).shape
        (2, 8, 14, 14)
    """

    axes = 2


class _AvgPool(_Windows):
    """Average pooling along `axes` axes."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the pooling.

        Args:
            input_: A tensor of shape (N, C, ...), or (C, ...).

        Returns:
            A tensor with as many axes, the last of them shorter.
        """
        pool = F.avg_pool1d if self.axes == 1 else F.avg_pool2d
        return pool(
            input_, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class AvgPool1d(_AvgPool):
    """Apply 1-D average pooling: see `functional.avg_pool1d`.

    Args:
        kernel_size: The length of the window.
        stride: The step of the window, kernel_size by default.
        padding: The number of zeros added at both ends; at most half a window.
        ceil_mode: Whether to round the output length up, with a last partial window.
        count_include_pad: Whether the zeros count in the mean.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.AvgPool1d(2)(tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
        [[[2.0, 1.0]]]
    """

    axes = 1


class AvgPool2d(_AvgPool):
    """Apply 2-D average pooling: see `functional.avg_pool2d`.

    Args:
        kernel_size: The size of the window; options take one int for both axes, or one per axis.
        stride: The step of the window, kernel_size by default.
        padding: The number of zeros added on each side; at most half a window.
        ceil_mode: Whether to round the output size up, with last partial windows.
        count_include_pad: Whether the zeros count in the mean.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.AvgPool2d(2)(ones((2, 8, 28, 28))).shape
        (2, 8, 14, 14)
    """

    axes = 2


class _Adaptive1d(Module):
    """1-D pooling to a given output length."""

    repr_fields = ("output_size",)

    def __init__(self, output_size: int) -> None:
        super().__init__()
        parts_per_axis(type(self).__name__, 1, output_size)
        self.output_size = output_size


class _Adaptive2d(Module):
    """2-D pooling to a given output size."""

    repr_fields = ("output_size",)

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        parts_per_axis(type(self).__name__, 2, output_size)
        self.output_size = output_size


class AdaptiveAvgPool1d(_Adaptive1d):
    """Apply 1-D average pooling to a given output length: see `functional.adaptive_avg_pool1d`.

    Args:
        output_size: The output length.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.AdaptiveAvgPool1d(2)(tensor([[[1.0, 3.0, 5.0]]])).tolist()
        [[[2.0, 4.0]]]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, L) to (N, C, output_size), or the same without N."""
        return F.adaptive_avg_pool1d(input_, self.output_size)


class AdaptiveAvgPool2d(_Adaptive2d):
    """Apply 2-D average pooling to a given output size: see `functional.adaptive_avg_pool2d`.

    Args:
        output_size: The output size, one int for both axes or one per axis; None keeps an axis.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.AdaptiveAvgPool2d(1)(ones((2, 8, 5, 7))).shape
        (2, 8, 1, 1)
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, H, W) to (N, C, P, P'), or the same without N."""
        return F.adaptive_avg_pool2d(input_, self.output_size)


class AdaptiveMaxPool1d(_Adaptive1d):
    """Apply 1-D max pooling to a given output length: see `functional.adaptive_max_pool1d`.

    Args:
        output_size: The output length.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.AdaptiveMaxPool1d(2)(tensor([[[1.0, 3.0, 5.0]]])).tolist()
        [[[3.0, 5.0]]]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, L) to (N, C, output_size), or the same without N."""
        return F.adaptive_max_pool1d(input_, self.output_size)


class AdaptiveMaxPool2d(_Adaptive2d):
    """Apply 2-D max pooling to a given output size: see `functional.adaptive_max_pool2d`.

    Args:
        output_size: The output size, one int for both axes or one per axis; None keeps an axis.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.AdaptiveMaxPool2d((2, None))(ones((2, 8, 5, 7))).shape
        (2, 8, 2, 7)
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, H, W) to (N, C, P, P'), or the same without N."""
        return F.adaptive_max_pool2d(input_, self.output_size)
