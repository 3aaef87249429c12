"""The default dtype, and the conversion of a user's data to an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad._checks import fitted

__all__ = ["checked", "get_default_dtype", "set_default_dtype", "to_array"]

_default = np.dtype(np.float32)


def get_default_dtype() -> np.dtype[Any]:
    """The dtype that Python floats become: float32 unless `set_default_dtype` changed it.

    Example:
        >>> import minigrad
        >>> minigrad.get_default_dtype()
        dtype('float32')
    """
    return _default


def set_default_dtype(dtype: Any) -> None:
    """Choose the dtype that Python floats become, for the whole process.

    Args:
        dtype: float16, float32 or float64.

    Raises:
        TypeError: It is not a floating dtype.

    Example:
        >>> import minigrad
        >>> minigrad.set_default_dtype(minigrad.float64)
        >>> minigrad.tensor(1.0).dtype
        dtype('float64')
        >>> minigrad.set_default_dtype(minigrad.float32)
    """
    global _default
    chosen = checked(np.float64 if dtype is float else dtype, "set_default_dtype")
    if chosen.kind != "f":
        raise TypeError(f"set_default_dtype: float16, float32 or float64 expected, got {chosen}")
    _default = chosen


def to_array(value: Any, dtype: Any = None, *, name: str) -> np.ndarray:
    """Copy numbers, nested lists, an array or a tensor's values into a new array.

    Args:
        value: Anything that NumPy converts to a numeric array; its memory is not shared.
        dtype: The dtype of the result. If None, Python floats become the default dtype, and arrays
            and NumPy scalars keep theirs.
        name: The op that errors name.

    Raises:
        OverflowError: A number does not fit into the requested integer dtype.
        RuntimeError: A list holds tensors whose gradients would be lost.
        TypeError: It holds something other than bools, integers and floats.
        ValueError: A nested list is ragged, or a NaN cannot become an integer.
    """
    has_dtype = hasattr(value, "dtype") or hasattr(value, "__array__")
    try:
        # .numpy() of a tensor tells a tracer that the values leave the graph
        array = np.array(value.numpy() if hasattr(value, "numpy") else value)
    except ValueError:
        raise ValueError(
            f"{name}: nested lists must have equal lengths on each axis, got a ragged list"
        ) from None
    except RuntimeError as error:
        raise RuntimeError(f"{name}: {error}") from None
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(
            f"{name}: a tensor holds bools, integers or floats of at most 64 bits; "
            f"got {type(value).__name__} of dtype {array.dtype}"
        )
    if dtype is not None:
        return fitted(array, checked(dtype, name), name)
    if not has_dtype and array.dtype.kind == "f" and not _holds_numpy(value):
        return array.astype(_default, copy=False)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array


def checked(dtype: Any, name: str) -> np.dtype[Any]:
    """Return a dtype that tensors can have; Python's `float` stands for the default dtype."""
    if dtype is float:
        return _default
    try:
        chosen: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: a dtype such as minigrad.float32 expected: {error}") from None
    if chosen.kind not in "biuf" or chosen.itemsize > 8:
        raise TypeError(
            f"{name}: a tensor cannot have dtype {chosen}: bool, integer or float expected"
        )
    return chosen


def _holds_numpy(value: Any) -> bool:
    """Whether a nested list holds arrays, tensors or NumPy scalars, which keep their dtype."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return hasattr(value, "dtype")
