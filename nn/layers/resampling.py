"""Layers that resize, pad, or rearrange images: Upsample, PixelShuffle, padding, Unfold, Fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from minigrad._checks import check_size, check_sizes
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.functional.convolution import Sizes
from minigrad.nn.functional.padding import PadMode
from minigrad.nn.functional.resampling import Scale, check_interpolation
from minigrad.nn.module.base import Module

__all__ = ["Fold", "PixelShuffle", "ReflectionPad2d", "Unfold", "Upsample", "ZeroPad2d"]


class Upsample(Module):
    """Resize sequences (N, C, L) or images (N, C, H, W): see `functional.interpolate`.

    Args:
        size: The output size, one int or one per axis.
        scale_factor: Instead of `size`: the output size is floor(factor · size).
        mode: "nearest", "nearest-exact", "linear", "bilinear" or "area".
        align_corners: For the linear modes: whether the centres of the corner elements coincide.
        recompute_scale_factor: Whether `scale_factor` gives the output size only.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Upsample(scale_factor=2, mode="bilinear")(ones((1, 3, 4, 5))).shape
        (1, 3, 8, 10)
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: Scale | None = None,
        mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "area"] = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        check_interpolation("Upsample", size, scale_factor, mode, align_corners)
        if size is not None:
            check_sizes("Upsample", "size", size, len(size) if isinstance(size, Sequence) else 1)
        self.size = size
        self.scale_factor = scale_factor
        self.mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "area"] = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input_: Tensor) -> Tensor:
        """Resize the last axes of an input of shape (N, C, L) or (N, C, H, W)."""
        return F.interpolate(
            input_, self.size, self.scale_factor, self.mode, self.align_corners,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)}, mode={self.mode!r}"


class PixelShuffle(Module):
    """Rearrange channels into pixels, (..., C·r², H, W) to (..., C, H·r, W·r).

    Source: Shi et al., "Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network", 2016.

    Args:
        upscale_factor: r.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.PixelShuffle(2)(ones((1, 8, 3, 4))).shape
        (1, 2, 6, 8)
    """

    repr_fields = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_size("PixelShuffle", "upscale_factor", upscale_factor)

    def forward(self, input_: Tensor) -> Tensor:
        """Rearrange an input of shape (..., C·r², H, W)."""
        return F.pixel_shuffle(input_, self.upscale_factor)


class _Pad2d(Module):
    """A border around the last two axes."""

    mode: PadMode

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        owner = type(self).__name__
        least = 0 if self.mode != "constant" else -(2**31)
        self.padding = check_sizes(owner, "padding", padding, 4, least)

    def forward(self, input_: Tensor) -> Tensor:
        """Pad an input of shape (..., H, W)."""
        return F.pad(input_, self.padding, self.mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad2d(_Pad2d):
    """Put zeros around images (..., H, W).

    Args:
        padding: The width, or (left, right, top, bottom); a negative one removes pixels.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ZeroPad2d((1, 0, 0, 0))(ones((1, 2, 2))).tolist()
        [[[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]]
    """

    mode = "constant"


class ReflectionPad2d(_Pad2d):
    """Put a reflection, without the edge, around images (..., H, W).

    Args:
        padding: The width, or (left, right, top, bottom); each less than the size of its axis.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReflectionPad2d((2, 0, 0, 0))(tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 2.0, 1.0, 2.0, 3.0]]]
    """

    mode = "reflect"


class Unfold(Module):
    """Put the windows of images into columns (im2col): see `functional.unfold`.

    Args:
        kernel_size: The size of a window; options take one int for both axes, or one per axis.
        dilation: The distance between the pixels of a window.
        padding: The number of zeros added on each side.
        stride: The distance between neighbouring windows.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Unfold(2)(ones((1, 3, 4, 5))).shape
        (1, 12, 12)
    """

    repr_fields: ClassVar[tuple[str, ...]] = ("kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.kernel_size = check_sizes(owner, "kernel_size", kernel_size, 2)
        self.dilation = check_sizes(owner, "dilation", dilation, 2)
        self.padding = check_sizes(owner, "padding", padding, 2, least=0)
        self.stride = check_sizes(owner, "stride", stride, 2)

    def forward(self, input_: Tensor) -> Tensor:
        """Unfold an input of shape (N, C, H, W) or (C, H, W)."""
        return F.unfold(input_, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Unfold):
    """Add columns up to images (col2im), the transpose of `Unfold`: see `functional.fold`.

    Args:
        output_size: The size of the image, one int for both axes, or one per axis.
        kernel_size: The size of a window, likewise.
        dilation: The distance between the pixels of a window.
        padding: The number of pixels removed from each side of the image.
        stride: The distance between neighbouring windows.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Fold((4, 5), 2)(ones((1, 12, 12))).shape
        (1, 3, 4, 5)
    """

    repr_fields = ("output_size", *Unfold.repr_fields)

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = check_sizes("Fold", "output_size", output_size, 2)

    def forward(self, input_: Tensor) -> Tensor:
        """Fold an input of shape (N, C·K·K', L) or (C·K·K', L)."""
        return F.fold(
            input_, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )
