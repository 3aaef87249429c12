"""Context managers that are decorators too, also of generators and of asynchronous functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ContextDecorator
from typing import Any

__all__ = ["Decorator"]


class Decorator(ContextDecorator):
    """A context manager that, as a decorator, holds while the body of the function runs.

    A generator runs in steps: its manager is entered for each of them and left at each ``yield``,
    so that it never holds for whoever takes the values. Subclasses give ``__enter__``, ``__exit__``
    and ``_recreate_cm``, a manager for one call.
    """

    def __call__(self, func: Callable[..., Any]) -> Any:
        for applies, decorate in _KINDS:
            if applies(func):
                return functools.update_wrapper(decorate(func, self._recreate_cm), func)
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
                except BaseException as error:
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
                except BaseException as error:
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
