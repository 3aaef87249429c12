"""In which dtype an op computes.

The promotion rules are NumPy 2's with two changes: Python scalars, NumPy scalars and 0-d arrays
are weak (they never widen an array of their own kind), and integer or bool arrays never widen a
float.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad._dtypes import get_default_dtype, to_array

__all__ = ["operand", "promote"]


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


def promote(values: Sequence[Any], floats_only: bool = False) -> list[Any]:
    """Bring operands to the dtype in which they are computed.

    Args:
        values: Arrays and Python scalars.
        floats_only: Whether the op is defined on floats only, as division is.

    Returns:
        The same operands in the common dtype; Python scalars stay where NumPy casts them rightly.
    """
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    strong = [array.dtype for array in arrays if array.ndim] or [array.dtype for array in arrays]
    floats = [dtype for dtype in strong if dtype.kind == "f"]
    if floats:
        common = floats[0] if len(floats) == 1 else np.result_type(*floats)
    else:
        weak = [v.dtype if isinstance(v, np.ndarray) else np.dtype(type(v)) for v in values]
        if floats_only or any(dtype.kind == "f" for dtype in weak):
            common = get_default_dtype()
        elif strong:
            scalars = [v for v in values if not isinstance(v, np.ndarray)]
            common = np.result_type(*strong, *scalars)
        else:
            common = np.result_type(*weak)
    return [
        value.astype(common, copy=False)
        if isinstance(value, np.ndarray)
        else (value if arrays and value.__class__ is not bool else np.asarray(value, common))
        for value in values
    ]
