"""Calls that do not fit a signature, and their errors."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable
from typing import Any

__all__ = ["call_error", "fits", "into", "signature_of"]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function, of an op with its own names; that of any call if none is known.

    Python knows none of some builtins, and before NumPy 2.4 none of a ufunc.
    """
    if hasattr(function, "op"):
        return function.op.signature
    try:
        return inspect.signature(function)
    except ValueError:
        return inspect.signature(lambda *args, **kwargs: None)


def fits(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Whether a call fits the signature of a function."""
    try:
        signature_of(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def call_error(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> TypeError:
    """The error of a call that does not fit a signature; that of an op has PyTorch's names."""
    signature, op = inspect.signature(function), getattr(function, "op", None)
    if op is not None:
        new = op.spelling
        parameters = op.signature.parameters.values()
        signature = inspect.Signature([p.replace(name=new.get(p.name, p.name)) for p in parameters])
        twice = [key for key in kwargs if new.get(key) in kwargs]
        if twice:
            return TypeError(f"{name}: {twice[0]} is {new[twice[0]]}: give one of them")
        kwargs = {new.get(key, key): value for key, value in kwargs.items()}
    # A method has an argument `self`; `old` is a third one in an order that PyTorch gave up.
    takes = [key for key in signature.parameters if op is not None or key not in ("self", "old")]
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return TypeError(f"{name}: {error}; it takes {', '.join(takes)}")
    if op is not None and op.variadic:
        return TypeError(f"{name}: the tensors go into one list: {name}([a, b])")
    return TypeError(f"{name}: a tensor with axes cannot be an axis")


def into(function: Callable[..., Any], args: Any, keywords: dict[str, Any]) -> Any:
    """What a function gives, written over the tensors that are its keyword `out`."""
    out, name = keywords.pop("out"), function.__name__
    result = function(*args, **keywords)
    if out is None:
        return result
    several = isinstance(result, tuple)
    parts, outs = (result, out) if several else ((result,), (out,))
    fit = isinstance(outs, (tuple, list)) and len(outs) == len(parts)
    if not fit or not all(hasattr(one, "_hold") for one in outs):
        wanted = f"{len(parts)} tensors" if several else "a Tensor"
        raise TypeError(f"{name}: out must be {wanted}, got {reprlib.repr(out)}")
    written = [one._hold(name, part) for one, part in zip(outs, parts, strict=True)]
    return getattr(type(result), "_make", tuple)(written) if several else written[0]
