"""Layers that resize or rearrange images: Upsample, PixelShuffle, Unfold, Fold.

The functions of the same names explain the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.nn import functional as F
from minigrad.nn.functional.convolution import Sizes
from minigrad.nn.functional.resampling import Mode, Scale
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of

__all__ = [
    "ChannelShuffle", "Fold", "PixelShuffle", "PixelUnshuffle", "Unfold", "Upsample",
    "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip


@layer_of(F.interpolate)
class Upsample(UnaryLayer):
    """Resized sequences (N, C, L) or images (N, C, H, W): see `functional.interpolate`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Upsample(scale_factor=2, mode="bilinear")(ones((1, 3, 4, 5))).shape
        minigrad.Size([1, 3, 8, 10])
    """

    size: int | Sequence[int] | None = None
    scale_factor: Scale | None = None
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
    """`Upsample` of images by the nearest pixel.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.UpsamplingNearest2d(scale_factor=2)(ones((1, 3, 4, 5))).shape
        minigrad.Size([1, 3, 8, 10])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images, bilinear with aligned corners.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.UpsamplingBilinear2d(scale_factor=2)(ones((1, 3, 4, 5))).shape
        minigrad.Size([1, 3, 8, 10])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None
    ) -> None:
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

    Example:
        >>> from minigrad import nn, ones
        >>> nn.PixelUnshuffle(2)(ones((1, 2, 6, 8))).shape
        minigrad.Size([1, 8, 3, 4])
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
    """The sum of columns to images (col2im), the transpose of `Unfold`: see `functional.fold`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Fold((4, 5), 2)(ones((1, 12, 12))).shape
        minigrad.Size([1, 3, 4, 5])
    """

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
