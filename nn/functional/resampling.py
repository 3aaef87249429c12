"""Resampling: interpolation of the last axes to other sizes, and pixels from channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import type_error, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d
from minigrad.ops._numerics import widened
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import check_flag, check_number, check_size, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = ["interpolate", "pixel_shuffle"]

Mode = Literal["nearest", "nearest-exact", "linear", "bilinear", "area"]
Scale = float | Sequence[float]

_LINEAR = {1: "linear", 2: "bilinear"}


@framed
def interpolate(
    input_: Tensor, size: int | Sequence[int] | None = None, scale_factor: Scale | None = None,
    mode: Mode = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """Resize sequences (N, C, L) or images (N, C, H, W).

    Args:
        input_: Shape (N, C, L) or (N, C, H, W).
        size: The output size, one int or one per axis.
        scale_factor: Instead of `size`: the output size is floor(factor · size).
        mode: "nearest", which rounds down, "nearest-exact", which takes the nearest centre,
            "linear" for sequences, "bilinear" for images, or "area" for the mean of each part.
        align_corners: For the linear modes: whether the centres of the corner elements coincide;
            otherwise their outer edges do, which is the default.
        recompute_scale_factor: Whether `scale_factor` gives the output size only, and the ratio
            of the sizes the places.

    Raises:
        ValueError: The mode or the sizes do not fit the input.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[[1.0, 3.0]]])
        >>> nn.functional.interpolate(x, scale_factor=2).tolist()
        [[[1.0, 1.0, 3.0, 3.0]]]
        >>> nn.functional.interpolate(x, size=3, mode="linear", align_corners=True).tolist()
        [[[1.0, 2.0, 3.0]]]
    """
    input_ = as_tensor(input_)
    axes = input_.ndim - 2
    check_interpolation("interpolate", size, scale_factor, mode, align_corners)
    if axes not in _LINEAR or (mode in _LINEAR.values() and mode != _LINEAR[axes]):
        shapes = {"linear": "(N, C, L)", "bilinear": "(N, C, H, W)"}
        expected = shapes.get(mode, " or ".join(shapes.values()))
        raise value_error(
            f"interpolate: mode={mode!r} needs an input of shape {expected}, got {input_.shape}"
        )
    linear = mode in _LINEAR.values()
    if linear and input_.dtype.kind != "f":
        raise type_error(
            f"interpolate: mode={mode!r} needs a floating-point input, got {input_.dtype}; "
            f"convert it with .astype(minigrad.float32)"
        )
    if 0 in input_.shape[2:]:
        raise value_error(f"interpolate: nothing to resize in shape {input_.shape}")
    sizes, factors = _target(input_.shape[2:], size, scale_factor)
    if recompute_scale_factor:
        factors = (None,) * axes
    if mode == "area":
        return adaptive_avg_pool1d(input_, sizes[0]) if axes == 1 else adaptive_avg_pool2d(
            input_, sizes
        )  # fmt: skip
    x = widened(input_) if linear else input_
    for axis in reversed(range(2, input_.ndim)):  # the last one first, as PyTorch rounds
        n, count, factor = x.shape[axis], sizes[axis - 2], factors[axis - 2]
        if linear:
            if n != count:
                x = _between(x, axis, _places(n, count, factor, bool(align_corners)))
            continue
        step = np.float32(1 / factor if factor else n / count)  # float32, as PyTorch does
        shift = np.float32(0.5 if mode == "nearest-exact" else 0.0)
        nearest = ((np.arange(count, dtype=np.float32) + shift) * step).astype(np.intp)
        x = _picked(x, axis, np.minimum(nearest, n - 1))
    return x.astype(input_.dtype) if linear and input_.dtype == np.float16 else x


def check_interpolation(
    owner: str, size: Any, scale_factor: Any, mode: str, align_corners: bool | None
) -> None:
    """Raise unless the options of an interpolation make sense together."""
    known = ("nearest", "nearest-exact", *_LINEAR.values(), "area")
    if mode not in known:
        raise value_error(f"{owner}: mode must be one of {', '.join(known)}; got {mode!r}")
    if (size is None) == (scale_factor is None):
        raise value_error(
            f"{owner}: one of size and scale_factor expected, got size={size!r} and "
            f"scale_factor={scale_factor!r}"
        )
    for factor in scale_factor if isinstance(scale_factor, Sequence) else [scale_factor]:
        if factor is not None:
            check_number(owner, "scale_factor", factor, above=0.0)
    if align_corners is not None:
        check_flag(owner, "align_corners", align_corners)
        if mode not in _LINEAR.values():
            raise value_error(
                f'{owner}: align_corners is for "linear" and "bilinear", got mode={mode!r}'
            )


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
            f"{owner}: scale_factor must be a number or {axes} of them, one for each axis, "
            f"got {scale_factor!r}"
        )
    sizes = tuple(int(n * factor) for n, factor in zip(before, factors, strict=True))
    if min(sizes) < 1:
        raise value_error(
            f"{owner}: scale_factor={scale_factor!r} leaves sizes {sizes} of {before}; "
            f"each must be at least 1"
        )
    return sizes, factors


def _places(n: int, count: int, factor: float | None, align_corners: bool) -> np.ndarray:
    """Where the elements of the output lie in the input, as real numbers from 0."""
    places = np.arange(count, dtype=float)
    if align_corners:
        return places * ((n - 1) / (count - 1) if count > 1 else 0.0)
    return np.maximum((places + 0.5) * (1 / factor if factor else n / count) - 0.5, 0.0)


def _between(x: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """Interpolate linearly between the two neighbours of each place."""
    n = x.shape[axis]
    low = np.minimum(places.astype(np.intp), n - 1)
    share = np.clip(places - low, 0.0, 1.0).astype(x.dtype)
    share = share.reshape(-1, *(1,) * (x.ndim - axis - 1))
    return (
        ops.take(x, low, axis) * (1 - share) + ops.take(x, np.minimum(low + 1, n - 1), axis) * share
    )


def _picked(x: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """Take elements along an axis; where each is taken equally often, by repeating them."""
    times, rest = divmod(len(places), x.shape[axis])
    if not rest and np.array_equal(places, np.arange(x.shape[axis]).repeat(times)):
        return ops.repeat(x, times, axis)
    return ops.take(x, places, axis)


@framed
def pixel_shuffle(input_: Tensor, upscale_factor: int) -> Tensor:
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
    input_ = as_tensor(input_)
    if input_.ndim < 3 or input_.shape[-3] % (r * r):
        raise value_error(
            f"pixel_shuffle: an input of shape (..., C, H, W) with C divisible by {r * r} "
            f"expected, got {input_.shape}"
        )
    *leading, channels, height, width = input_.shape
    whole = (math.prod(leading), channels // (r * r), r, r, height, width)
    pixels = ops.transpose(input_.reshape(whole), (0, 1, 4, 2, 5, 3))  # (N, C, H, r, W, r)
    return pixels.reshape(*leading, channels // (r * r), height * r, width * r)
