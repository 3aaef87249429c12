"""NumPy functions called on a Tensor: dispatch to an op, or refuse to lose a gradient.

`primitive(numpy=np.exp)` registers an op for ``np.exp``; the table here has the functions that are
not primitives. A NumPy function without an op computes on the values and returns NumPy's result if
no gradient is lost: nothing is recorded, or the result does not depend differentiably on the
values. Otherwise it raises an error.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import by_numpy
from minigrad.ops.casting import floating
from minigrad.support.signatures import signature_of
from minigrad.support.tree import leaves, mapped
from minigrad.tensors import array_api

_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: ops.sum, np.multiply: ops.prod, np.maximum: ops.max, np.minimum: ops.min,
    np.logaddexp: ops.logsumexp, np.logical_and: ops.all, np.logical_or: ops.any,
}  # fmt: skip
_ACCUMULATIONS: dict[Any, Callable[..., Any]] = {np.add: ops.cumsum, np.multiply: ops.cumprod}
_METHODS = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}

_STANDARD = (  # NumPy has these from the array API standard, some since 2.1
    "cumulative_prod", "cumulative_sum", "matrix_transpose", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unstack",
)  # fmt: skip

# A function of ours with the name of a NumPy function has its meaning, and answers for it.
_TABLE: dict[Any, Callable[..., Any]] = {
    getattr(theirs, name): op
    for theirs, ours in ((np, {name: getattr(ops, name) for name in ops.__all__}),
                         (np, {name: getattr(array_api, name) for name in _STANDARD}),
                         (np.linalg, vars(array_api.linalg)))
    for name, op in ours.items() if hasattr(theirs, name)
} | {
    np.amax: ops.max,
    np.amin: ops.min,
    # Our sorts are stable, which satisfies every `kind`.
    np.argsort: lambda x, axis=-1, kind=None, *, stable=None: ops.argsort(x, axis),
    np.average: lambda x, axis=None, keepdims=False: ops.mean(x, axis, keepdims=keepdims),
    np.conjugate: ops.clone,
    np.diagflat: lambda x, k=0: ops.diag(ops.ravel(x), k),
    np.einsum: lambda *args, optimize=None: ops.einsum(*args),  # our einsum always optimizes
    np.fabs: lambda x: ops.abs(floating(x)),
    np.fix: ops.trunc,
    np.full_like: lambda x, fill_value, dtype=None: np.full(
        x.shape, np.asarray(fill_value), dtype or x.dtype
    ),
    np.positive: ops.clone,
    np.real: ops.clone,
    np.sort: lambda x, axis=-1, kind=None, *, stable=None: ops.sort(x, axis),
}  # fmt: skip

# They look at shapes and dtypes only, not at the values.
_OF_KINDS = frozenset({
    np.empty_like, np.iscomplexobj, np.isrealobj, np.ndim, np.ones_like, np.result_type, np.shape,
    np.size, np.zeros_like,
})  # fmt: skip

# Their results have no gradient: comparisons, shapes, indices, memory, printing.
_ABOUT = _OF_KINDS | {
    np.argpartition, np.array2string, np.array_equal, np.array_equiv, np.array_repr,
    np.array_str, np.can_cast, np.common_type, np.diag_indices_from, np.digitize, np.einsum_path,
    np.iscomplex, np.isnat, np.isneginf, np.isposinf, np.isreal, np.lexsort, np.may_share_memory,
    np.min_scalar_type, np.nanargmax, np.nanargmin, np.save, np.savetxt, np.savez,
    np.savez_compressed, np.shares_memory, np.tril_indices_from, np.triu_indices_from,
}  # fmt: skip

# NumPy's parameter names where our ops use another, which may have another again.
_KEYWORDS = {"a": "x", "A": "x", "ar": "x", "arr": "x", "array": "x", "ary": "x", "m": "x",
             "v": "x", "val": "x", "x1": "a", "x2": "b", "arrays": "tensors", "tup": "tensors",
             "a_min": "min", "a_max": "max", "newshape": "shape",
             "rcond": "rtol", "correction": "ddof", "x": "input", "b": "other",
             "element": "elements"}  # fmt: skip


def refuse_loss() -> None:
    """Refuse to make an array of a tensor that requires a gradient while ops are recorded."""
    if is_grad_enabled():
        asking = str(sys._getframe(2).f_globals.get("__name__"))
        if not asking.startswith("numpy.testing"):
            raise RuntimeError(
                "converting a tensor that requires a gradient to an array would lose the "
                "gradient: use minigrad's functions (stack joins a list of tensors), or pass "
                ".detach() or .numpy() for the values alone"
            )


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Tensor's ``__array_ufunc__``: ``np.exp(t)``, ``ndarray * t``, ``np.add.accumulate(t)``."""
    if method == "__call__":
        op = _TABLE.get(ufunc) or by_numpy.get(ufunc)
        return _call(ufunc, f"np.{ufunc.__name__}", inputs, kwargs, op)
    op = _METHODS.get(method, {}).get(ufunc)
    if op is not None:
        kwargs.setdefault("axis", 0)
    return _call(getattr(ufunc, method), f"np.{ufunc.__name__}.{method}", inputs, kwargs, op)


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Tensor's ``__array_function__``: ``np.sum(t)``, ``np.concatenate([t, u])``."""
    name = f"{func.__module__}.{func.__name__}".replace("numpy", "np", 1)
    return _call(func, name, args, kwargs, _TABLE.get(func) or by_numpy.get(func))


@functools.cache
def _parameters(op: Callable[..., Any]) -> tuple[str, ...]:
    """The parameter names of an op; empty if it takes any keyword."""
    parameters = signature_of(op).parameters
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return () if anything else tuple(parameters)


@functools.cache
def _positional(func: Any) -> tuple[str, ...]:
    """The names of NumPy's positional parameters; empty if there is no `out` among them."""
    parameters = signature_of(func).parameters.values()
    names = tuple([p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD])
    return names if "out" in names else ()


def _call(func: Any, name: str, args: Any, kwargs: dict[str, Any], op: Any) -> Any:
    why = "minigrad has no derivative for it"
    if op is not None:
        if len(args) > 2 and _positional(func):  # `dtype` and `out` are not ours by position
            kwargs = {**dict(zip(_positional(func)[2:], args[2:], strict=False)), **kwargs}
            args = args[:2]
        given = {k: v for k, v in kwargs.items()
                 if (v is not None or k == "axis") and v is not np._NoValue}  # fmt: skip
        parameters = _parameters(op)
        for key in list(given):
            renamed = key
            while renamed not in parameters and renamed in _KEYWORDS:
                renamed = _KEYWORDS[renamed]
            if renamed in parameters:
                given[renamed] = given.pop(key)
        unknown = sorted(set(given) - set(parameters)) if parameters else ()
        if not unknown:
            return op(*args, **given)
        why = f"minigrad's version does not take {', '.join(unknown)}"
    tensors = leaves((args, kwargs), Variable)
    losing = func not in _ABOUT and is_grad_enabled()
    if losing and any(history(tensor) is not None for tensor in tensors):
        lost = "the gradient that the tensor requires would be lost"
        raise TypeError(f"{name}: {why}, and {lost}; pass .detach() or .numpy() for the values")
    # Observers are told that values are looked at, not that shapes or dtypes are.
    read: Any = (lambda x: x._data) if func in _OF_KINDS else (lambda x: x.numpy())
    try:
        return func(*mapped(read, args, Variable), **mapped(read, kwargs, Variable))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ValueError(f"{name}: NumPy cannot write to a Tensor; use t[...] = values") from None
