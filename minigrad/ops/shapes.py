"""Shapes, views and dtypes: what moves numbers about and changes none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.dtypes import checked
from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import primitive
from minigrad.ops.indexing import getitem

if TYPE_CHECKING:
    from minigrad._tensor import Tensor

__all__ = [
    "astype", "broadcast_to", "clone", "concatenate", "expand_dims", "reshape", "split",
    "squeeze", "stack", "swapaxes", "transpose",
]  # fmt: skip

Shape = int | tuple[int, ...]


def _cannot_reshape(x: Any, shape: Shape) -> str | None:
    return f"{x.size} elements of shape {x.shape} do not fit into shape {shape}"


@primitive(np.reshape, arrays=1, complain=_cannot_reshape)
def reshape(x: Any, shape: Shape) -> Any:
    """The same elements in another shape.

    Args:
        x: Tensor or array.
        shape: The new shape; one length may be -1, to be worked out.

    Returns:
        A view where the memory allows it.

    Raises:
        ValueError: The number of elements differs.

    Example:
        >>> import minigrad
        >>> minigrad.reshape(minigrad.arange(6), (2, -1)).shape
        (2, 3)
    """
    return x.reshape(shape)


@primitive(np.transpose, arrays=1)
def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """Reorder the axes.

    Args:
        x: Tensor or array.
        axes: A permutation of the axes; reversed if None.

    Returns:
        A view.

    Raises:
        ValueError: `axes` is not a permutation.

    Example:
        >>> import minigrad
        >>> minigrad.transpose(minigrad.ones((2, 3, 4)), (0, 2, 1)).shape
        (2, 4, 3)
    """
    return x.transpose(axes)


@primitive(np.swapaxes, arrays=1)
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes.

    Args:
        x: Tensor or array.
        axis1: One axis.
        axis2: The other.

    Returns:
        A view.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.swapaxes(minigrad.ones((2, 3, 4)), -1, -2).shape
        (2, 4, 3)
    """
    return x.swapaxes(axis1, axis2)


@primitive(np.squeeze, arrays=1)
def squeeze(x: Any, axis: Shape | None = None) -> Any:
    """Drop axes of length 1.

    Args:
        x: Tensor or array.
        axis: Which to drop; all of them if None.

    Returns:
        A view.

    Raises:
        ValueError: An axis does not exist or is longer.

    Example:
        >>> import minigrad
        >>> minigrad.squeeze(minigrad.ones((1, 3, 1)), axis=0).shape
        (3, 1)
    """
    return x.squeeze(axis)


@primitive(np.expand_dims, arrays=1)
def expand_dims(x: Any, axis: Shape) -> Any:
    """Insert axes of length 1.

    Args:
        x: Tensor or array.
        axis: Where they stand in the result.

    Returns:
        A view.

    Raises:
        ValueError: An axis is out of range or repeated.

    Example:
        >>> import minigrad
        >>> minigrad.expand_dims(minigrad.ones(3), 0).shape
        (1, 3)
    """
    return np.expand_dims(x, axis)


@primitive(np.broadcast_to, arrays=1)
def broadcast_to(x: Any, shape: Shape) -> Any:
    """Repeat along axes of length 1 without copying.

    Args:
        x: Tensor or array.
        shape: The shape to reach.

    Returns:
        A view, in which several elements share one place of memory.

    Raises:
        ValueError: The shape cannot be reached.

    Example:
        >>> import minigrad
        >>> minigrad.broadcast_to(minigrad.arange(3), (2, 3)).tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    return np.broadcast_to(x, shape)


@primitive(np.copy, arrays=1)
def clone(x: Any) -> Any:
    """A copy with memory of its own; gradients pass through.

    Args:
        x: Tensor or array.

    Returns:
        The copy.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> y = minigrad.clone(x)
        >>> y[0] = 5
        >>> x
        Tensor([1., 1.], dtype=float32)
    """
    return x.copy()


@primitive(arrays=1)
def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


@primitive(arrays=1)
def _to_integer(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def astype(x: Any, dtype: Any) -> Tensor:
    """Convert to another dtype; the gradient comes back in the dtype of `x`.

    Args:
        x: Tensor or array.
        dtype: A bool, integer or float dtype. Conversions to bool and integer record nothing.

    Returns:
        A tensor with memory of its own; `x` itself if it is a tensor that has the dtype.

    Raises:
        TypeError: Tensors cannot have the dtype.

    Example:
        >>> import minigrad
        >>> minigrad.astype(minigrad.tensor([1.7, -1.7]), minigrad.int64)
        Tensor([ 1, -1], dtype=int64)
    """
    chosen = checked(dtype)
    if isinstance(x, Variable) and x._data.dtype == chosen:
        return x  # type: ignore[return-value]
    return _astype(x, chosen) if chosen.kind == "f" else _to_integer(x, chosen)


@primitive()
def _concatenate(*tensors: Any, axis: int) -> Any:
    return np.concatenate(tensors, axis)


@primitive()
def _stack(*tensors: Any, axis: int) -> Any:
    return np.stack(tensors, axis)


def concatenate(tensors: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Join along an axis that exists.

    Args:
        tensors: At least one tensor; the shapes agree but along `axis`.
        axis: Where to join; if None, all of them are flattened first.

    Returns:
        The joined tensor, in the common dtype.

    Raises:
        ValueError: There is nothing to join, or the shapes do not agree.

    Example:
        >>> import minigrad
        >>> minigrad.concatenate([minigrad.ones(2), minigrad.zeros(1)])
        Tensor([1., 1., 0.], dtype=float32)
    """
    if not len(tensors):
        raise ValueError("concatenate: at least one tensor expected, got none")
    if axis is None:
        tensors, axis = [reshape(tensor, -1) for tensor in tensors], 0
    return _concatenate(*tensors, axis=axis)


def stack(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Join along a new axis.

    Args:
        tensors: At least one tensor, all of one shape.
        axis: Where the new axis stands in the result.

    Returns:
        The joined tensor, in the common dtype.

    Raises:
        ValueError: There is nothing to join, or the shapes differ.

    Example:
        >>> import minigrad
        >>> minigrad.stack([minigrad.ones(2), minigrad.zeros(2)], axis=1).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
    """
    if not len(tensors):
        raise ValueError("stack: at least one tensor expected, got none")
    return _stack(*tensors, axis=axis)


def split(x: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """Cut along an axis.

    Args:
        x: Tensor or array.
        indices_or_sections: The number of equal parts, or where to cut, as in NumPy.
        axis: The axis to cut.

    Returns:
        The parts, as views.

    Raises:
        ValueError: The axis does not exist, or its length is not divisible.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.split(minigrad.arange(5), [2, 3])]
        [[0, 1], [2], [3, 4]]
    """
    if not isinstance(x, Variable):
        x = clone(x)
    shape = x._data.shape
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"split: axis {axis} does not exist in shape {shape}")
    axis %= len(shape)
    n = shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        parts = int(indices_or_sections)
        if parts < 1 or n % parts:
            raise ValueError(f"split: length {n} (axis {axis} of {shape}) into {parts} equal parts")
        cuts = [n // parts * i for i in range(1, parts)]
    else:
        cuts = [int(cut) for cut in indices_or_sections]
    before = (slice(None),) * axis
    edges = zip([0, *cuts], [*cuts, n], strict=True)
    return tuple(getitem(x, (*before, slice(start, stop))) for start, stop in edges)


@_concatenate.defjoint("tensors")
def _concatenate_tensors(
    g: Any, needed: tuple[bool, ...], tensors_shape: tuple[tuple[int, ...], ...], axis: int
) -> list[Any]:
    before = (slice(None),) * (axis % g.ndim)
    parts, start = [], 0
    for i, want in enumerate(needed):
        stop = start + tensors_shape[i][axis]
        parts.append(g[(*before, slice(start, stop))] if want else None)
        start = stop
    return parts


@_stack.defjoint("tensors")
def _stack_tensors(g: Any, needed: tuple[bool, ...], axis: int) -> list[Any]:
    before = (slice(None),) * (axis % g.ndim)
    return [g[(*before, i)] if want else None for i, want in enumerate(needed)]


reshape.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
transpose.defvjp(x=lambda g, axes: g.transpose(None if axes is None else _inverse(axes)))
swapaxes.defvjp(x=lambda g, axis1, axis2: g.swapaxes(axis1, axis2))
squeeze.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
expand_dims.defvjp(x=lambda g, x_shape: g.reshape(x_shape))
broadcast_to.defvjp(x=lambda g: g)
clone.defvjp(x=lambda g: g)
_astype.defvjp(x=lambda g: g)


def _inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `axes`."""
    n = len(axes)
    order = [axis % n for axis in axes]
    return tuple(order.index(i) for i in range(n))

