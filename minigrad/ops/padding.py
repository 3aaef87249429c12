"""Padding: a border around a tensor, of a constant or of the tensor's elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.dtypes import checked
from minigrad.autograd.errors import type_error, value_error
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import IndexUpdate, integers
from minigrad.support.checks import fitted

__all__ = ["pad"]

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


_pad.defvjp(x=_pad_x)
