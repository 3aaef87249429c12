"""Pooling along one axis and two: the largest element of each window, or the mean."""

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
    """What all poolings have: windows, and how far apart they are."""

    axes: int

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

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _MaxPool(_Windows):
    """The largest element of each window along any number of axes."""

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
        """Pool.

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
    """The largest element of each window along an axis: see `functional.max_pool1d`.

    Args:
        kernel_size: How many elements a window has.
        stride: How far apart neighbouring windows are; as far as they are long by default.
        padding: How far windows may reach over the ends; at most half a window.
        dilation: How far apart the elements of a window are.
        ceil_mode: Whether a last window is added for elements that no other reaches.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.MaxPool1d(2)(minigrad.tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
        [[[3.0, 2.0]]]
    """

    axes = 1


class MaxPool2d(_MaxPool):
    """The largest pixel of each window of an image: see `functional.max_pool2d`.

    Args:
        kernel_size: The sizes of a window; one number stands for both, here and below.
        stride: How far apart neighbouring windows are; as far as they are long by default.
        padding: How far windows may reach over the edges; at most half a window.
        dilation: How far apart the pixels of a window are.
        ceil_mode: Whether last windows are added for pixels that no other reaches.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.MaxPool2d(2)(minigrad.ones((2, 8, 28, 28))).shape
        (2, 8, 14, 14)
    """

    axes = 2


class _AvgPool(_Windows):
    """The mean of each window along any number of axes."""

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
        """Pool.

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
    """The mean of each window along an axis: see `functional.avg_pool1d`.

    Args:
        kernel_size: How many elements a window has.
        stride: How far apart neighbouring windows are; as far as they are long by default.
        padding: How many zeros are put at both ends; at most half a window.
        ceil_mode: Whether a last window is added for elements that no other reaches.
        count_include_pad: Whether these zeros count as elements.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.AvgPool1d(2)(minigrad.tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
        [[[2.0, 1.0]]]
    """

    axes = 1


class AvgPool2d(_AvgPool):
    """The mean of each window of an image: see `functional.avg_pool2d`.

    Args:
        kernel_size: The sizes of a window; one number stands for both, here and below.
        stride: How far apart neighbouring windows are; as far as they are long by default.
        padding: How many zeros are put around; at most half a window.
        ceil_mode: Whether last windows are added for pixels that no other reaches.
        count_include_pad: Whether these zeros count as pixels.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.AvgPool2d(2)(minigrad.ones((2, 8, 28, 28))).shape
        (2, 8, 14, 14)
    """

    axes = 2


class _Adaptive1d(Module):
    """Pooling of an axis to a given size."""

    def __init__(self, output_size: int) -> None:
        super().__init__()
        parts_per_axis(type(self).__name__, 1, output_size)
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _Adaptive2d(Module):
    """Pooling of images to a given size."""

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        parts_per_axis(type(self).__name__, 2, output_size)
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive1d):
    """The means of so many parts of an axis: see `functional.adaptive_avg_pool1d`.

    Args:
        output_size: How many parts.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.AdaptiveAvgPool1d(2)(minigrad.tensor([[[1.0, 3.0, 5.0]]])).tolist()
        [[[2.0, 4.0]]]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, L) to (N, C, output_size), or the same without N."""
        return F.adaptive_avg_pool1d(input_, self.output_size)


class AdaptiveAvgPool2d(_Adaptive2d):
    """The means of so many parts of an image: see `functional.adaptive_avg_pool2d`.

    Args:
        output_size: How many parts along each axis, None for as many as there are pixels; one
            number stands for both.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.AdaptiveAvgPool2d(1)(minigrad.ones((2, 8, 5, 7))).shape
        (2, 8, 1, 1)
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, H, W) to (N, C, P, P'), or the same without N."""
        return F.adaptive_avg_pool2d(input_, self.output_size)


class AdaptiveMaxPool1d(_Adaptive1d):
    """The largest elements of so many parts of an axis: see `functional.adaptive_max_pool1d`.

    Args:
        output_size: How many parts.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.AdaptiveMaxPool1d(2)(minigrad.tensor([[[1.0, 3.0, 5.0]]])).tolist()
        [[[3.0, 5.0]]]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, L) to (N, C, output_size), or the same without N."""
        return F.adaptive_max_pool1d(input_, self.output_size)


class AdaptiveMaxPool2d(_Adaptive2d):
    """The largest pixels of so many parts of an image: see `functional.adaptive_max_pool2d`.

    Args:
        output_size: How many parts along each axis, None for as many as there are pixels; one
            number stands for both.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.AdaptiveMaxPool2d((2, None))(minigrad.ones((2, 8, 5, 7))).shape
        (2, 8, 2, 7)
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Pool (N, C, H, W) to (N, C, P, P'), or the same without N."""
        return F.adaptive_max_pool2d(input_, self.output_size)
