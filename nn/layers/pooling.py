"""1-D and 2-D max and average pooling, by window or to a given output size.

The functions of the same names explain the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from minigrad.nn import functional as F
from minigrad.nn.functional.pooling import NewSize
from minigrad.nn.functional.windows import Sizes, stride_of
from minigrad.nn.layers.function_layer import FunctionLayer, UnaryLayer, layer_of
from minigrad.support.checks import check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AvgPool1d", "AvgPool2d", "LPPool1d", "LPPool2d", "MaxPool1d", "MaxPool2d", "MaxUnpool1d",
    "MaxUnpool2d",
]  # fmt: skip


class _Windows(FunctionLayer):
    """A pooling by windows, whose stride is by default the size of the window."""

    axes: ClassVar[int]
    repr_fields: ClassVar[tuple[str, ...]] = ("kernel_size", "stride", "padding")
    kernel_size: Sizes
    stride: Sizes | None

    def __post_init__(self) -> None:
        self.stride = stride_of(self.stride, self.kernel_size)


class _TuplesOfSizes(_Windows):
    """A pooling whose sizes are tuples, as in PyTorch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        for name in self.repr_fields:
            setattr(self, name, check_sizes(owner, name, getattr(self, name), self.axes, 0))


@layer_of(F.max_pool2d)
class _MaxPoolNd(_Windows, UnaryLayer):
    """Max pooling along `axes` axes."""

    repr_fields = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    dilation: Sizes = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool1d(_MaxPoolNd):
    """1-D max pooling: see `functional.max_pool1d`."""

    axes = 1
    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """2-D max pooling: see `functional.max_pool2d`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.MaxPool2d(2)(ones((2, 8, 28, 28))).shape
        minigrad.Size([2, 8, 14, 14])
    """

    axes = 2


@layer_of(F.max_unpool2d)
class _MaxUnpoolNd(_TuplesOfSizes):
    """Unpooling along `axes` axes."""

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Put the elements of `input` where `indices` point, into an output of `output_size`."""
        return self._result(input, indices, output_size=output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of `MaxPool1d`, as far as there is one: see `functional.max_unpool1d`."""

    axes = 1
    function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of `MaxPool2d`, as far as there is one: see `functional.max_unpool2d`.

    Example:
        >>> from minigrad import nn, ones
        >>> pool, unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
        >>> unpool(*pool(ones((2, 8, 28, 28)))).shape
        minigrad.Size([2, 8, 28, 28])
    """

    axes = 2


@layer_of(F.avg_pool1d)
class _AvgPoolNd(_Windows, UnaryLayer):
    """Average pooling along `axes` axes."""

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    ceil_mode: bool = False
    count_include_pad: bool = True


class AvgPool1d(_TuplesOfSizes, _AvgPoolNd):
    """1-D average pooling: see `functional.avg_pool1d`."""

    axes = 1


@layer_of(F.avg_pool2d)
class AvgPool2d(_AvgPoolNd):
    """2-D average pooling: see `functional.avg_pool2d`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.AvgPool2d(2)(ones((2, 8, 28, 28))).shape
        minigrad.Size([2, 8, 14, 14])
    """

    axes = 2
    divisor_override: int | None = None


@layer_of(F.lp_pool2d)
class _LPPoolNd(UnaryLayer):
    """The p-norms of windows."""

    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None = None
    ceil_mode: bool = False


class LPPool1d(_LPPoolNd):
    """The p-norms of the windows of sequences: see `functional.lp_pool1d`."""

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The p-norms of the windows of images: see `functional.lp_pool2d`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.LPPool2d(1, 2)(ones((1, 1, 2, 2))).tolist()
        [[[[4.0]]]]
    """


@layer_of(F.adaptive_avg_pool2d)
class _AdaptiveAvgPoolNd(UnaryLayer):
    """Average pooling to a given output size."""

    repr_fields = ("output_size",)
    output_size: NewSize


@layer_of(F.adaptive_max_pool2d)
class _AdaptiveMaxPoolNd(UnaryLayer):
    """Max pooling to a given output size."""

    repr_fields = ("output_size",)
    output_size: NewSize
    return_indices: bool = False


@layer_of(F.adaptive_avg_pool1d)
class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """1-D average pooling to a given output length: see `functional.adaptive_avg_pool1d`."""


@layer_of(F.adaptive_avg_pool2d)
class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """2-D average pooling to a given output size: see `functional.adaptive_avg_pool2d`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.AdaptiveAvgPool2d(1)(ones((2, 8, 5, 7))).shape
        minigrad.Size([2, 8, 1, 1])
    """


@layer_of(F.adaptive_max_pool1d)
class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """1-D max pooling to a given output length: see `functional.adaptive_max_pool1d`."""


@layer_of(F.adaptive_max_pool2d)
class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """2-D max pooling to a given output size: see `functional.adaptive_max_pool2d`."""
