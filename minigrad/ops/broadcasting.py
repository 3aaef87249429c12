"""Broadcasting: views in which several elements share one memory location."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops.casting import as_tensor
from minigrad.ops.shapes import Shape, reshape

__all__ = ["broadcast_arrays", "broadcast_to", "expand", "meshgrid"]


@primitive(numpy=np.broadcast_to, arrays=1)
def broadcast_to(x: Any, shape: Shape) -> Any:
    """Repeat along axes of length 1 without copying: a view whose elements share memory.

    Args:
        x: Tensor or array.
        shape: The new shape.

    Raises:
        ValueError: The tensor cannot be broadcast to the shape.

    Example:
        >>> import minigrad
        >>> minigrad.broadcast_to(minigrad.arange(3), (2, 3)).tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    return np.broadcast_to(x, shape)


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


def expand(x: Any, *sizes: Any) -> Tensor:
    """Repeat along axes of length 1 as `broadcast_to` does; -1 keeps the length of an axis.

    Args:
        x: Tensor or array.
        *sizes: The new shape, or one tuple of it; new axes come first.

    Raises:
        ValueError: The tensor cannot be broadcast to the shape.

    Example:
        >>> import minigrad
        >>> minigrad.ops.expand(minigrad.ones((3, 1)), 2, -1, 4).shape
        minigrad.Size([2, 3, 4])
    """
    return _expand(x, tuple(sizes[0]) if len(sizes) == 1 and np.ndim(sizes[0]) else sizes)


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which shapes broadcast; an error of the op `name` if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(str(tuple(shape)) for shape in shapes)
        raise value_error(f"{name}: shapes {shown} do not broadcast together") from None


def broadcast_arrays(*tensors: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors against each other: a view of each, all of one shape.

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
    return tuple(broadcast_to(view, shape) for view in views)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Compute the coordinates of the points of a grid, from those along each of its axes.

    Args:
        *tensors: One axis each, or a number; more axes are flattened. A list of tensors, as
            PyTorch takes it, is several.
        indexing: "xy": the first tensor runs along the second axis and the second along the
            first, as in a picture; "ij": each runs along its own axis, as in a matrix. By
            default "xy", as in NumPy; "ij" for a list of tensors.

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
    first = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else ()
    if first and all(isinstance(x, Variable) for x in first):
        return meshgrid(*first, indexing=indexing or "ij")
    indexing = indexing or "xy"
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
broadcast_to.defvjp(x=lambda g: g)
_expand.defvjp(x=lambda g: g)
