"""Context managers that also decorate functions and generators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import ContextDecorator
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(ContextDecorator):
    """A context manager that, as a decorator, is active while the function's body runs.

    A decorated generator enters the manager at each step and leaves it at each ``yield``, so the
    code that consumes its values is not affected. Subclasses define ``__enter__``, ``__exit__`` and
    ``_recreate_cm``, which makes a manager for one call.
    """

    def __call__(self, func: F) -> F:
        if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
            raise TypeError(
                f"{func.__name__}: an asynchronous function is not decorated, since others run "
                f"while it waits: write `with` around its steps"
            )
        if inspect.isgeneratorfunction(func):
            return cast("F", functools.update_wrapper(_generator(func, self._recreate_cm), func))
        return super().__call__(func)


def _generator(func: Callable[..., Any], made: Callable[[], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        manager, inner = made(), func(*args, **kwargs)
        resume, value = inner.send, None
        try:
            while True:
                with manager:
                    try:
                        step = resume(value)
                    except StopIteration as stop:
                        return stop.value
                try:
                    value, resume = (yield step), inner.send
                except GeneratorExit:
                    raise
                except BaseException as error:  # noqa: BLE001  # the generator gets it
                    value, resume = error, inner.throw
        finally:
            with manager:
                inner.close()

    return call
