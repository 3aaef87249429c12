"""Layers that resize, pad or rearrange: Upsample, PixelShuffle, Unfold, Fold, the paddings.

The functions of the same names explain the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from minigrad.nn import functional as F
from minigrad.nn.functional.convolution import PadMode
from minigrad.nn.functional.resampling import Mode, Scale, Size
from minigrad.nn.functional.windows import Sizes
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "ChannelShuffle", "CircularPad1d", "CircularPad2d", "ConstantPad1d", "ConstantPad2d", "Fold",
    "PixelShuffle", "PixelUnshuffle", "ReflectionPad1d", "ReflectionPad2d", "ReplicationPad1d",
    "ReplicationPad2d", "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
    "ZeroPad1d", "ZeroPad2d",
]  # fmt: skip


@layer_of(F.interpolate)
class Upsample(UnaryLayer):
    """Resized sequences (N, C, L) or images (N, C, H, W): see `functional.interpolate`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Upsample(scale_factor=2, mode="bilinear")(ones((1, 3, 4, 5))).shape
        minigrad.Size([1, 3, 8, 10])
    """

    size: Size = None
    scale_factor: Scale = None
    mode: Mode = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        scale = self.scale_factor
        if isinstance(scale, Sequence):
            self.scale_factor = tuple(map(float, scale))
        elif scale is not None:
            self.scale_factor = float(scale)

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images by the nearest pixel."""

    def __init__(self, size: Size = None, scale_factor: Scale = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images, bilinear with aligned corners."""

    def __init__(self, size: Size = None, scale_factor: Scale = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


@layer_of(F.pixel_shuffle)
class PixelShuffle(UnaryLayer):
    """Channels rearranged into pixels, (..., C·r², H, W) to (..., C, H·r, W·r).

    r is `upscale_factor`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.PixelShuffle(2)(ones((1, 8, 3, 4))).shape
        minigrad.Size([1, 2, 6, 8])
    """

    upscale_factor: int


@layer_of(F.pixel_unshuffle)
class PixelUnshuffle(UnaryLayer):
    """Pixels rearranged into channels, the inverse of `PixelShuffle`; r is `downscale_factor`.

    See `functional.pixel_unshuffle`.
    """

    downscale_factor: int


@layer_of(F.channel_shuffle)
class ChannelShuffle(UnaryLayer):
    """Channels of several groups in turns: see `functional.channel_shuffle`.

    Source: Zhang et al., "ShuffleNet", 2018.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1)
        >>> nn.ChannelShuffle(2)(x)[0, :, 0].tolist()
        [1.0, 3.0, 2.0, 4.0]
    """

    groups: int


@layer_of(F.unfold)
class Unfold(UnaryLayer):
    """The windows of images as columns (im2col): see `functional.unfold`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Unfold(2)(ones((1, 3, 4, 5))).shape
        minigrad.Size([1, 12, 12])
    """

    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


@layer_of(F.fold)
class Fold(UnaryLayer):
    """The sum of columns to images (col2im), the transpose of `Unfold`: see `functional.fold`."""

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


class _Pad(Module):
    """A border around the last `axes` axes."""

    axes: ClassVar[int]
    mode: ClassVar[PadMode]
    repr_sizes: ClassVar[tuple[str, ...]] = ("padding",)
    value: float | None = None

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        least = 0 if self.mode != "constant" else -(2**31)
        self.padding = check_sizes(type(self).__name__, "padding", padding, 2 * self.axes, least)

    def forward(self, input: Tensor) -> Tensor:
        """Pad an input of shape (..., L) or (..., H, W)."""
        return F.pad(input, self.padding, self.mode, self.value)


class _ConstantPad(_Pad):
    mode = "constant"
    repr_sizes, repr_fields = (), ("padding", "value")

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value


class ConstantPad1d(_ConstantPad):
    """Padding of sequences (..., L) with a constant.

    Args:
        padding: The width, or (left, right); a negative one removes elements.
        value: The constant.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConstantPad1d((1, 2), 5.0)(ones((1, 2))).tolist()
        [[5.0, 1.0, 1.0, 5.0, 5.0]]
    """

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Padding of images (..., H, W) with a constant, as `ConstantPad1d`.

    Args:
        padding: The width, or (left, right, top, bottom); a negative one removes pixels.
        value: The constant.
    """

    axes = 2


class ZeroPad1d(_Pad):
    """Padding of sequences (..., L) with zeros, as `ZeroPad2d`.

    Args:
        padding: The width, or (left, right); a negative one removes elements.
    """

    axes, mode = 1, "constant"


class ZeroPad2d(_Pad):
    """Padding of images (..., H, W) with zeros.

    Args:
        padding: The width, or (left, right, top, bottom); a negative one removes pixels.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ZeroPad2d((1, 0, 0, 0))(ones((1, 2, 2))).tolist()
        [[[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]]
    """

    axes, mode = 2, "constant"


class ReflectionPad1d(_Pad):
    """Padding of sequences (..., L) with their reflection, as `ReflectionPad2d`.

    Args:
        padding: The width, or (left, right); each less than L.
    """

    axes, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding of images (..., H, W) with their reflection, without the edge.

    Args:
        padding: The width, or (left, right, top, bottom); each less than the size of its axis.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReflectionPad2d((2, 0, 0, 0))(tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 2.0, 1.0, 2.0, 3.0]]]
    """

    axes, mode = 2, "reflect"


class ReplicationPad1d(_Pad):
    """Padding of sequences (..., L) with their first and last element.

    Args:
        padding: The width, or (left, right).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReplicationPad1d((2, 1))(tensor([[1.0, 2.0]])).tolist()
        [[1.0, 1.0, 1.0, 2.0, 2.0]]
    """

    axes, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding of images (..., H, W) with their edges, as `ReplicationPad1d`.

    Args:
        padding: The width, or (left, right, top, bottom).
    """

    axes, mode = 2, "replicate"


class CircularPad1d(_Pad):
    """Circular padding: elements of the other side before and after sequences (..., L).

    Args:
        padding: The width, or (left, right); each at most L.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.CircularPad1d((2, 1))(tensor([[1.0, 2.0, 3.0]])).tolist()
        [[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]]
    """

    axes, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Circular padding of images (..., H, W), as `CircularPad1d`.

    Args:
        padding: The width, or (left, right, top, bottom); each at most the size of its axis.
    """

    axes, mode = 2, "circular"
