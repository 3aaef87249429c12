"""Functions that change what lives longer than a step: the state of an optimizer, random numbers.

An observer is told of a call of such a function as a whole, so that it can be called again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from minigrad.autograd.mode import state

P = ParamSpec("P")
T = TypeVar("T")


def effect(function: Callable[P, T]) -> Callable[P, T]:
    """Have observers told when the function is called, and what it returns (a decorator)."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        observers = state.get().observers
        if not observers:
            return function(*args, **kwargs)
        if any(isinstance(part, Iterator) for part in args):  # it can be read once only
            listed = [list(part) if isinstance(part, Iterator) else part for part in args]
            return call(*listed, **kwargs)  # type: ignore[arg-type]
        for observer in observers:
            observer.began(function, args, kwargs)
        result = function(*args, **kwargs)
        for observer in observers:
            observer.ended(result)
        return result

    return call
