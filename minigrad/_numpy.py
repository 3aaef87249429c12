"""What NumPy functions do when they meet a Tensor: the op that answers for them, or an error.

`primitive(np.exp)` enters an op for ``np.exp``. Ops that are not primitives, and NumPy functions
that only ask something, are entered here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import by_numpy

__all__ = ["array_function", "array_ufunc"]

_REDUCTIONS = {np.add: ops.sum, np.maximum: ops.max, np.minimum: ops.min}

_TABLE: dict[Any, Callable[..., Any]] = {
    np.concatenate: ops.concatenate,
    np.stack: ops.stack,
    np.split: ops.split,
    np.einsum: ops.einsum,
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
_KEYWORDS = {"a": "x", "arr": "x", "x1": "a", "x2": "b", "a_min": "low", "a_max": "high",
             "min": "low", "max": "high", "newshape": "shape"}  # fmt: skip


def _array(x: Any) -> Any:
    return x._data if isinstance(x, Variable) else x


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Answer for a NumPy ufunc: ``np.exp(t)``, ``ndarray * t``, ``np.add.reduce(t)``."""
    if method == "__call__":
        return _call(ufunc, ufunc.__name__, inputs, kwargs, by_numpy.get(ufunc))
    op = _REDUCTIONS.get(ufunc) if method == "reduce" else None
    if op is not None:
        kwargs.setdefault("axis", 0)
    return _call(ufunc, f"{ufunc.__name__}.{method}", inputs, kwargs, op)


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Answer for any other NumPy function: ``np.sum(t)``, ``np.concatenate([t, u])``."""
    if func is np.linalg.norm:
        _refuse_matrix_norm(*args, **kwargs)
    return _call(func, func.__name__, args, kwargs, _TABLE.get(func) or by_numpy.get(func))


def _refuse_matrix_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> None:
    """Where NumPy takes the norm of a matrix, ours takes that of its elements."""
    axes = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if ord is not None and axes != 1:
        raise TypeError(
            f"np.linalg.norm: minigrad has no matrix norm, as ord={ord!r} over {axes} axes is; "
            f"minigrad.norm takes the norm of all elements"
        )


def _call(func: Any, name: str, args: Any, kwargs: dict[str, Any], op: Any) -> Any:
    if op is None:
        raise TypeError(
            f"np.{name}: minigrad has no derivative for it, so it does not take a Tensor; pass "
            f"t.numpy() for the values alone"
        )
    given = {
        k: v for k, v in kwargs.items() if (v is not None or k == "axis") and v is not np._NoValue
    }
    parameters = getattr(getattr(op, "op", None), "params", ())
    for key in list(given):
        renamed = _KEYWORDS.get(key, key)
        if key not in parameters and renamed in parameters:
            given[renamed] = given.pop(key)
    if parameters and not set(given) <= set(parameters):
        unknown = ", ".join(sorted(set(given) - set(parameters)))
        raise TypeError(f"np.{name}: a Tensor does not take {unknown}")
    return op(*args, **given)
