"""Rearranging: the same elements flipped, rolled or repeated, or in windows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import Axis, total
from minigrad.ops.gathering import take
from minigrad.ops.indexing import IndexUpdate, integers
from minigrad.ops.joining import along
from minigrad.ops.shapes import moveaxis, ravel
from minigrad.support.checks import check_size

__all__ = ["flip", "fliplr", "flipud", "repeat", "roll", "rot90", "tile", "unfold"]


@primitive(numpy=np.flip, arrays=1, axes=("axis",))
def flip(x: Any, axis: Axis = None) -> Any:
    """Return a view with the elements along axes in reverse order.

    Args:
        x: Tensor or array.
        axis: The axis or axes to reverse; all of them if None.

    Raises:
        ValueError: An axis does not exist or is repeated.

    Example:
        >>> import minigrad
        >>> minigrad.ops.flip(minigrad.tensor([[1, 2], [3, 4]]), axis=1).tolist()
        [[2, 1], [4, 3]]
    """
    return np.flip(x, axis)


def fliplr(input: Any) -> Tensor:
    """Flip left and right: a view with the second axis reversed.

    Raises:
        ValueError: There is no second axis.

    Example:
        >>> import minigrad
        >>> minigrad.fliplr(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [[2, 1], [4, 3]]
    """
    return flip(input, 1)


def flipud(input: Any) -> Tensor:
    """Flip up and down: a view with the first axis reversed.

    Raises:
        ValueError: There is no axis.

    Example:
        >>> import minigrad
        >>> minigrad.flipud(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [[3, 4], [1, 2]]
    """
    return flip(input, 0)


@primitive(numpy=np.rot90, arrays=1)
def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Return a view with a plane rotated by multiples of 90 degrees.

    Args:
        x: Tensor or array with at least two axes.
        k: The number of rotations by 90 degrees, from the first axis of the plane towards the
            second.
        axes: The two axes of the plane.

    Raises:
        TypeError: `k` is not an integer.
        ValueError: An axis does not exist, or they are not two different ones.

    Example:
        >>> import minigrad
        >>> minigrad.rot90(minigrad.tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    return np.rot90(x, operator.index(k), axes)


@primitive(numpy=np.roll, arrays=2, axes=("axis",))
def roll(x: Any, shift: int | tuple[int, ...], axis: Axis = None) -> Any:
    """Shift the elements along an axis; those beyond the end re-enter at the beginning.

    Args:
        x: Tensor or array.
        shift: The number of positions, one number or one for each axis.
        axis: The axis or axes; if None, along the flattened tensor, whose shape is then restored.

    Raises:
        TypeError: The shift is not an integer.
        ValueError: An axis does not exist, or the shifts do not fit the axes.

    Example:
        >>> import minigrad
        >>> minigrad.roll(minigrad.tensor([1, 2, 3, 4]), 1).tolist()
        [4, 1, 2, 3]
    """
    return np.roll(x, integers(shift, "the shift"), axis)


def _cannot_repeat(x: Any, repeats: Any, axis: int) -> str | None:
    if repeats.dtype.kind not in "iu" or axis not in range(-x.ndim, x.ndim):
        return None
    if repeats.size and repeats.min() < 0:
        return f"repeats must not be negative, got {repeats.min()}"
    return (
        f"{x.shape[axis]} elements (axis {axis} of {x.shape}) need as many repeats, or one for "
        f"all, got shape {repeats.shape}"
    )


@primitive(arrays=2, explain_error=_cannot_repeat, axes=("axis",))
def _repeat(x: Any, repeats: Any, axis: int) -> Any:
    return x.repeat(integers(repeats, "repeats"), axis)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element; its copies are adjacent, and it receives the sum of their gradients.

    Args:
        x: Tensor or array.
        repeats: The number of copies, one integer or one for each index along the axis.
        axis: The axis along which to repeat; the tensor is flattened if None.

    Raises:
        TypeError: `repeats` are not integers.
        ValueError: The axis does not exist, or `repeats` are negative or of the wrong length.

    Example:
        >>> import minigrad
        >>> minigrad.ops.repeat(minigrad.tensor([1.0, 2.0]), [1, 3])
        tensor([1., 2., 2., 2.])
    """
    return _repeat(ravel(x), repeats, 0) if axis is None else _repeat(x, repeats, axis)


@primitive(numpy=np.tile, arrays=1)
def tile(x: Any, reps: int | Sequence[int]) -> Any:
    """Repeat the whole tensor along its axes; an element receives the sum of its copies' gradients.

    Args:
        x: Tensor or array.
        reps: The number of copies along each axis, the last number for the last axis. If there are
            more numbers than axes, leading axes are added.

    Raises:
        TypeError: The numbers are not integers.
        ValueError: A number is negative.

    Example:
        >>> import minigrad
        >>> minigrad.tile(minigrad.tensor([1.0, 2.0]), (2, 2)).tolist()
        [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    return np.tile(x, reps)


def unfold(x: Any, axis: int, size: int, step: int = 1) -> Tensor:
    """Return the windows that slide along an axis, as a new axis at the end.

    Args:
        x: Tensor or array.
        axis: The axis, of length n.
        size: The length of a window, from 1 to n.
        step: The distance between the starts of neighbouring windows.

    Returns:
        The shape of `x` with (n - size) // step + 1 windows along the axis, followed by an axis of
        length `size`. An element receives the sum of the gradients of all windows that hold it.

    Raises:
        TypeError: `size` or `step` is not an integer.
        ValueError: The axis does not exist, or no window fits.

    Example:
        >>> import minigrad
        >>> minigrad.ops.unfold(minigrad.arange(5), 0, size=3, step=2).tolist()
        [[0, 1, 2], [2, 3, 4]]
    """
    size, step = check_size("unfold", "size", size), check_size("unfold", "step", step)
    x, axis, n = along("unfold", x, axis)
    if size > n:
        raise value_error(f"unfold: no window of {size} fits into axis {axis} of shape {x.shape}")
    starts = np.arange(0, n - size + 1, step)
    windows = take(x, starts[:, None] + np.arange(size), axis)
    moved: Tensor = moveaxis(windows, axis + 1, -1)
    return moved


def _repeat_x(g: Any, repeats: Any, axis: int, x_shape: tuple[int, ...]) -> Any:
    """The sum over the copies of each element, which are adjacent."""
    axis %= len(x_shape)
    if np.size(repeats) == 1:
        copies = (*x_shape[: axis + 1], repeats.item(), *x_shape[axis + 1 :])
        return total(g.reshape(copies), axis + 1).reshape(x_shape)
    places = np.repeat(np.arange(x_shape[axis]), integers(repeats))
    return IndexUpdate(g, (slice(None),) * axis + (places,), x_shape)


def _tile_x(g: Any, x_shape: tuple[int, ...]) -> Any:
    """The sum over the tiles: splits each axis into (tile, index within the tile)."""
    lengths = (1,) * (g.ndim - len(x_shape)) + x_shape
    split = [part for n, m in zip(lengths, g.shape, strict=True) for part in (m // (n or 1), n)]
    return total(g.reshape(split), tuple(range(0, 2 * g.ndim, 2))).reshape(x_shape)


# The table.
flip.defvjp(x=lambda g, axis: np.flip(g, axis))
rot90.defvjp(x=lambda g, k, axes: np.rot90(g, -k, axes))
roll.defvjp(x=lambda g, shift, axis: np.roll(g, -integers(shift, "the shift"), axis))
_repeat.defvjp(x=_repeat_x)
tile.defvjp(x=_tile_x)
