"""The namespace of the Python array API standard, for real numbers.

Code written for any array library calls a tensor's ``__array_namespace__`` and gets this module;
einx and `einops.array_api` do so. The standard took its names from NumPy, as our ops did, so most
functions are the ops themselves. Below are those whose name or arguments differ in the standard.

Left out are the complex dtypes and the extension ``fft``. Three things follow minigrad, not the
standard: a 0-d tensor does not widen a tensor of its kind, integers take part in float functions
and beside floats, and DLPack always copies.

Source: the Python array API standard, version 2024.12.
"""

import math
import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd import dtype_class
from minigrad.autograd.dtypes import checked, get_default_dtype, promote
from minigrad.autograd.node import Variable
from minigrad.ops import argument_errors
from minigrad.ops import linalg as _linalg
from minigrad.ops._numerics import Axis, array_of
from minigrad.support.checks import check_choice, on_cpu
from minigrad.tensors import creation
from minigrad.tensors.dlpack import from_dlpack as from_dlpack

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
__array_api_version__ = VERSIONS[-1]

bool, float32, float64 = dtype_class.bool_, dtype_class.float32, dtype_class.float64
int8, int16, int32, int64 = (dtype_class.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (dtype_class.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
_DTYPES = {
    dtype.name: dtype
    for dtype in (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64)
}

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

bitwise_invert, pow, true_divide, unstack = ops.invert, ops.power, ops.divide, ops.unbind
bitwise_left_shift, bitwise_right_shift = ops.left_shift, ops.right_shift
acos, acosh, asin, asinh = ops.arccos, ops.arccosh, ops.arcsin, ops.arcsinh
atan, atanh, atan2 = ops.arctan, ops.arctanh, ops.arctan2
conj = positive = real = ops.clone
clip, concat, permute_dims = ops.clip, ops.concatenate, ops.transpose
eye, full_like = creation.eye, creation.full_like
empty_like, ones_like, zeros_like = creation.empty_like, creation.ones_like, creation.zeros_like
imag = zeros_like


def namespace(api_version: str | None = None) -> ModuleType:
    """This module, which implements the versions of the standard listed in `VERSIONS`."""
    check_choice("__array_namespace__", "api_version", api_version, (None, *VERSIONS))
    return sys.modules[__name__]


def __getattr__(name: str) -> Any:
    """An op: the names and the behaviour of many are the standard's."""
    if name in ops.__all__:
        return getattr(ops, name)
    raise AttributeError(f"minigrad has no {name!r} of the array API standard")


# Dtypes ---------------------------------------------------------------------------------------


def _dtypes(*, device: Any = None, kind: Any = None) -> dict[str, Any]:
    """The dtypes of the standard by name, those of a kind or of several."""
    on_cpu(device)
    return {name: x for name, x in _DTYPES.items() if kind is None or isdtype(x, kind)}


def _default_dtypes(*, device: Any = None) -> dict[str, Any]:
    """The dtypes of Python numbers and of indices."""
    on_cpu(device)
    return {"real floating": get_default_dtype(), "integral": int64, "indexing": int64}


def __array_namespace_info__() -> SimpleNamespace:
    """The abilities of the library."""
    limits = {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    return SimpleNamespace(
        capabilities=lambda: limits, default_device=lambda: creation.CPU,
        devices=lambda: [creation.CPU], default_dtypes=_default_dtypes, dtypes=_dtypes,
    )  # fmt: skip


def finfo(type: Any, /) -> Any:
    """The limits of a float dtype, or of the dtype of a tensor."""
    return np.finfo(_dtype_of(type))


def iinfo(type: Any, /) -> Any:
    """The limits of an integer dtype, or of the dtype of a tensor."""
    return np.iinfo(_dtype_of(type))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind, or of one of several."""
    return np.isdtype(np.dtype(dtype), kind)


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether each value of a dtype, or of a tensor's dtype, is one of the dtype `to`."""
    return np.can_cast(_dtype_of(from_), to)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype in which ops compute with tensors, tensors of given dtypes, and Python numbers."""
    found = np.result_type(*promote([_stand_in(x) for x in arrays_and_dtypes]))
    return dtype_class.dtype(found)


def _stand_in(x: Any) -> Any:
    """A small array that promotes as a tensor, or a tensor of a dtype, does; a number as it is."""
    if isinstance(x, (int, float)):
        return x
    if isinstance(x, (Variable, np.ndarray)):
        array: Any = array_of(x)
        return np.zeros((1,) * (array.ndim > 0), array.dtype)
    return np.zeros(1, checked(x, "result_type"))


def _dtype_of(x: Any) -> Any:
    return array_of(x).dtype if isinstance(x, (Variable, np.ndarray)) else x


# Creation -------------------------------------------------------------------------------------


def _of_shape(create: Callable[..., Any]) -> Callable[..., Any]:
    def call(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        return create(shape, dtype=dtype, device=device)

    return call


empty, ones, zeros = map(_of_shape, (creation.empty, creation.ones, creation.zeros))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Variable:
    """One value in a shape."""
    return creation.full(shape, fill_value, dtype=dtype, device=device)


@argument_errors.checked
def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None,
    device: Any = None,
) -> Variable:  # fmt: skip
    """Numbers from `start` up to, but not including, `stop`; one number alone is `stop`."""
    low, end = (0, start) if stop is None else (start, stop)
    end = low if (end - low) * step <= 0 else end  # the standard has no error
    return creation.arange(low, end, step, dtype=dtype, device=device)


def linspace(
    start: float, stop: float, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: Any = True,
) -> Variable:  # fmt: skip
    """Evenly spaced numbers from `start` to `stop`, which is included if `endpoint` is true."""
    if endpoint:
        return creation.linspace(start, stop, num, dtype=dtype, device=device)
    return creation.linspace(start, stop, num + 1, dtype=dtype, device=device)[:-1]


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Variable]:
    """Coordinate tensors of the grid that coordinate vectors span."""
    return [*ops.meshgrid(*arrays, indexing=indexing)]


# einx learns the tensor type from the return annotation.
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Variable:
    """Convert to a tensor; a tensor is returned as it is unless a copy is asked for."""
    return creation.asarray(obj, dtype, device, copy=copy)


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Variable:
    """Convert to another dtype; an equal dtype is copied too, unless `copy` is False."""
    on_cpu(device)
    converted = ops.astype(x, dtype)
    return ops.clone(converted) if copy and converted is x else converted


# Shapes ---------------------------------------------------------------------------------------


def broadcast_arrays(*arrays: Any) -> list[Variable]:
    """Repeat along axes of length 1, to a common shape."""
    return [*ops.broadcast_arrays(*arrays)]


def reshape(x: Any, /, shape: Sequence[int], *, copy: Any = None) -> Variable:
    """Give another shape; with `copy` always or, if it is False, never to a copy."""
    reshaped: Any = ops.reshape(x, tuple(shape))
    shared = not reshaped._data.size or np.may_share_memory(reshaped._data, x._data)
    if copy is False and not shared:
        raise ValueError(f"reshape: {tuple(x.shape)} to {shape} needs a copy, got copy=False")
    return ops.clone(reshaped) if copy and shared else reshaped


def matrix_transpose(x: Any, /) -> Variable:
    """Exchange the last two axes."""
    return ops.swapaxes(x, -1, -2)


# Values ---------------------------------------------------------------------------------------


def var(x: Any, /, *, axis: Axis = None, correction: int = 0, keepdims: Any = False) -> Variable:
    """Variance; the divisor is the number of elements minus `correction`."""
    return ops.var(x, axis, correction, keepdims)


def std(x: Any, /, *, axis: Axis = None, correction: int = 0, keepdims: Any = False) -> Variable:
    """Standard deviation; the divisor is the number of elements minus `correction`."""
    return ops.std(x, axis, correction, keepdims)


def _cumulative(scan: Callable[..., Any], initial: int) -> Callable[..., Any]:
    """A scan along an axis, which may be omitted for one-dimensional tensors."""

    def call(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False
    ) -> Any:
        if axis is None and x.ndim != 1:
            raise ValueError(f"{scan.__name__}: axis must be given for shape {tuple(x.shape)}")
        axis = 0 if axis is None else axis
        out = scan(x, axis, dtype=dtype)
        if not include_initial:
            return out
        shape = [1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)]
        return ops.concatenate([np.full(shape, initial, out.dtype), out], axis)

    return call


cumulative_sum, cumulative_prod = _cumulative(ops.cumsum, 0), _cumulative(ops.cumprod, 1)


def sort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Variable:
    """Sort along an axis; it is stable in any case."""
    return ops.sort(x, axis, descending)


def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Variable:
    """The indices that sort along an axis; equal elements keep their order in any case."""
    return ops.argsort(x, axis, descending)


UniqueAll = namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = namedtuple("UniqueCounts", "values counts")
UniqueInverse = namedtuple("UniqueInverse", "values inverse_indices")


def unique_all(x: Any, /) -> UniqueAll:
    """The unique elements and all about them; each NaN is an element of its own."""
    return UniqueAll(*ops.unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any, /) -> UniqueCounts:
    """The unique elements, and how often each occurs; each NaN is an element of its own."""
    return UniqueCounts(*ops.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The unique elements, and where each element is among them; NaNs as in `unique_all`."""
    return UniqueInverse(*ops.unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any, /) -> Variable:
    """The unique elements; each NaN is an element of its own."""
    values: Variable = ops.unique(x, equal_nan=False)
    return values


# The extension linalg -------------------------------------------------------------------------


def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Variable:
    """The trace of each matrix in the last two axes."""
    return ops.trace(x, offset, -2, -1, dtype=dtype)


def _diagonal(x: Any, /, *, offset: int = 0) -> Variable:
    """The diagonal of each matrix in the last two axes."""
    return ops.diagonal(x, offset, -2, -1)


linalg = SimpleNamespace(
    **{name: getattr(_linalg, name) for name in _linalg.__all__},  # type: ignore[attr-defined]
    cross=ops.cross,
    diagonal=_diagonal,
    matmul=ops.matmul,
    matrix_transpose=matrix_transpose,
    outer=ops.outer,
    tensordot=ops.tensordot,
    trace=_trace,
    vecdot=ops.vecdot,
)
