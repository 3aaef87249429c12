"""What NumPy functions do when they meet a Tensor: the op that answers for them, or an error.

`primitive(np.exp)` enters an op for ``np.exp``. Ops that are not primitives, and NumPy functions
that only ask something, are entered here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import linalg, ops
from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import by_numpy

__all__ = ["array_function", "array_ufunc"]

_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: ops.sum,
    np.multiply: ops.prod,
    np.maximum: ops.max,
    np.minimum: ops.min,
    np.logaddexp: ops.logsumexp,
    np.logical_and: ops.all,
    np.logical_or: ops.any,
}
_ACCUMULATIONS: dict[Any, Callable[..., Any]] = {np.add: ops.cumsum, np.multiply: ops.cumprod}
_METHODS = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}

_TABLE: dict[Any, Callable[..., Any]] = {
    np.atleast_1d: ops.atleast_1d,
    np.atleast_2d: ops.atleast_2d,
    np.atleast_3d: ops.atleast_3d,
    np.broadcast_arrays: ops.broadcast_arrays,
    np.meshgrid: ops.meshgrid,
    np.concatenate: ops.concatenate,
    np.stack: ops.stack,
    np.hstack: ops.hstack,
    np.vstack: ops.vstack,
    np.dstack: ops.dstack,
    np.divmod: lambda a, b: (ops.floor_divide(a, b), ops.remainder(a, b)),
    np.diff: ops.diff,
    np.split: ops.split,
    np.array_split: ops.array_split,
    np.fliplr: ops.fliplr,
    np.flipud: ops.flipud,
    np.repeat: ops.repeat,
    np.pad: ops.pad,
    np.diag: ops.diag,
    np.take: ops.take,
    np.take_along_axis: ops.take_along_axis,
    np.where: ops.where,
    np.isin: ops.isin,
    np.searchsorted: ops.searchsorted,
    np.unique: ops.unique,
    # Ours are stable: any kind that is asked for is what they do.
    np.sort: lambda x, axis=-1, kind=None, *, stable=None: ops.sort(x, axis),
    np.argsort: lambda x, axis=-1, kind=None, *, stable=None: ops.argsort(x, axis),
    np.dot: ops.dot,
    np.inner: ops.inner,
    np.outer: ops.outer,
    np.vdot: ops.vdot,
    np.vecdot: ops.vecdot,
    np.cross: ops.cross,
    np.kron: ops.kron,
    np.tensordot: ops.tensordot,
    np.einsum: lambda *args, optimize=None: ops.einsum(*args),  # ours chooses by itself
    np.linalg.cholesky: linalg.cholesky,
    np.linalg.cond: linalg.cond,
    np.linalg.cross: ops.cross,
    np.linalg.diagonal: lambda x, *, offset=0: ops.diagonal(x, offset, -2, -1),
    np.linalg.eigh: linalg.eigh,
    np.linalg.lstsq: linalg.lstsq,
    np.linalg.matmul: ops.matmul,
    np.linalg.matrix_norm: linalg.matrix_norm,
    np.linalg.matrix_power: linalg.matrix_power,
    np.linalg.multi_dot: linalg.multi_dot,
    np.linalg.norm: linalg.norm,
    np.linalg.outer: ops.outer,
    np.linalg.qr: linalg.qr,
    np.linalg.slogdet: linalg.slogdet,
    np.linalg.svd: linalg.svd,
    np.linalg.tensordot: ops.tensordot,
    np.linalg.trace: lambda x, *, offset=0: ops.trace(x, offset, -2, -1),
    np.linalg.vecdot: ops.vecdot,
    np.linalg.vector_norm: linalg.vector_norm,
    np.astype: ops.astype,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
    np.zeros_like: lambda x, dtype=None: np.zeros(x.shape, dtype or x.dtype),
    np.ones_like: lambda x, dtype=None: np.ones(x.shape, dtype or x.dtype),
    np.array_equal: lambda a, b: np.array_equal(_array(a), _array(b)),
    np.allclose: lambda a, b, **options: np.allclose(_array(a), _array(b), **options),
    np.array2string: lambda x, *args, **kwargs: np.array2string(_array(x), *args, **kwargs),
}

# NumPy's names for what our ops call otherwise.
_KEYWORDS = {"a": "x", "A": "x", "ar": "x", "arr": "x", "array": "x", "ary": "x", "m": "x",
             "v": "x", "x1": "a", "x2": "b", "arrays": "tensors", "tup": "tensors", "a_min": "low",
             "a_max": "high", "min": "low", "max": "high", "newshape": "shape",
             "rcond": "rtol", "correction": "ddof"}  # fmt: skip


def _array(x: Any) -> Any:
    return x._data if isinstance(x, Variable) else x


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Answer for a NumPy ufunc: ``np.exp(t)``, ``ndarray * t``, ``np.add.accumulate(t)``."""
    if method == "__call__":
        op = _TABLE.get(ufunc) or by_numpy.get(ufunc)
        return _call(ufunc, ufunc.__name__, inputs, kwargs, op)
    op = _METHODS.get(method, {}).get(ufunc)
    if op is not None:
        kwargs.setdefault("axis", 0)
    return _call(ufunc, f"{ufunc.__name__}.{method}", inputs, kwargs, op)


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Answer for any other NumPy function: ``np.sum(t)``, ``np.concatenate([t, u])``."""
    return _call(func, func.__name__, args, kwargs, _TABLE.get(func) or by_numpy.get(func))


@functools.cache
def _parameters(op: Callable[..., Any]) -> tuple[str, ...]:
    """The names that an op takes; none if it takes any."""
    parameters = inspect.signature(op).parameters
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return () if anything else tuple(parameters)


def _call(func: Any, name: str, args: Any, kwargs: dict[str, Any], op: Any) -> Any:
    if op is None:
        raise TypeError(
            f"np.{name}: minigrad has no derivative for it, so it does not take a Tensor; pass "
            f"t.numpy() for the values alone"
        )
    given = {
        k: v for k, v in kwargs.items() if (v is not None or k == "axis") and v is not np._NoValue
    }
    parameters = _parameters(op)
    for key in list(given):
        renamed = _KEYWORDS.get(key, key)
        if key not in parameters and renamed in parameters:
            given[renamed] = given.pop(key)
    if parameters and not set(given) <= set(parameters):
        unknown = ", ".join(sorted(set(given) - set(parameters)))
        raise TypeError(f"np.{name}: a Tensor does not take {unknown}")
    return op(*args, **given)
