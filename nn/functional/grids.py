"""Sampling of images at the points of a grid, and grids of affine maps (spatial transformers)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import widened
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import check_choice, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = ["affine_grid", "grid_sample"]

GridMode = Literal["bilinear", "nearest"]
GridPadding = Literal["zeros", "border", "reflection"]


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
    x, y = (
        _place(points[..., axis], images.shape[3 - axis], padding_mode, align_corners)
        for axis in (0, 1)
    )
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
    column, row = (
        np.fmin(np.fmax(place, 0), n - 1).astype(np.intp) for place, n in ((x, width), (y, height))
    )
    batch = np.arange(len(images)).reshape(-1, 1, 1)
    found: Any = ops.transpose(images, (0, 2, 3, 1))[batch, row, column]  # (N, P, P', C)
    return ops.transpose(ops.where(inside[..., None], found, 0), (0, 3, 1, 2))
