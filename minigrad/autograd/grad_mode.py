"""Grad mode: context managers, also decorators, that turn the recording of ops on or off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, overload

import numpy as np

from minigrad.autograd.mode import State, StateChange, state
from minigrad.support.decorators import Decorator


def is_grad_enabled() -> bool:
    """Tell whether ops are recorded in this thread: True unless inside ``no_grad()``.

    Example:
        >>> import minigrad
        >>> with minigrad.no_grad():
        ...     minigrad.is_grad_enabled()
        False
    """
    return state.get().recording


class _GradMode(StateChange, Decorator):
    """Sets `State.recording` and restores the old value at exit."""

    _recording: bool

    def _state_inside(self, outer: State) -> State:
        return outer._replace(recording=self._recording)

    def _recreate_cm(self) -> _GradMode:  # new for each call: threads, recursion
        return enable_grad() if self._recording else no_grad()


class _WithoutBrackets(_GradMode):
    """A grad mode that can decorate with or without parentheses."""

    @overload
    def __new__(cls, func: None = None) -> Self: ...
    @overload
    def __new__(cls, func: Callable[..., Any]) -> Any: ...
    def __new__(cls, func: Any = None) -> Any:
        if func is None:
            return super().__new__(cls)
        if not callable(func):
            raise TypeError(f"{cls.__name__}: a function to decorate expected, got {func!r}")
        return cls()(func)


class no_grad(_WithoutBrackets):
    """Do not record ops within the block or the decorated function.

    A decorated generator does not record in its own steps; its caller's mode is unchanged.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with minigrad.no_grad():
        ...     (2 * x).requires_grad
        False
        >>> @minigrad.no_grad
        ... def double(x):
        ...     return 2 * x
        >>> double(x).requires_grad
        False
    """

    _recording = False


class enable_grad(_WithoutBrackets):
    """Record ops within the block or the decorated function, even inside ``no_grad``.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with minigrad.no_grad(), minigrad.enable_grad():
        ...     (2 * x).requires_grad
        True
    """

    _recording = True


class set_grad_enabled(_GradMode):
    """Turn recording on or off: for a block with ``with``, otherwise from this call on.

    Args:
        mode: True to record, False not to.

    Raises:
        TypeError: It is not a bool; a decorator needs its argument, ``@set_grad_enabled(False)``.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with minigrad.set_grad_enabled(False):
        ...     (2 * x).requires_grad
        False
        >>> (2 * x).requires_grad
        True
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, (bool, np.bool_)):
            raise TypeError(f"set_grad_enabled: True or False expected, got {mode!r}")
        self._recording = bool(mode)
        self._entered = False
        super().__enter__()

    def __call__(self, func: Callable[..., Any]) -> Any:
        if not self._entered:  # used as a decorator: nothing changes until the call
            self.__exit__()
            self._entered = True
        return super().__call__(func)

    def __enter__(self) -> Self:
        if self._entered:  # on first entry the mode is already set
            super().__enter__()
        self._entered = True
        return self


def inference_mode(mode: bool | Callable[..., Any] = True) -> Any:
    """Do what `no_grad` does; with ``mode=False``, what `enable_grad` does.

    Args:
        mode: Whether ops are not recorded; or the function to decorate, without parentheses.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with minigrad.inference_mode():
        ...     (2 * x).requires_grad
        False
    """
    if callable(mode):
        return no_grad(mode)
    return no_grad() if mode else enable_grad()
