"""Checks of the arguments of constructors and of `forward`."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from minigrad.autograd.dtypes import checked
from minigrad.autograd.errors import type_error
from minigrad.autograd.typing import P
from minigrad.support.checks import (
    check_flag,
    check_number,
    check_probability,
    check_size,
    module_of,
    on_cpu,
)
from minigrad.support.near_names import keyword_advice
from minigrad.support.signatures import signature_of
from minigrad.tensors.tensor import Tensor

# Annotations that say the range of an argument.
Count = int
"""At least 1."""
NonNegative = float
"""A number from 0."""
NormType = float
"""The p of a p-norm; may be infinite."""
Positive = float
"""A number above 0."""
Probability = float
"""A number from 0 to 1."""


def _check_reduction(owner: str, name: str, value: Any) -> None:
    if value not in ("mean", "sum", "none", None):
        raise ValueError(f'{owner}: {name} must be "mean", "sum" or "none", got {value!r}')


_SPELLED = {"axis": "dim", "start_axis": "start_dim", "end_axis": "end_dim", "keepdims": "keepdim"}
"""NumPy's words, and PyTorch's."""

_BY_ANNOTATION: dict[str, Callable[[str, str, Any], Any]] = {
    "float": check_number,
    "int": functools.partial(check_size, least=-sys.maxsize),
    "bool": check_flag,
    "Count": check_size,
    "NonNegative": functools.partial(check_number, least=0.0),
    "NormType": functools.partial(check_number, above=0.0, infinite=True),
    "Positive": functools.partial(check_number, above=0.0),
    "Probability": check_probability,
    "Reduction": _check_reduction,
}
"""How an argument is checked, by its annotation."""


def _made_by(kind: type, init: Callable[..., None]) -> str:
    """The name of the class for errors: the last in the MRO that inherits this constructor."""
    return next(base.__name__ for base in kind.__mro__ if base.__init__ is init)  # type: ignore[misc]


def checked_constructor(init: Callable[P, None]) -> Callable[P, None]:
    """Wrap a layer's constructor so that it first checks arguments against its annotations.

    An error names the class that was called, also where a base class has the constructor. Numbers
    must be finite; other ranges are checked by the names above, or by the constructor. `device` and
    `dtype` are accepted by every layer, and `axis` where an argument is called `dim`.
    """
    signature = inspect.signature(init)
    parameters = list(signature.parameters.values())[1:]
    names = [p.name for p in parameters]
    known = frozenset(names)
    spelled = {a: b for a, b in _SPELLED.items() if b in known and a not in known}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    checks = {
        p.name: (_BY_ANNOTATION[kind], p.annotation != kind)
        for p in parameters
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and (kind := str(p.annotation).removesuffix(" | None")) in _BY_ANNOTATION
    }

    @functools.wraps(init)
    def checked_init(self: Any, *args: Any, **kwargs: Any) -> None:
        dtype = None
        if kwargs and not open_ended and not kwargs.keys() <= known:
            kwargs = {spelled.get(name, name): value for name, value in kwargs.items()}
            if "device" not in known:
                on_cpu(kwargs.pop("device", None))
            dtype = kwargs.pop("dtype", None) if "dtype" not in known else None
        if checks:
            given = dict(zip(names, args, strict=False)) | kwargs
            for name, (check, optional) in checks.items():
                if name in given and not (optional and given[name] is None):
                    check(_made_by(type(self), checked_init), name, given[name])
        try:
            init(self, *args, **kwargs)
        except TypeError:
            try:
                signature.bind(self, *args, **kwargs)
            except TypeError as error:
                takes = ", ".join(names) or "nothing"
                owner = _made_by(type(self), checked_init)
                advice = keyword_advice(kwargs, names)
                raise TypeError(f"{owner}: {error}; it takes {takes}{advice}") from None
            raise
        if dtype is not None:
            self.to(dtype)

    return cast("Callable[P, None]", checked_init)


def check_tensors(
    owner: str, forward: Callable[..., Any], args: Any, kwargs: Any, cause: Exception
) -> None:
    """After a failed call, name the argument that should have been a tensor, if there is one.

    A user's `forward` may take a list of tensors in spite of its annotation.
    """
    lists = () if module_of(forward).startswith("minigrad.") else (list, tuple)
    signature = signature_of(forward)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        if not isinstance(cause, TypeError):
            return
        takes = ", ".join(signature.parameters)
        advice = keyword_advice(kwargs, list(signature.parameters))
        raise type_error(f"{owner}: {error}; forward takes {takes}{advice}") from cause
    for name, value in given.items():
        parameter = signature.parameters[name]
        kind, *others = str(parameter.annotation).split(" | ")
        if (
            kind.rpartition(".")[2].rstrip("'>") == "Tensor"
            and {*others} <= {"np.ndarray", "PackedSequence"}
            and value is not parameter.default
            and not isinstance(value, (Tensor, np.ndarray))
            and type(value).__name__ not in others
            and not (isinstance(value, lists) and all(isinstance(x, Tensor) for x in value))
        ):
            raise type_error(
                f"{owner}: {name} must be a Tensor, got {type(value).__name__}"
            ) from cause


def floating_dtype(owner: str, dtype: Any) -> np.dtype[Any]:
    """Return a floating dtype that tensors can have."""
    target = checked(dtype, owner)
    if target.kind != "f":
        raise TypeError(f"{owner}: a floating dtype expected, got {target}")
    return target
