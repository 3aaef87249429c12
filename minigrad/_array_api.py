"""The namespace of the Python array API standard, for the functions that minigrad has.

Code written for any array library calls a tensor's ``__array_namespace__`` and gets this module;
einx and `einops.array_api` do so. The standard took its names from NumPy, as our ops did, so most
functions are the ops themselves. Below are those whose name or arguments differ in the standard.

Source: the Python array API standard, version 2024.12.
"""

import math
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from minigrad import _creation, ops
from minigrad import linalg as _linalg
from minigrad._creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from minigrad._dlpack import from_dlpack
from minigrad.autograd.node import Variable
from minigrad.ops._numerics import Axis

__all__ = [
    "acos", "acosh", "arange", "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh",
    "bitwise_invert", "bool", "clip", "concat", "cumulative_prod", "cumulative_sum", "e", "empty",
    "empty_like", "eye", "finfo", "float32", "float64", "from_dlpack", "full", "full_like", "iinfo",
    "inf", "int8", "int16", "int32", "int64", "isdtype", "linalg", "linspace", "matrix_transpose",
    "nan", "newaxis", "ones", "ones_like", "permute_dims", "pi", "pow", "std", "true_divide",
    "uint8", "uint16", "uint32", "uint64", "unstack", "var", "zeros", "zeros_like",
]  # fmt: skip

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
__array_api_version__ = VERSIONS[-1]

bool, float32, float64 = np.dtype(np.bool_), np.dtype(np.float32), np.dtype(np.float64)
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
finfo, iinfo, isdtype = np.finfo, np.iinfo, np.isdtype

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

bitwise_invert, pow, true_divide, unstack = ops.invert, ops.power, ops.divide, ops.unbind
acos, acosh, asin, asinh = ops.arccos, ops.arccosh, ops.arcsin, ops.arcsinh
atan, atanh, atan2 = ops.arctan, ops.arctanh, ops.arctan2


def namespace(api_version: str | None = None) -> ModuleType:
    """This module, which implements the versions of the standard listed in `VERSIONS`."""
    if api_version not in (None, *VERSIONS):
        raise ValueError(f"__array_namespace__: expected one of {VERSIONS}, got {api_version!r}")
    return sys.modules[__name__]


def __getattr__(name: str) -> Any:
    """The ops whose names and behaviour are the standard's."""
    if name in ops.__all__:
        return getattr(ops, name)
    raise AttributeError(f"minigrad has no {name!r} of the array API standard")


# einx learns the tensor type from the return annotation.
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Variable:
    """Convert to a tensor; a tensor is returned as it is unless a copy is asked for."""
    _creation.on_cpu(device)
    if isinstance(obj, Variable):
        tensor = astype(obj, obj._data.dtype if dtype is None else dtype, copy=copy is True)
    else:
        tensor = _creation.tensor(obj, dtype=dtype)
    if copy is False and tensor is not obj:
        raise ValueError("asarray: copy=False needs a tensor that has the requested dtype already")
    return tensor


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Variable:
    """Convert to another dtype; an equal dtype is copied too, unless `copy` is False."""
    _creation.on_cpu(device)
    converted = ops.astype(x, dtype)
    return ops.clone(converted) if copy and converted is x else converted


def permute_dims(x: Any, /, axes: Sequence[int]) -> Variable:
    """Reorder the axes."""
    return ops.transpose(x, tuple(axes))


def matrix_transpose(x: Any, /) -> Variable:
    """Exchange the last two axes."""
    return ops.swapaxes(x, -1, -2)


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Variable:
    """Join along an existing axis."""
    return ops.concatenate(arrays, axis)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Variable:
    """Limit each element to the range from `min` to `max`."""
    return ops.clip(x, min, max)


def var(x: Any, /, *, axis: Axis = None, correction: int = 0, keepdims: Any = False) -> Variable:
    """Variance; the divisor is the number of elements minus `correction`."""
    return ops.var(x, axis, correction, keepdims)


def std(x: Any, /, *, axis: Axis = None, correction: int = 0, keepdims: Any = False) -> Variable:
    """Standard deviation; the divisor is the number of elements minus `correction`."""
    return ops.std(x, axis, correction, keepdims)


def cumulative_sum(x: Any, /, *, axis: int | None = None) -> Variable:
    """Cumulative sums; `axis` may be omitted for one-dimensional tensors."""
    return ops.cumsum(x, _only_axis("cumulative_sum", x, axis))


def cumulative_prod(x: Any, /, *, axis: int | None = None) -> Variable:
    """Cumulative products; `axis` may be omitted for one-dimensional tensors."""
    return ops.cumprod(x, _only_axis("cumulative_prod", x, axis))


def _only_axis(name: str, x: Any, axis: int | None) -> int:
    """The given axis, or the only one."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis must be given for a tensor of shape {x.shape}")
    return 0 if axis is None else axis


def _trace(x: Any, /, *, offset: int = 0) -> Variable:
    """The trace of each matrix in the last two axes."""
    return ops.trace(x, offset, -2, -1)


def _diagonal(x: Any, /, *, offset: int = 0) -> Variable:
    """The diagonal of each matrix in the last two axes."""
    return ops.diagonal(x, offset, -2, -1)


linalg = SimpleNamespace(
    **{name: getattr(_linalg, name) for name in _linalg.__all__},
    cross=ops.cross,
    diagonal=_diagonal,
    matmul=ops.matmul,
    matrix_transpose=matrix_transpose,
    outer=ops.outer,
    tensordot=ops.tensordot,
    trace=_trace,
    vecdot=ops.vecdot,
)
