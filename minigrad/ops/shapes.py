"""Shapes: the same elements with other axes, or broadcast; views where memory allows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad.autograd.errors import value_error
from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import common_shape

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "expand",
    "expand_dims", "flatten", "meshgrid", "moveaxis", "ravel", "reshape", "squeeze", "swapaxes",
    "transpose",
]  # fmt: skip

Shape = int | tuple[int, ...]


@primitive(numpy=np.reshape, arrays=1)
def reshape(x: Any, shape: Shape) -> Any:
    """Return the same elements in another shape; a view where the memory allows it.

    Args:
        x: Tensor or array.
        shape: The new shape; one length may be -1, to be computed.

    Raises:
        ValueError: The number of elements differs.
    """
    out = x.reshape(shape)
    if out.shape != shape and np.min(shape) < -1:  # NumPy takes each negative number as -1
        raise ValueError(f"sizes of at least 0 expected, and one -1, got {shape}")
    return out


@primitive(numpy=np.ravel, arrays=1)
def ravel(x: Any) -> Any:
    """Return the elements as one axis, in C order; a view where the memory allows it.

    Example:
        >>> import minigrad
        >>> minigrad.ravel(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([1., 2., 3., 4.])
    """
    return x.reshape(x.size)


@primitive(arrays=1)
def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge neighbouring axes into one; a view where the memory allows it.

    Args:
        x: Tensor or array; a 0-d tensor gets one axis.
        start_dim: The first of them.
        end_dim: The last of them; it is part of the new axis.

    Raises:
        ValueError: An axis does not exist, or the last comes before the first.

    Example:
        >>> import minigrad
        >>> minigrad.flatten(minigrad.ones((2, 3, 4)), start_dim=1).shape
        minigrad.Size([2, 12])
    """
    shape = x.shape or (1,)
    start = normalize_axis_index(start_dim, len(shape))
    end = normalize_axis_index(end_dim, len(shape)) + 1
    if start >= end:
        raise ValueError(f"start_dim {start_dim} comes after end_dim {end_dim}")
    return x.reshape(*shape[:start], math.prod(shape[start:end]), *shape[end:])


def _not_all_axes(x: Any, axes: Any = None) -> str | None:
    count, ndim = np.size(axes), np.ndim(x)
    if axes is None or count == ndim:
        return None
    hint = "; swapaxes exchanges two" if count == 2 else ""
    return f"axes {tuple(np.atleast_1d(axes).tolist())} for {ndim} axes: name each once{hint}"


@primitive(numpy=np.transpose, arrays=1, axes=("axes",), explain_error=_not_all_axes)
def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """Return a view with the axes in another order.

    Args:
        x: Tensor or array.
        axes: A permutation of the axes; reversed if None.

    Raises:
        ValueError: `axes` is not a permutation.

    Example:
        >>> import minigrad
        >>> minigrad.ops.transpose(minigrad.ones((2, 3, 4)), (0, 2, 1)).shape
        minigrad.Size([2, 4, 3])
    """
    return x.transpose(axes)


@primitive(numpy=np.swapaxes, arrays=1, axes=("axis1", "axis2"))
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Return a view with two axes exchanged.

    Raises:
        ValueError: An axis does not exist.
    """
    return x.swapaxes(axis1, axis2)


@of_numpy(np.moveaxis, arrays=1, axes=("source", "destination"))
def moveaxis(x: Any, source: Shape, destination: Shape) -> Any:
    """Return a view with axes moved to other positions; the others keep their order.

    Args:
        x: Tensor or array.
        source: The axis or axes to move.
        destination: Their positions in the result, one for each.

    Raises:
        ValueError: An axis does not exist or is repeated, or the two differ in number.

    Example:
        >>> import minigrad
        >>> minigrad.moveaxis(minigrad.ones((2, 3, 4)), 0, -1).shape
        minigrad.Size([3, 4, 2])
    """


@primitive(numpy=np.squeeze, arrays=1, axes=("axis",))
def squeeze(x: Any, axis: Shape | None = None) -> Any:
    """Return a view without axes of length 1.

    Args:
        x: Tensor or array.
        axis: The axes to drop; all of length 1 if None.

    Raises:
        ValueError: An axis does not exist or is longer.
    """
    return x.squeeze(axis)


@of_numpy(np.expand_dims, arrays=1, axes=("axis",))
def expand_dims(x: Any, axis: Shape) -> Any:
    """Return a view with new axes of length 1.

    Args:
        x: Tensor or array.
        axis: Their positions in the result.

    Raises:
        ValueError: An axis is out of range or repeated.

    Example:
        >>> import minigrad
        >>> minigrad.expand_dims(minigrad.ones(3), 0).shape
        minigrad.Size([1, 3])
    """


def atleast_1d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """Give a tensor at least one axis: a number becomes shape (1,).

    Args:
        *tensors: Tensors, arrays or numbers.

    Returns:
        One tensor for one, a tuple for several; tensors with an axis are unchanged.

    Example:
        >>> import minigrad
        >>> minigrad.atleast_1d(minigrad.tensor(3.0))
        tensor([3.])
    """
    return _with_axes(1, tensors)


def atleast_2d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """Give a tensor at least two axes, as `atleast_1d` gives one: shape (n,) becomes (1, n).

    Example:
        >>> import minigrad
        >>> minigrad.atleast_2d(minigrad.ones(3)).shape
        minigrad.Size([1, 3])
    """
    return _with_axes(2, tensors)


def atleast_3d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """Give a tensor at least three axes: (n,) becomes (1, n, 1), and (n, m) becomes (n, m, 1).

    Example:
        >>> import minigrad
        >>> minigrad.atleast_3d(minigrad.ones((2, 3))).shape
        minigrad.Size([2, 3, 1])
    """
    return _with_axes(3, tensors)


def _with_axes(count: int, tensors: tuple[Any, ...]) -> Any:
    """Tensors with at least so many axes: one for one, a tuple for several or for a list."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    results = [_grown(as_tensor(tensor), count) for tensor in tensors]
    return results[0] if len(results) == 1 else tuple(results)


def _grown(x: Any, count: int) -> Any:
    while x.ndim < count:
        x = expand_dims(x, -1 if x.ndim == 2 else 0)
    return x


def _inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `axes`."""
    n = len(axes)
    order = [axis % n for axis in axes]
    return tuple(order.index(i) for i in range(n))


@of_numpy(np.broadcast_to, arrays=1)
def broadcast_to(x: Any, shape: Shape) -> Any:
    """Repeat along axes of length 1 without copying: a view whose elements share memory.

    Args:
        x: Tensor or array.
        shape: The new shape.

    Raises:
        ValueError: The tensor cannot be broadcast to the shape.
    """


def _cannot_expand(x: Any, sizes: tuple[int, ...]) -> str:
    return (
        f"shape {x.shape} does not expand to {sizes}: an axis keeps its length (-1 means "
        f"that) unless it is 1, and new axes come first"
    )


@primitive(arrays=1, explain_error=_cannot_expand)
def _expand(x: Any, sizes: tuple[int, ...]) -> Any:
    new = len(sizes) - x.ndim
    kept = (-1,) * new + x.shape
    return np.broadcast_to(
        x, [old if size == -1 else size for size, old in zip(sizes, kept, strict=True)]
    )


def expand(input: Any, *sizes: Any, size: Any = None) -> Tensor:
    """Repeat along axes of length 1 as `broadcast_to` does; -1 keeps the length of an axis.

    Args:
        input: Tensor or array.
        *sizes: The new shape, or one tuple of it; new axes come first.
        size: The same as a keyword.

    Raises:
        ValueError: The tensor cannot be broadcast to the shape.
    """
    one = size if size is not None else sizes[0] if len(sizes) == 1 else sizes
    return _expand(input, tuple(one) if np.ndim(one) else sizes)


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which shapes broadcast; an error of the op `name` if there is none."""
    found = common_shape(*shapes)
    if found is None:
        shown = ", ".join(str(tuple(shape)) for shape in shapes)
        raise value_error(f"{name}: shapes {shown} do not broadcast together")
    return found


def broadcast_arrays(*tensors: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors against each other: a view of each, or itself, all of one shape.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> a, b = minigrad.broadcast_arrays(minigrad.ones(3), minigrad.ones((2, 1)))
        >>> a.shape, b.shape
        (minigrad.Size([2, 3]), minigrad.Size([2, 3]))
    """
    views = [as_tensor(tensor) for tensor in tensors]
    shape = broadcast_shape("broadcast_arrays", *(view.shape for view in views))
    return tuple(view if view.shape == shape else broadcast_to(view, shape) for view in views)


def meshgrid(*tensors: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Compute the coordinates of the points of a grid, from those along each of its axes.

    Args:
        *tensors: One axis each, or a number; more axes are flattened.
        indexing: "xy": the first tensor runs along the second axis and the second along the
            first, as in a picture; "ij": each runs along its own axis, as in a matrix.

    Returns:
        A view of each tensor, all of the shape of the grid.

    Raises:
        ValueError: `indexing` is neither "xy" nor "ij".

    Example:
        >>> import minigrad
        >>> x, y = minigrad.ops.meshgrid(minigrad.arange(3), minigrad.arange(2))
        >>> x.tolist(), y.tolist()
        ([[0, 1, 2], [0, 1, 2]], [[0, 0, 0], [1, 1, 1]])
    """
    if indexing not in ("xy", "ij"):
        raise value_error(f'meshgrid: indexing must be "xy" or "ij", got {indexing!r}')
    axes = list(range(len(tensors)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    ones = (1,) * len(tensors)
    return broadcast_arrays(
        *(reshape(x, (*ones[:i], -1, *ones[i + 1 :])) for x, i in zip(tensors, axes, strict=True))
    )


# The table.
reshape.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
ravel.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
flatten.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
squeeze.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
expand_dims.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
transpose.defvjp(x=lambda g, axes: np.transpose(g, None if axes is None else _inverse(axes)))
swapaxes.defvjp(x=lambda g, axis1, axis2: g.swapaxes(axis1, axis2))
moveaxis.defvjp(x=lambda g, source, destination: np.moveaxis(g, destination, source))
broadcast_to.defvjp(x=lambda g: g)
_expand.defvjp(x=lambda g: g)
