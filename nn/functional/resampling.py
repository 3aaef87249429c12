"""Resampling: interpolation of the last axes to other sizes, and reading at points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d
from minigrad.ops._numerics import widened
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import check_choice, check_number, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip


Mode = Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "area"]
Size = int | Sequence[int] | None
Scale = float | Sequence[float] | None
GridMode = Literal["bilinear", "nearest"]
GridPadding = Literal["zeros", "border", "reflection"]

_SMOOTH = {"linear": 1, "bilinear": 2, "bicubic": 2}
"""The modes that compute with several neighbours, and for how many axes each is."""


@framed
def interpolate(
    input: Tensor, size: Size = None, scale_factor: Scale = None, mode: Mode = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
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
        antialias: For "bilinear" and "bicubic": whether smaller images are smoothed, as Pillow
            does, so that all elements count.

    Raises:
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
    if antialias and mode not in ("bilinear", "bicubic"):
        raise value_error(f"interpolate: antialias is for bilinear and bicubic; got mode={mode!r}")
    input = as_tensor(input)
    axes = input.ndim - 2
    check_choice("interpolate", "mode", mode, ("nearest", "nearest-exact", *_SMOOTH, "area"))
    smooth = mode in _SMOOTH
    if align_corners is not None and not smooth:
        raise value_error(f"interpolate: align_corners is for {', '.join(_SMOOTH)}; got {mode=}")
    shapes = {1: "(N, C, L)", 2: "(N, C, H, W)"}
    wanted = shapes.get(_SMOOTH.get(mode, 0), " or ".join(shapes.values()))
    wrong = axes not in shapes or _SMOOTH.get(mode, axes) != axes
    refuse_shapes(wrong, "interpolate", f"an input of shape {wanted} for {mode=}", input)
    wrong = smooth and input.dtype.kind != "f"
    refuse_dtypes(wrong, "interpolate", f"floats for {mode=}", input)
    refuse_shapes(0 in input.shape[2:], "interpolate", "elements to resize", input)
    sizes, factors = _target(input.shape[2:], size, scale_factor)
    if recompute_scale_factor:
        factors = (None,) * axes
    if mode == "area":
        pooled: Any = adaptive_avg_pool1d if axes == 1 else adaptive_avg_pool2d
        return pooled(input, sizes)
    x = widened(input) if smooth else input
    for axis in reversed(range(2, input.ndim)):  # the last one first, as PyTorch rounds
        n, count, factor = x.shape[axis], sizes[axis - 2], factors[axis - 2]
        if smooth and n == count:
            continue
        step = _step(n, count, factor, bool(align_corners))
        centre = 0.5 if mode == "nearest-exact" or (smooth and not align_corners) else 0.0
        if smooth:
            x = (
                _smoothed(x, axis, (np.arange(count) + 0.5) * step, step, mode) if antialias
                else _between(x, axis, (np.arange(count) + centre) * step - centre, mode)
            )  # fmt: skip
            continue
        nearest = (np.arange(count, dtype=np.float32) + centre) * np.float32(step)  # as PyTorch
        x = _picked(x, axis, np.minimum(nearest.astype(np.intp), n - 1))
    return x.astype(input.dtype) if smooth and input.dtype == np.float16 else x


@framed
def upsample(
    input: Tensor, size: Size = None, scale_factor: Scale = None, mode: Mode = "nearest",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """Resize as `interpolate`, whose older name it is."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@framed
def upsample_nearest(input: Tensor, size: Size = None, scale_factor: Scale = None) -> Tensor:
    """Resize as `interpolate` with ``mode="nearest"``."""
    return interpolate(input, size, scale_factor)


@framed
def upsample_bilinear(input: Tensor, size: Size = None, scale_factor: Scale = None) -> Tensor:
    """Resize images as `interpolate` with ``mode="bilinear", align_corners=True``."""
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def _target(
    before: tuple[int, ...], size: Size, scale_factor: Scale
) -> tuple[tuple[int, ...], Sequence[float | None]]:
    """The output size and the given factor of each axis."""
    owner, axes = "interpolate", len(before)
    if (size is None) == (scale_factor is None):
        raise value_error(f"{owner}: size or scale_factor expected, got {size=}, {scale_factor=}")
    if scale_factor is None:
        return check_sizes(owner, "size", size, axes), (None,) * axes
    factors = scale_factor if isinstance(scale_factor, Sequence) else (scale_factor,) * axes
    if len(factors) != axes:
        raise value_error(f"{owner}: a number or {axes} of them expected, got {scale_factor=}")
    for factor in factors:
        check_number(owner, "scale_factor", factor, above=0.0)
    sizes = tuple(int(n * factor) for n, factor in zip(before, factors, strict=True))
    if min(sizes) < 1:
        raise value_error(f"{owner}: {scale_factor=} leaves sizes {sizes} of {before}")
    return sizes, factors


def _step(n: int, count: int, factor: float | None, align_corners: bool) -> float:
    """How far from each other the elements of the output lie in the input."""
    if align_corners:
        return (n - 1) / (count - 1) if count > 1 else 0.0
    return 1 / factor if factor else n / count


def _between(x: Tensor, axis: int, places: np.ndarray, mode: Mode) -> Tensor:
    """Interpolate between the neighbours of each place, two or four; the edges are repeated."""
    cubic = mode == "bicubic"
    places = places if cubic else np.maximum(places, 0.0)
    first = np.floor(places)
    out: Any = None
    for shift in (-1, 0, 1, 2) if cubic else (0, 1):
        found = np.clip(first + shift, 0, x.shape[axis] - 1).astype(np.intp)
        distances = np.abs(places - first - shift)
        share = _cubic(distances, -0.75) if cubic else 1 - distances
        part = ops.take(x, found, axis) * _along(share, x, axis)
        out = part if out is None else out + part
    return out


def _smoothed(x: Tensor, axis: int, places: np.ndarray, step: float, mode: Mode) -> Tensor:
    """Weigh the elements of an image around each place, farther off if it becomes smaller."""
    distances = np.abs(np.arange(x.shape[axis]) + 0.5 - places[:, None]) / max(step, 1.0)
    shares = _cubic(distances, -0.5) if mode == "bicubic" else np.maximum(1 - distances, 0)
    shares = (shares / shares.sum(axis=1, keepdims=True)).astype(x.dtype)
    return ops.matmul(shares, x) if axis == 2 else ops.matmul(x, shares.T)


def _cubic(d: np.ndarray, a: float) -> np.ndarray:
    """The weight of an element at a distance: a cubic spline whose slope at 1 is a.

    Source: Keys, "Cubic convolution interpolation for digital image processing", 1981.
    """
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, far * (d < 2))


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
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Make the grid of points at which affine maps read images, for `grid_sample`.

    Args:
        theta: The maps, of shape (N, 2, 3): a point (x, y) of the output is read from
            ``theta @ (x, y, 1)`` of the input.
        size: The size (N, C, H, W) of the output images.
        align_corners: Whether -1 and 1 are the centres of the corner pixels; otherwise, and by
            default, their outer edges.

    Returns:
        Shape (N, H, W, 2): the x and y of each pixel, from -1 to 1 within the image.

    Raises:
        ValueError: The shape of `theta` does not fit `size`.

    Source: Jaderberg et al., "Spatial transformer networks", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> theta = tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
        >>> nn.functional.affine_grid(theta, (1, 1, 1, 2)).tolist()
        [[[[0.0, 0.0], [1.0, 0.0]]]]
    """
    theta = as_tensor(theta)
    batch, _, height, width = check_sizes("affine_grid", "size", tuple(size), 4)
    wanted = (batch, 2, 3)
    refuse_shapes(theta.shape != wanted, "affine_grid", f"theta of shape {wanted}", theta)
    x, y = (_centres(n, align_corners).astype(theta.dtype) for n in (width, height))
    points = np.stack([*np.meshgrid(x, y), np.ones((height, width), theta.dtype)], axis=-1)
    grid: Any = points.reshape(-1, 3) @ theta.mT  # (N, H · W, 2)
    return grid.reshape(batch, height, width, 2)


def _centres(n: int, align_corners: bool | None) -> np.ndarray:
    """The centres of `n` pixels, from -1 to 1."""
    if align_corners:
        return np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1)
    return (2 * np.arange(n) + 1) / n - 1


@framed
def grid_sample(
    input: Tensor, grid: Tensor, mode: GridMode = "bilinear", padding_mode: GridPadding = "zeros",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """Read images at the points of a grid.

    Args:
        input: Shape (N, C, H, W).
        grid: Shape (N, P, P', 2): the x and y of each point, from -1 (left, top) to 1 (right,
            bottom) within the image.
        mode: "bilinear", between the four pixels around a point, or "nearest".
        padding_mode: What lies outside of the image: "zeros", the nearest pixel ("border"), or the
            image mirrored at its borders ("reflection").
        align_corners: Whether -1 and 1 are the centres of the corner pixels; otherwise, and by
            default, their outer edges.

    Returns:
        Shape (N, C, P, P'). The images receive gradients, and with "bilinear" the grid too.

    Raises:
        ValueError: A shape does not fit, or a mode is unknown.

    Source: Jaderberg et al., "Spatial transformer networks", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> image = tensor([[[[1.0, 3.0]]]])
        >>> nn.functional.grid_sample(image, tensor([[[[0.0, 0.0], [0.5, 0.0]]]])).tolist()
        [[[[2.0, 3.0]]]]
    """
    input, grid = as_tensor(input), as_tensor(grid)
    check_choice("grid_sample", "mode", mode, ("bilinear", "nearest"))
    check_choice("grid_sample", "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    fits = grid.ndim == 4 and grid.shape[-1] == 2 and len(grid) == len(input)
    wrong = input.ndim != 4 or not fits or 0 in input.shape[2:]
    wanted = "an input of shape (N, C, H, W) with pixels, and a grid of shape (N, P, P', 2)"
    refuse_shapes(wrong, "grid_sample", wanted, input, grid)
    images, points = widened(input), widened(grid)
    x = _place(points[..., 0], images.shape[3], padding_mode, align_corners)
    y = _place(points[..., 1], images.shape[2], padding_mode, align_corners)
    if mode == "nearest":
        out = _pixels(images, np.round(x.detach()), np.round(y.detach()))
    else:
        left, top = np.floor(x.detach()), np.floor(y.detach())
        right, low = x - left, y - top  # the shares of the later neighbours
        out = (
            _pixels(images, left, top) * ((1 - right) * (1 - low))[:, None]
            + _pixels(images, left + 1, top) * (right * (1 - low))[:, None]
            + _pixels(images, left, top + 1) * ((1 - right) * low)[:, None]
            + _pixels(images, left + 1, top + 1) * (right * low)[:, None]
        )
    return out.astype(input.dtype)


def _place(points: Tensor, n: int, padding_mode: str, align_corners: bool | None) -> Any:
    """From coordinates between -1 and 1 to places among `n` pixels, as real numbers from 0."""
    shifted = points + 1
    places: Any = shifted * ((n - 1) / 2) if align_corners else (shifted * n - 1) / 2
    if padding_mode == "zeros":
        return places
    if padding_mode == "reflection":
        first, span = (0.0, n - 1) if align_corners else (-0.5, n)
        if not span:
            return places * 0
        off = np.abs(places - first)
        turn = ops.remainder(off, 2.0 * span)
        places = np.where(turn.detach() <= span, turn, 2 * span - turn) + first
    known = places.detach()
    limited = np.fmin(np.fmax(known, 0.0), n - 1.0)  # NaN becomes 0
    return np.where((known > 0) & (known < n - 1), places, limited)


def _pixels(images: Tensor, x: Any, y: Any) -> Any:
    """The pixels at whole places, (N, C, P, P'); 0 outside of the image."""
    height, width = images.shape[2:]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    limited: Any = lambda place, n: np.fmin(np.fmax(place, 0), n - 1).astype(np.intp)
    column, row = limited(x, width), limited(y, height)
    batch = np.arange(len(images)).reshape(-1, 1, 1)
    found: Any = ops.transpose(images, (0, 2, 3, 1))[batch, row, column]  # (N, P, P', C)
    return ops.transpose(ops.where(inside[..., None], found, 0), (0, 3, 1, 2))
