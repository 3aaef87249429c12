"""The default dtype, the conversion of a user's data to an array, and the dtype of an op.

The promotion rules are NumPy 2's with two changes: Python scalars, NumPy scalars and 0-d arrays
are weak (they never widen an array of their own kind: bool, integer or float), and integer or bool
arrays never widen a float.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from minigrad.autograd import dtype_class
from minigrad.autograd.node import Variable
from minigrad.support.checks import fitted

_default = np.dtype(np.float32)


def get_default_dtype() -> dtype_class.dtype:
    """Return the dtype that Python floats become: float32 unless `set_default_dtype` changed it.

    Example:
        >>> import minigrad
        >>> minigrad.get_default_dtype()
        minigrad.float32
    """
    return dtype_class.DTYPES[_default]


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
        minigrad.float64
        >>> minigrad.set_default_dtype(minigrad.float32)
    """
    global _default
    chosen = checked(dtype, "set_default_dtype")
    if chosen.kind != "f":
        raise TypeError(f"set_default_dtype: float16, float32 or float64 expected, got {chosen}")
    _default = chosen


def to_array(value: Any, dtype: Any = None, *, name: str, of_numbers: bool = False) -> np.ndarray:
    """Copy numbers, nested lists, an array or a tensor's values into a new array.

    Without a dtype, Python floats become the default dtype, and arrays and NumPy scalars keep
    theirs. With `of_numbers`, a tensor in a list is a number, as PyTorch's constructors take it;
    otherwise it is an array, as in NumPy. `name` is the op that errors name.
    """
    if hasattr(value, "_fields") and any(isinstance(part, Variable) for part in value):
        raise TypeError(
            f"{name}: a tensor expected, got {type(value).__name__} of "
            f"{', '.join(value._fields)}: choose one, such as .{value._fields[0]}"
        )
    has_dtype = hasattr(value, "dtype") or hasattr(value, "__array__")
    found: set[np.dtype[Any]] = set()
    try:
        # .numpy() of a tensor tells a tracer that the values leave the graph
        if hasattr(value, "numpy"):
            value = value.numpy()
        elif not has_dtype and not _of_python(value, found):
            value = _parts(value, found, of_numbers)
        array = np.array(value)
    except ValueError:
        raise ValueError(
            f"{name}: nested lists must have equal lengths on each axis, got a ragged list"
        ) from None
    except RuntimeError as error:
        raise type(error)(f"{name}: {error}") from None
    floats = [known for known in found if known.kind == "f"]
    kind = array.dtype.kind
    if not has_dtype and (kind == "O" or (kind == "f" and array.size and not floats)):
        array = _of_large_integers(value, array, dtype, name)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(
            f"{name}: a tensor holds bools, integers or floats of at most 64 bits; "
            f"got {type(value).__name__} of dtype {array.dtype}"
        )
    if dtype is not None:
        return fitted(array, checked(dtype, name), name)
    if not has_dtype and array.dtype.kind in "if":  # it may be another array by now
        own = _default if array.dtype.kind == "f" else np.dtype(np.int64)
        (known, *others) = floats or found or [own]
        return array.astype(np.result_type(known, *others) if others else known, copy=False)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


_OF_PYTHON = {bool: np.dtype(bool), int: np.dtype(np.int64), float: None}
"""The dtypes of Python's numbers; of floats it is the default. A browser's NumPy has int32."""
_LISTS = {list, tuple}


def _of_python(value: Any, found: set[np.dtype[Any]]) -> bool:
    """Whether data are numbers of Python's, in lists or not; `found` gets their dtypes."""
    level: Any = [value]
    while (kinds := {*map(type, level)}) and kinds <= _LISTS:
        level = [*chain.from_iterable(level)]
    if not kinds <= _OF_PYTHON.keys():
        return False
    found.update([_OF_PYTHON[kind] or _default for kind in kinds])
    return True


def _parts(value: Any, found: set[np.dtype[Any]], of_numbers: bool) -> Any:
    """Other data, with tensors as arrays or numbers; `found` gets the dtypes of what they hold."""
    if isinstance(value, (list, tuple)) and not _of_python(value, found):
        return [_part(part, found, of_numbers) for part in value]
    if value.__class__ in _OF_PYTHON:
        found.add(_OF_PYTHON[value.__class__] or _default)
    return value


def _part(part: Any, found: set[np.dtype[Any]], of_numbers: bool) -> Any:
    """A part of a list."""
    if not hasattr(part, "__array__"):
        return _parts(part, found, of_numbers)
    array = np.asarray(part)
    found.add(array.dtype)
    if not of_numbers or not isinstance(part, Variable):
        return array
    if array.size != 1:
        raise RuntimeError(
            f"a tensor in a list must have one element, got shape {array.shape}; minigrad.stack "
            f"joins tensors"
        )
    return array.reshape(())


def _of_large_integers(value: Any, array: np.ndarray, dtype: Any, name: str) -> np.ndarray:
    """Python numbers of which NumPy made floats or objects, as int64 does not hold them all.

    They are floats where one is among them or asked for, and otherwise uint64.
    """
    numbers = np.array(value, object)
    kinds = {*map(type, numbers.flat)}
    if not kinds <= {bool, int, float}:
        return array
    wanted = None if dtype is None else checked(dtype, name)
    if float in kinds or (wanted is not None and wanted.kind == "f"):
        return numbers.astype(np.float64)
    low, high = numbers.min(), numbers.max()
    if low < 0 or high >= 2**64:
        shown = high if low == high else f"integers from {low} to {high}"
        kind, remedy = (f"{wanted}", "") if wanted else ("64 bits", "; for floats pass a dtype")
        raise OverflowError(f"{name}: {kind} cannot hold {shown}{remedy}")
    return numbers.astype(np.uint64)


def checked(dtype: Any, name: str) -> np.dtype[Any]:
    """Return a dtype that tensors can have."""
    if dtype is int:
        return np.dtype(np.int64)  # in a browser NumPy's integers have 32 bits
    try:
        chosen: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        why = "NumPy has no bfloat16" if getattr(dtype, "name", "") == "bfloat16" else error
        raise TypeError(f"{name}: a dtype such as minigrad.float32 expected: {why}") from None
    if chosen.kind not in "biuf" or chosen.itemsize > 8:
        raise TypeError(
            f"{name}: a tensor cannot have dtype {chosen}: bool, integer or float expected"
        )
    return chosen


def is_unknown(value: Any) -> bool:
    """Whether it is text or an object without numbers, which may know what an operator means."""
    if isinstance(value, (Variable, np.ndarray, list, tuple)):
        return False
    array = np.asarray(value)
    return not array.ndim and array.dtype.kind in "OUS"


def operand(value: Any, name: str) -> Any:
    """One side of the op `name`: a Python scalar stays one, a NumPy scalar becomes one."""
    kind = value.__class__
    if kind is float or kind is int or kind is bool:
        return value
    if kind is np.ndarray and value.dtype.kind in "biuf" and value.dtype.isnative:
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return value.item()
    if isinstance(value, (int, float)):  # of a subclass: the number alone
        return value.real
    return to_array(value, name=name)


def promote(values: Sequence[Any], floats_only: bool = False, compared: bool = False) -> list[Any]:
    """Bring operands, arrays and Python scalars, to the dtype in which they are computed.

    It is a float with `floats_only`, for ops that are defined on floats only, as division is.
    An array without axes is weak beside those with axes, but a float beside integers keeps its
    dtype. Integers that are `compared` stay what they are: no dtype holds all of int64 and uint64.
    Python scalars stay where NumPy casts them rightly.
    """
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    if len(arrays) == 1 and arrays[0].dtype.kind == "f" and bool not in map(type, values):
        return list(values)
    common = _common_dtype(values, arrays, floats_only, compared)
    if common is None:
        return list(values)
    return [
        _cast(value, common)
        if isinstance(value, np.ndarray)
        else (value if arrays and value.__class__ is not bool else np.asarray(value, common))
        for value in values
    ]


def _common_dtype(
    values: Sequence[Any], arrays: list[np.ndarray], floats_only: bool, compared: bool
) -> np.dtype[Any] | None:
    """The dtype of `promote`; None if the operands stay what they are."""
    strong = [array.dtype for array in arrays if array.ndim] or [array.dtype for array in arrays]
    floats = [dtype for dtype in strong if dtype.kind == "f"]
    floats = floats or [array.dtype for array in arrays if array.dtype.kind == "f"]
    if floats:
        return floats[0] if len(floats) == 1 else np.result_type(*floats)
    scalars = [value for value in values if not isinstance(value, np.ndarray)]
    if floats_only or float in map(type, scalars):
        return _default
    if compared and any(array.dtype.kind != "b" for array in arrays):
        return None
    integers = [dtype for dtype in strong if dtype.kind != "b"]
    return np.result_type(*(integers or [array.dtype for array in arrays]), *scalars)


def _cast(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Convert an operand; a 0-d integer must be in the range of the dtype."""
    if array.dtype is dtype:
        return array
    return array.astype(dtype) if array.ndim or dtype.kind == "f" else fitted(array, dtype)
