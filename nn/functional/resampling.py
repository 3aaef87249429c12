"""Resampling: interpolation of the last axes to other sizes; pixels and channels rearranged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, type_error, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d
from minigrad.ops._numerics import widened
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import check_choice, check_number, check_size, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "channel_shuffle", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample",
    "upsample_bilinear", "upsample_nearest",
]  # fmt: skip

Mode = Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "area"]
Scale = float | Sequence[float]

_SMOOTH = {"linear": 1, "bilinear": 2, "bicubic": 2}
"""The modes that compute with several neighbours, and for how many axes each is."""


@framed
def interpolate(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None,
    mode: Mode = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Resize sequences (N, C, L) or images (N, C, H, W).

    Args:
        input: Shape (N, C, L) or (N, C, H, W).
        size: The output size, one int or one per axis.
        scale_factor: Instead of `size`: the output size is floor(factor · size).
        mode: "nearest", which rounds down, "nearest-exact", which takes the nearest centre,
            "linear" for sequences, "bilinear" or "bicubic" for images, or "area" for the mean of
            each part.
        align_corners: For "linear", "bilinear" and "bicubic": whether the centres of the corner
            elements coincide; otherwise their outer edges do, which is the default.
        recompute_scale_factor: Whether `scale_factor` gives the output size only, and the ratio
            of the sizes the places.
        antialias: False: smaller images are not smoothed.

    Raises:
        NotImplementedError: `antialias` is True.
        TypeError: A mode that computes with neighbours needs floating-point numbers.
        ValueError: The mode or the sizes do not fit the input.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[[1.0, 3.0]]])
        >>> nn.functional.interpolate(x, scale_factor=2).tolist()
        [[[1.0, 1.0, 3.0, 3.0]]]
        >>> nn.functional.interpolate(x, size=3, mode="linear", align_corners=True).tolist()
        [[[1.0, 2.0, 3.0]]]
    """
    if antialias:
        raise NotImplementedError("interpolate: antialias=True is not here: smooth before it")
    input = as_tensor(input)
    axes = input.ndim - 2
    check_interpolation("interpolate", size, scale_factor, mode, align_corners)
    smooth = mode in _SMOOTH
    shapes = {1: "(N, C, L)", 2: "(N, C, H, W)"}
    wanted = shapes.get(_SMOOTH.get(mode, 0), " or ".join(shapes.values()))
    wrong = axes not in (1, 2) or _SMOOTH.get(mode, axes) != axes
    wanted = f"an input of shape {wanted} for mode={mode!r}"
    refuse_shapes(wrong, "interpolate", wanted, input)
    if smooth and input.dtype.kind != "f":
        raise type_error(f"interpolate: mode={mode!r} needs floats, got {input.dtype.name}")
    refuse_shapes(0 in input.shape[2:], "interpolate", "elements to resize", input)
    sizes, factors = _target(input.shape[2:], size, scale_factor)
    if recompute_scale_factor:
        factors = (None,) * axes
    if mode == "area":
        return adaptive_avg_pool1d(input, sizes[0]) if axes == 1 else adaptive_avg_pool2d(
            input, sizes
        )  # fmt: skip
    x = widened(input) if smooth else input
    for axis in reversed(range(2, input.ndim)):  # the last one first, as PyTorch rounds
        n, count, factor = x.shape[axis], sizes[axis - 2], factors[axis - 2]
        if smooth and n == count:
            continue
        if smooth:
            places = _places(n, count, factor, bool(align_corners))
            x = _cubic(x, axis, places) if mode == "bicubic" else _between(x, axis, places)
            continue
        step = np.float32(1 / factor if factor else n / count)  # float32, as PyTorch does
        shift = np.float32(0.5 if mode == "nearest-exact" else 0.0)
        nearest = ((np.arange(count, dtype=np.float32) + shift) * step).astype(np.intp)
        x = _picked(x, axis, np.minimum(nearest, n - 1))
    return x.astype(input.dtype) if smooth and input.dtype == np.float16 else x


@framed
def upsample(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None,
    mode: Mode = "nearest", align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """Resize as `interpolate`, whose older name it is."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@framed
def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None
) -> Tensor:
    """Resize as `interpolate` with ``mode="nearest"``."""
    return interpolate(input, size, scale_factor)


@framed
def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None
) -> Tensor:
    """Resize images as `interpolate` with ``mode="bilinear", align_corners=True``."""
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def check_interpolation(
    owner: str, size: Any, scale_factor: Any, mode: str, align_corners: bool | None
) -> None:
    """Raise unless the options of an interpolation make sense together."""
    check_choice(owner, "mode", mode, ("nearest", "nearest-exact", *_SMOOTH, "area"))
    if (size is None) == (scale_factor is None):
        raise value_error(
            f"{owner}: one of size and scale_factor expected, got size={size!r} and "
            f"scale_factor={scale_factor!r}"
        )
    for factor in scale_factor if isinstance(scale_factor, Sequence) else [scale_factor]:
        if factor is not None:
            check_number(owner, "scale_factor", factor, above=0.0)
    if align_corners is not None and mode not in _SMOOTH:
        raise value_error(f"{owner}: align_corners is for {', '.join(_SMOOTH)}; got mode={mode!r}")


def _target(
    before: tuple[int, ...], size: int | Sequence[int] | None, scale_factor: Scale | None
) -> tuple[tuple[int, ...], Sequence[float | None]]:
    """The output size and the given factor of each axis."""
    owner, axes = "interpolate", len(before)
    if scale_factor is None:
        return check_sizes(owner, "size", size, axes), (None,) * axes
    factors = scale_factor if isinstance(scale_factor, Sequence) else (scale_factor,) * axes
    if len(factors) != axes:
        raise value_error(
            f"{owner}: scale_factor: a number or {axes} of them, not {scale_factor!r}"
        )
    sizes = tuple(int(n * factor) for n, factor in zip(before, factors, strict=True))
    if min(sizes) < 1:
        raise value_error(
            f"{owner}: scale_factor={scale_factor!r} leaves sizes {sizes} of {before}"
        )
    return sizes, factors


def _places(n: int, count: int, factor: float | None, align_corners: bool) -> np.ndarray:
    """Where the elements of the output lie in the input, as real numbers from 0."""
    places = np.arange(count, dtype=float)
    if align_corners:
        return places * ((n - 1) / (count - 1) if count > 1 else 0.0)
    return (places + 0.5) * (1 / factor if factor else n / count) - 0.5


def _between(x: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """Interpolate linearly between the two neighbours of each place."""
    n = x.shape[axis]
    places = np.maximum(places, 0.0)
    low = np.minimum(places.astype(np.intp), n - 1)
    share = _along(np.clip(places - low, 0.0, 1.0), x, axis)
    return (
        ops.take(x, low, axis) * (1 - share) + ops.take(x, np.minimum(low + 1, n - 1), axis) * share
    )


def _cubic(x: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """Interpolate with the four neighbours of each place; the edges are repeated.

    Source: Keys, "Cubic convolution interpolation for digital image processing", 1981, with
    a = -0.75.
    """
    first, a, out = np.floor(places), -0.75, None
    for shift in (-1, 0, 1, 2):
        d = np.abs(places - first - shift)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        found = np.clip(first + shift, 0, x.shape[axis] - 1).astype(np.intp)
        part = ops.take(x, found, axis) * _along(np.where(d <= 1, near, far), x, axis)
        out = part if out is None else out + part
    assert out is not None
    return out


def _along(shares: np.ndarray, x: Tensor, axis: int) -> np.ndarray:
    """Numbers along an axis of x, in its dtype."""
    return shares.astype(x.dtype).reshape(-1, *(1,) * (x.ndim - axis - 1))


def _picked(x: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """Take elements along an axis; where each is taken equally often, by repeating them."""
    times, rest = divmod(len(places), x.shape[axis])
    if not rest and np.array_equal(places, np.arange(x.shape[axis]).repeat(times)):
        return ops.repeat(x, times, axis)
    return ops.take(x, places, axis)


@framed
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels into pixels: (..., C·r², H, W) to (..., C, H·r, W·r).

    `upscale_factor` is r.

    Source: Shi et al., "Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network", 2016.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pixel_shuffle(tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2).tolist()
        [[[1.0, 2.0], [3.0, 4.0]]]
    """
    r = check_size("pixel_shuffle", "upscale_factor", upscale_factor)
    input = as_tensor(input)
    wanted = f"an input of shape (..., C, H, W) with C divisible by {r * r}"
    refuse_shapes(input.ndim < 3 or input.shape[-3] % (r * r), "pixel_shuffle", wanted, input)
    *leading, channels, height, width = input.shape
    whole = (math.prod(leading), channels // (r * r), r, r, height, width)
    pixels = ops.transpose(input.reshape(whole), (0, 1, 4, 2, 5, 3))  # (N, C, H, r, W, r)
    return pixels.reshape(*leading, channels // (r * r), height * r, width * r)


@framed
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearrange pixels into channels: the inverse of `pixel_shuffle`.

    From (..., C, H·r, W·r) to (..., C·r², H, W); `downscale_factor` is r.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pixel_unshuffle(tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).tolist()
        [[[1.0]], [[2.0]], [[3.0]], [[4.0]]]
    """
    r = check_size("pixel_unshuffle", "downscale_factor", downscale_factor)
    input = as_tensor(input)
    wrong = input.ndim < 3 or input.shape[-2] % r or input.shape[-1] % r
    wanted = f"an input of shape (..., C, H, W) with H and W divisible by {r}"
    refuse_shapes(wrong, "pixel_unshuffle", wanted, input)
    *leading, channels, height, width = input.shape
    parts = (math.prod(leading), channels, height // r, r, width // r, r)
    pixels = ops.transpose(input.reshape(parts), (0, 1, 3, 5, 2, 4))  # (N, C, r, r, H, W)
    return pixels.reshape(*leading, channels * r * r, height // r, width // r)


@framed
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Take channels from each group in turn: those of a group are then spread over all groups.

    Source: Zhang et al., "ShuffleNet", 2018.

    Args:
        input: Shape (N, C, ...).
        groups: The number of groups; it divides C.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[[1.0], [2.0], [3.0], [4.0]]])
        >>> nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [1.0, 3.0, 2.0, 4.0]
    """
    check_size("channel_shuffle", "groups", groups)
    input = as_tensor(input)
    wanted = f"an input of shape (N, C, L, ...) with C divisible by {groups}"
    refuse_shapes(input.ndim < 3 or input.shape[1] % groups, "channel_shuffle", wanted, input)
    n, channels, *rest = input.shape
    parts = input.reshape(n, groups, channels // groups, *rest)
    return ops.swapaxes(parts, 1, 2).reshape(input.shape)
