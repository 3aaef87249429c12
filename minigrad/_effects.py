"""What observers are told besides ops: values that Python reads, and effects.

An effect changes what lives longer than a step: the state of an optimizer, random numbers. An
observer is told of its call as a whole, so that it can be called again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from minigrad.autograd.mode import state

P = ParamSpec("P")
T = TypeVar("T")


def tell(event: str, *args: Any) -> None:
    """Call this method of every observer, see `minigrad.debugging.observer.Observer`."""
    for observer in state.get().observers:
        getattr(observer, event)(*args)


def effect(function: Callable[P, T]) -> Callable[P, T]:
    """Have observers told when the function is called, and what it returns (a decorator)."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not state.get().observers:
            return function(*args, **kwargs)
        if any(isinstance(part, Iterator) for part in args):  # it can be read once only
            listed = [list(part) if isinstance(part, Iterator) else part for part in args]
            return call(*listed, **kwargs)  # type: ignore[arg-type]
        tell("began", function, args, kwargs)
        result = function(*args, **kwargs)
        tell("ended", result)
        return result

    return call
