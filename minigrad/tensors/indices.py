"""Indices that mix integers and arrays: PyTorch selects by the integers first.

NumPy counts an integer beside an array among the arrays, so that ``x[0, :, [1, 2]]`` has the axis
of the array first. In PyTorch it is ``x[0][:, [1, 2]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.node import Variable, data_of

__all__ = ["is_integer", "two_steps"]

_NO_ARRAYS = {int, slice, type(None), type(Ellipsis)}


def two_steps(index: tuple[Any, ...], axes: int) -> tuple[Any, Any] | None:
    """The integers of an index, and the rest; None where NumPy's rules serve.

    Args:
        index: The index.
        axes: The number of axes of the tensor.
    """
    if _NO_ARRAYS.issuperset(map(type, index)):  # the commonest indices, sooner than below
        return None
    others = [each for each in index if each.__class__ not in _NO_ARRAYS]
    integers = int in map(type, index) or any(map(is_integer, others))
    if not integers or not any(map(_is_array, others)):
        return None
    rest = [slice(None)] * (axes - sum(map(_used, index)))
    full: list[Any] = []
    for each in index:
        full += rest if each is Ellipsis else [each]
    first = [int(each) if is_integer(each) else slice(None) for each in full if each is not None]
    return tuple(first), tuple([each for each in full if not is_integer(each)])


def is_integer(index: Any) -> bool:
    """Whether an index, or a length, is one integer."""
    array = data_of(index)
    if isinstance(array, np.ndarray):
        return not array.ndim and array.dtype.kind in "iu"
    return isinstance(array, (int, np.integer)) and not isinstance(array, bool)


def _is_array(index: Any) -> bool:
    """Whether an index is an array, and not one integer."""
    return isinstance(index, (list, np.ndarray, Variable)) and not is_integer(index)


def _used(index: Any) -> int:
    """The number of axes of an index."""
    if index is None or index is Ellipsis:
        return 0
    array = data_of(index)
    whole = np.asarray(array) if isinstance(array, (list, np.ndarray)) else None
    return whole.ndim if whole is not None and whole.dtype.kind == "b" else 1
