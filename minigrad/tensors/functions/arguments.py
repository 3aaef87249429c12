"""What the functions share: how arguments may be spelled, and sizes that are given in two ways."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import P, R
from minigrad.ops.argument_errors import checked

__all__ = ["axes", "computed", "of_numbers", "part", "signed", "sizes_of", "with_axes"]


def of_numbers(function: Callable[P, R]) -> Callable[P, R]:
    """The function as `checked`, for which a tensor without axes has one of length 1."""

    def row(x: Any) -> Any:
        return ops.reshape(x, (1,)) if isinstance(x, Variable) and not x._data.ndim else x

    def number(x: Any) -> Any:
        if isinstance(x, tuple):
            parts = map(number, x)
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        return ops.reshape(x, ()) if isinstance(x, Variable) and x._data.size == 1 else x

    @functools.wraps(function)
    def call(input: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(input, Variable) and not input._data.ndim:
            given = {name: row(value) for name, value in keywords.items()}
            return number(function(row(input), *map(row, args), **given))
        return function(input, *args, **keywords)

    return checked(call)  # type: ignore[arg-type]


def axes(dim: Any) -> Any:
    """The axes of a reduction; an empty list of them means all."""
    if isinstance(dim, (tuple, list)):
        # A number has axis 0, and not (0,).
        return operator.index(dim[0]) if len(dim) == 1 else tuple(dim) or None
    return dim


def computed(op: Any, dtype: Any, *args: Any) -> Any:
    """What an op computes, in a dtype if one is given: without the keyword a call costs less."""
    return op(*args) if dtype is None else op(*args, dtype=dtype)


def signed(x: Any) -> Any:
    """The tensor; of unsigned integers one of int64, in which PyTorch adds them up."""
    unsigned = isinstance(x, Variable) and x._data.dtype.kind == "u"
    return ops.astype(x, np.int64) if unsigned else x


def sizes_of(given: tuple[Any, ...], named: Any = None) -> tuple[Any, ...]:
    """Numbers, or tensors, that are given one by one, as one sequence, or by a keyword."""
    if named is not None:
        if given:
            raise TypeError(f"sizes are given twice: {given} and by a keyword, {named}")
        return tuple(named) if np.iterable(named) else (named,)
    one = len(given) == 1 and isinstance(given[0], (tuple, list))
    return tuple(given[0]) if one else given


def with_axes(x: Any, count: int, name: str) -> Any:
    """The tensor, which must have so many axes."""
    if x.ndim != count:
        raise RuntimeError(f"{name}: {count} axes expected, got shape {tuple(x.shape)}")
    return x


def part(x: Any, dim: int, index: Any) -> Any:
    """Index along one axis."""
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"dim {dim} of a tensor with {x.ndim} axes")
    return ops.getitem(x, (slice(None),) * (dim % x.ndim) + (index,))
