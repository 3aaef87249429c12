"""Context managers that also decorate functions, generators and asynchronous functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
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
        for applies, decorate in _KINDS:
            if applies(func):
                decorated = functools.update_wrapper(decorate(func, self._recreate_cm), func)
                return cast("F", decorated)
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


def _async_generator(func: Callable[..., Any], made: Callable[[], Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        manager, inner = made(), func(*args, **kwargs)
        resume, value = inner.asend, None
        try:
            while True:
                with manager:
                    try:
                        step = await resume(value)
                    except StopAsyncIteration:
                        return
                try:
                    value, resume = (yield step), inner.asend
                except GeneratorExit:
                    raise
                except BaseException as error:  # noqa: BLE001  # the generator gets it
                    value, resume = error, inner.athrow
        finally:
            with manager:
                await inner.aclose()

    return call


def _coroutine(func: Callable[..., Any], made: Callable[[], Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with made():
            return await func(*args, **kwargs)

    return call


_KINDS = (
    (inspect.isgeneratorfunction, _generator),
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.iscoroutinefunction, _coroutine),
)
