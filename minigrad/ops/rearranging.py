"""Rearranging: the same elements flipped, rolled or repeated, in windows, or with a border."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from minigrad.autograd.dtypes import checked
from minigrad.autograd.errors import type_error, value_error
from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import Axis, total
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import IndexUpdate, integers
from minigrad.ops.joining import along
from minigrad.ops.shapes import ravel
from minigrad.support.checks import check_size, fitted

__all__ = ["flip", "fliplr", "flipud", "pad", "repeat", "roll", "rot90", "tile", "unfold"]


@of_numpy(np.flip, arrays=1, axes=("axis",))
def flip(x: Any, axis: Axis = None) -> Any:
    """Return a view with the elements along axes in reverse order.

    Args:
        x: Tensor or array.
        axis: The axis or axes to reverse; all of them if None.

    Raises:
        ValueError: An axis does not exist or is repeated.
    """


def fliplr(input: Any) -> Tensor:
    """Flip left and right: a view with the second axis reversed.

    Raises:
        ValueError: There is no second axis.
    """
    return flip(input, 1)


def flipud(input: Any) -> Tensor:
    """Flip up and down: a view with the first axis reversed.

    Raises:
        ValueError: There is no axis.
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
    """
    return np.roll(x, integers(shift, "the shift"), axis)


@primitive(arrays=2, axes=("axis",))
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


@of_numpy(np.tile, arrays=1)
def tile(x: Any, reps: int | Sequence[int]) -> Any:
    """Repeat the whole tensor along its axes; an element receives the sum of its copies' gradients.

    Args:
        x: Tensor or array.
        reps: The number of copies along each axis, the last number for the last axis. If there are
            more numbers than axes, leading axes are added.

    Raises:
        TypeError: The numbers are not integers.
        ValueError: A number is negative.
    """


@primitive(arrays=1)
def _unfold(x: Any, axis: int, size: int, step: int) -> Any:
    windows = sliding_window_view(x, size, axis, writeable=x.flags.writeable and step >= size)
    return windows[(slice(None),) * axis + (slice(None, None, step),)]


def unfold(input: Any, dimension: int, size: int, step: int) -> Tensor:
    """Return the windows that slide along an axis, as a new axis at the end: a view.

    Args:
        input: Tensor or array.
        dimension: The axis, of length n.
        size: The length of a window, from 1 to n.
        step: The distance between the starts of neighbouring windows.

    Returns:
        The shape of `input` with (n - size) // step + 1 windows along the axis, followed by an axis
        of length `size`. An element receives the sum of the gradients of all windows that hold it.
        Windows that overlap cannot be written to.

    Raises:
        TypeError: `size` or `step` is not an integer.
        ValueError: The axis does not exist, or no window fits.

    Example:
        >>> import minigrad
        >>> minigrad.arange(4).unfold(0, 2, 1).tolist()
        [[0, 1], [1, 2], [2, 3]]
    """
    size, step = check_size("unfold", "size", size), check_size("unfold", "step", step)
    x, axis, n = along("unfold", input, dimension)
    if size > n:
        raise value_error(f"unfold: no window of {size} fits into axis {axis} of shape {x.shape}")
    return _unfold(x, axis, size, step)


def window_places(n: int, size: int, step: int) -> np.ndarray:
    """The indices of the elements of each window along an axis of length n."""
    return np.arange(0, n - size + 1, step)[:, None] + np.arange(size)


def _unfold_x(g: Any, axis: int, size: int, step: int, x_shape: tuple[int, ...]) -> Any:
    places = window_places(x_shape[axis], size, step)
    return IndexUpdate(np.moveaxis(g, -1, axis + 1), (slice(None),) * axis + (places,), x_shape)


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


Widths = tuple[tuple[int, int], ...]
_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@primitive(arrays=1)
def _pad(x: Any, pad_width: Widths, mode: str, constant_values: Any) -> Any:
    if not x.ndim:  # NumPy fails for a 0-d array, which has no border
        return x.copy()
    if mode != "constant":
        return np.pad(x, pad_width, mode)  # type: ignore[call-overload]
    constants = np.asarray(constant_values)
    checked(constants.dtype, "pad")
    whole = constants.dtype.kind != "f" or np.isfinite(constants) & (
        constants == np.trunc(constants)
    )
    if x.dtype.kind != "f" and not np.all(whole):
        raise TypeError(f"constant_values of {constant_values} do not fit into {x.dtype}")
    return np.pad(x, pad_width, constant_values=fitted(constants, x.dtype, "pad"))


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Tensor:
    """Put a border around a tensor.

    Args:
        x: Tensor or array.
        pad_width: The number of elements to add: one number, one pair (before, after), or a pair
            for each axis, the first axis first.
        mode: The content of the border, shown for ``[1, 2, 3]`` and a width of 2:

            - "constant": ``0 0 | 1 2 3 | 0 0``;
            - "edge": ``1 1 | 1 2 3 | 3 3``;
            - "reflect": ``3 2 | 1 2 3 | 2 1``;
            - "symmetric": ``2 1 | 1 2 3 | 3 2``;
            - "wrap": ``2 3 | 1 2 3 | 1 2``.
        constant_values: The values of "constant": one number, or numbers as in `pad_width`.

    Returns:
        A new tensor of the dtype of `x`. An element receives the sum of the gradients of all its
        copies.

    Raises:
        TypeError: The widths are not integers, a constant for integers is a fraction, or a tensor
            of constants requires a gradient.
        ValueError: The widths do not fit the axes or are negative, the mode is unknown, an axis
            without elements has no element to repeat, or a constant is too large for the dtype of
            `x`.

    Example:
        >>> import minigrad
        >>> minigrad.pad(minigrad.tensor([1.0, 2.0, 3.0]), (2, 1), mode="reflect")
        tensor([3., 2., 1., 2., 3., 2.])
    """
    if mode not in _MODES:
        raise value_error(f"pad: mode must be one of {', '.join(_MODES)}; got {mode!r}")
    x = as_tensor(x)
    return _pad(x, _pairs(pad_width, x.shape), mode, constant_values)


def _pairs(pad_width: Any, shape: tuple[int, ...]) -> Widths:
    """One pair (before, after) for each axis."""
    try:
        widths = integers(pad_width, "pad_width")
        pairs = np.broadcast_to(widths, (len(shape), 2)).tolist()
    except TypeError as error:
        raise type_error(f"pad: {error}") from None
    except ValueError:
        raise value_error(
            f"pad: pad_width {pad_width} does not fit shape {shape}; one number expected, one "
            f"pair (before, after), or a pair for each axis"
        ) from None
    if any(width < 0 for pair in pairs for width in pair):
        raise value_error(f"pad: pad_width must not be negative, got {pad_width}; cut with x[1:-1]")
    return tuple((before, after) for before, after in pairs)


def _pad_x(g: Any, pad_width: Widths, mode: str, x_shape: tuple[int, ...]) -> Any:
    """The inner part; if the border repeats elements, adds the cotangents of all copies."""
    lengths = list(zip(x_shape, pad_width, strict=True))
    if mode == "constant":
        return g[tuple(slice(before, before + n) for n, (before, _) in lengths)]
    places = [np.pad(np.arange(n), width, mode) for n, width in lengths]  # type: ignore[call-overload]
    return IndexUpdate(g, np.ix_(*places), x_shape)


# The table.
flip.defvjp(x=lambda g, axis: np.flip(g, axis))
rot90.defvjp(x=lambda g, k, axes: np.rot90(g, -k, axes))
roll.defvjp(x=lambda g, shift, axis: np.roll(g, -integers(shift, "the shift"), axis))
_repeat.defvjp(x=_repeat_x)
_unfold.defvjp(x=_unfold_x)
tile.defvjp(x=_tile_x)
_pad.defvjp(x=_pad_x)
