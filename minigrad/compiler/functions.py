"""The functions that instructions of a program call beside those of the ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.random import drawing_from

__all__ = [
    "add_copy_to_grad", "add_to_grad", "added", "constant", "copied", "from_stream", "grad_of",
    "laid_out", "read", "set_data", "updated", "write",
]  # fmt: skip


def constant(array: np.ndarray) -> np.ndarray:
    """An array that the step makes anew in each call, with the same values."""
    return np.array(array)


def add_to_grad(tensor: Any, array: np.ndarray) -> None:
    """Add a gradient to a leaf as a backward pass does; the array becomes the leaf's own."""
    known = tensor._grad
    tensor._grad = wrap(array if known is None else known._data + array)


def add_copy_to_grad(tensor: Any, array: np.ndarray) -> None:
    """The same for an array that others hold too."""
    add_to_grad(tensor, np.array(array))


def read(tensor: Any) -> np.ndarray:
    """The array that a tensor has when the program comes to this instruction."""
    array: np.ndarray = tensor._data
    return array


def write(target: np.ndarray, values: Any) -> np.ndarray:
    """Write into memory that lives longer than the step."""
    np.copyto(target, values, casting="same_kind")
    return target


def set_data(tensor: Any, array: np.ndarray) -> np.ndarray:
    """Replace the array of a tensor that lives longer than the step."""
    tensor._data = array
    return array


def grad_of(tensor: Any) -> Any:
    """The gradient that a tensor has when the program comes to this instruction."""
    return tensor._grad


def copied(array: np.ndarray) -> np.ndarray:
    """The values that an array has before it is written to, in its layout."""
    return array.copy(order="K")


def laid_out(values: Any, shape: Any, dtype: Any, strides: Any) -> np.ndarray:
    """The values written over an array, which keeps its shape, its dtype and its layout."""
    like = np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)
    copy = np.empty_like(like)
    np.copyto(copy, values, casting="same_kind")
    return copy


def added(known: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A sum in the layout of its first part, as the engine makes it."""
    return np.add(known, part, out=np.empty_like(known))


def updated(array: np.ndarray, update: Any) -> np.ndarray:
    """A gradient with an `Update` added to it."""
    array = np.array(array)
    update.add_to(array)
    return array


def from_stream(stream: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that draws from a stream of its own."""
    with drawing_from(stream):
        return function(*args, **kwargs)
