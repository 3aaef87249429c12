"""Joining tensors into one, and splitting one into views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.errors import type_error, value_error
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import array_of
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import getitem
from minigrad.ops.shapes import atleast_1d, atleast_2d, atleast_3d, reshape

__all__ = [
    "array_split", "column_stack", "concatenate", "dsplit", "dstack", "hsplit", "hstack",
    "split", "stack", "unbind", "vsplit", "vstack",
]  # fmt: skip


@primitive(axes=("axis",))
def _concatenate(*tensors: Any, axis: int) -> Any:
    return np.concatenate(tensors, axis)


@primitive(axes=("axis",))
def _stack(*tensors: Any, axis: int) -> Any:
    return np.stack(tensors, axis)


def concatenate(tensors: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Join along an existing axis, in the common dtype.

    Args:
        tensors: At least one tensor; the shapes agree except along `axis`.
        axis: Where to join; if None, all of them are flattened first.

    Raises:
        ValueError: There is nothing to join, or the shapes do not agree.
    """
    _refuse_nothing("concatenate", tensors)
    if axis is None:
        tensors, axis = [reshape(tensor, -1) for tensor in tensors], 0
    return _concatenate(*tensors, axis=axis)


def stack(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Join along a new axis, in the common dtype.

    Args:
        tensors: At least one tensor, all of one shape.
        axis: The position of the new axis in the result.

    Raises:
        ValueError: There is nothing to join, or the shapes differ.
    """
    _refuse_nothing("stack", tensors)
    return _stack(*tensors, axis=axis)


def hstack(tensors: Sequence[Any]) -> Tensor:
    """Join as `concatenate` does, along the second axis, or the only one; numbers have length 1.

    Example:
        >>> import minigrad
        >>> minigrad.hstack([minigrad.ones((2, 1)), minigrad.zeros((2, 2))]).tolist()
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    _refuse_nothing("hstack", tensors)
    parts: list[Any] = [atleast_1d(tensor) for tensor in tensors]
    return concatenate(parts, axis=0 if parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Any]) -> Tensor:
    """Join as `concatenate` does, along the first axis; what has one axis is a row.

    Example:
        >>> import minigrad
        >>> minigrad.vstack([minigrad.ones(2), minigrad.zeros((1, 2))]).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
    """
    _refuse_nothing("vstack", tensors)
    return concatenate([atleast_2d(tensor) for tensor in tensors])


def dstack(tensors: Sequence[Any]) -> Tensor:
    """Join as `concatenate` does, along the third axis: (n, m) is (n, m, 1), and (n,) (1, n, 1).

    Example:
        >>> import minigrad
        >>> minigrad.dstack([minigrad.ones((2, 3)), minigrad.zeros((2, 3))]).shape
        minigrad.Size([2, 3, 2])
    """
    _refuse_nothing("dstack", tensors)
    return concatenate([atleast_3d(tensor) for tensor in tensors], axis=2)


def column_stack(tensors: Sequence[Any]) -> Tensor:
    """Join as `concatenate` does, along the second axis; what has fewer than two is a column.

    Example:
        >>> import minigrad
        >>> minigrad.column_stack([minigrad.ones(2), minigrad.zeros((2, 1))]).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
    """
    _refuse_nothing("column_stack", tensors)
    parts = [as_tensor(tensor) for tensor in tensors]
    return concatenate([part if part.ndim > 1 else reshape(part, (-1, 1)) for part in parts], 1)


def split(x: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """Split along an axis into views, equal parts or at given indices.

    Args:
        x: Tensor or array.
        indices_or_sections: The number of equal parts, or the indices at which to cut, as in NumPy.
        axis: The axis to cut.

    Raises:
        TypeError: The number or the places are not integers.
        ValueError: The axis does not exist, or its length is not divisible.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.ops.split(minigrad.arange(5), [2, 3])]
        [[0, 1], [2], [3, 4]]
    """
    return _split("split", x, indices_or_sections, axis, equal=True)


def array_split(
    x: Any, indices_or_sections: int | Sequence[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """Split as `split` does, into parts whose lengths may differ by one, longer ones first.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.array_split(minigrad.arange(5), 3)]
        [[0, 1], [2, 3], [4]]
    """
    return _split("array_split", x, indices_or_sections, axis, equal=False)


def hsplit(input: Any, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split as `split` does, along the second axis, or the only one.

    Example:
        >>> import minigrad
        >>> [part.tolist() for part in minigrad.hsplit(minigrad.arange(4), 2)]
        [[0, 1], [2, 3]]
    """
    x = as_tensor(input)
    return _split("hsplit", x, indices_or_sections, int(x.ndim > 1), equal=True)


def vsplit(input: Any, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split as `split` does, along the first axis of at least two.

    Example:
        >>> import minigrad
        >>> [part.shape for part in minigrad.vsplit(minigrad.ones((4, 3)), 2)]
        [minigrad.Size([2, 3]), minigrad.Size([2, 3])]
    """
    x, _, _ = along("vsplit", input, 1)
    return _split("vsplit", x, indices_or_sections, 0, equal=True)


def dsplit(input: Any, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split as `split` does, along the third axis.

    Example:
        >>> import minigrad
        >>> [part.shape for part in minigrad.dsplit(minigrad.ones((2, 3, 4)), 2)]
        [minigrad.Size([2, 3, 2]), minigrad.Size([2, 3, 2])]
    """
    return _split("dsplit", input, indices_or_sections, 2, equal=True)


def unbind(x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Split an axis into views without it, one for each index.

    Raises:
        ValueError: The axis does not exist.
    """
    x, axis, n = along("unbind", x, axis)
    before = (slice(None),) * axis
    return tuple(getitem(x, (*before, i)) for i in range(n))


def _refuse_nothing(name: str, tensors: Sequence[Any]) -> None:
    if not len(tensors):
        raise value_error(f"{name}: at least one tensor expected, got none")


def along(name: str, x: Any, axis: int) -> tuple[Tensor, int, int]:
    """The tensor, the axis counted from the front, and its length."""
    x = as_tensor(x)
    if not -x.ndim <= axis < x.ndim:
        raise value_error(f"{name}: axis {axis} does not exist in shape {x.shape}")
    return x, axis % x.ndim, x.shape[axis]


def _split(
    name: str, x: Any, indices_or_sections: Any, axis: int, equal: bool
) -> tuple[Tensor, ...]:
    x, axis, n = along(name, x, axis)
    cuts = np.asarray(array_of(indices_or_sections))
    if cuts.size and cuts.dtype.kind not in "iu":
        raise type_error(f"{name}: a number of parts or places to cut expected, got {cuts.dtype}")
    if cuts.ndim:
        return _pieces(x, cuts.astype(int).tolist(), axis)
    parts = int(cuts)
    if parts < 1 or (equal and n % parts):
        kind = "equal parts" if equal else "parts"
        raise value_error(f"{name}: length {n} (axis {axis} of {x.shape}) into {parts} {kind}")
    short, longer = divmod(n, parts)  # the first `longer` parts have one more element
    return _pieces(x, [i * short + min(i, longer) for i in range(1, parts)], axis)


def _pieces(x: Tensor, cuts: Iterable[int], axis: int) -> tuple[Tensor, ...]:
    before = (slice(None),) * axis
    edges = zip([0, *cuts], [*cuts, x.shape[axis]], strict=True)
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


_concatenate.defformula(
    tensors="""
    ends = np.cumsum([0, *(shape[axis] for shape in tensors_shape)])  #
    part = (slice(None),) * (axis % g.ndim) + (slice(*ends[i : i + 2]),)  # of tensor i, along axis
    g[part]
    """
)
_stack.defformula(tensors="take(g, i, axis)")
