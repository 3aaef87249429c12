"""Layers that resize or rearrange images: Upsample, PixelShuffle, Unfold, Fold.

The functions of the same names explain the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.nn import functional as F
from minigrad.nn.functional.convolution import Sizes
from minigrad.nn.functional.resampling import Mode, Scale, check_interpolation
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of
from minigrad.nn.module.argument_checks import Count
from minigrad.support.checks import check_sizes

__all__ = ["Fold", "PixelShuffle", "Unfold", "Upsample"]


@layer_of(F.interpolate)
class Upsample(UnaryLayer):
    """Resized sequences (N, C, L) or images (N, C, H, W): see `functional.interpolate`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Upsample(scale_factor=2, mode="bilinear")(ones((1, 3, 4, 5))).shape
        (1, 3, 8, 10)
    """

    size: int | Sequence[int] | None = None
    scale_factor: Scale | None = None
    mode: Mode = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def _check(self) -> None:
        size = self.size
        check_interpolation("Upsample", size, self.scale_factor, self.mode, self.align_corners)
        if size is not None:
            check_sizes("Upsample", "size", size, len(size) if isinstance(size, Sequence) else 1)

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)}, mode={self.mode!r}"


@layer_of(F.pixel_shuffle)
class PixelShuffle(UnaryLayer):
    """Channels rearranged into pixels, (..., C·r², H, W) to (..., C, H·r, W·r).

    r is `upscale_factor`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.PixelShuffle(2)(ones((1, 8, 3, 4))).shape
        (1, 2, 6, 8)
    """

    upscale_factor: Count


class _Windows(UnaryLayer):
    """The checks that Unfold and Fold share."""

    def _check(self) -> None:
        for name in self.fields:
            least = 0 if name == "padding" else 1
            sizes = check_sizes(type(self).__name__, name, getattr(self, name), 2, least)
            setattr(self, name, sizes)


@layer_of(F.unfold)
class Unfold(_Windows):
    """The windows of images as columns (im2col): see `functional.unfold`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Unfold(2)(ones((1, 3, 4, 5))).shape
        (1, 12, 12)
    """

    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


@layer_of(F.fold)
class Fold(_Windows):
    """The sum of columns to images (col2im), the transpose of `Unfold`: see `functional.fold`.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Fold((4, 5), 2)(ones((1, 12, 12))).shape
        (1, 3, 4, 5)
    """

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
