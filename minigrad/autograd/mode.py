"""The state of a thread: whether it records, in which module call it is, and who observes it.

Every op reads it once, so it is one immutable value in a ContextVar. Whoever changes it does so
within `try` and puts the old value back, also on Ctrl-C. A new thread starts with the default.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad._decorators import Decorator

if TYPE_CHECKING:
    from minigrad.debugging.observer import Observer

__all__ = [
    "Scope", "State", "enable_grad", "is_grad_enabled", "located", "no_grad", "set_grad_enabled",
    "state",
]  # fmt: skip


class Scope:
    """One call of one module: where in a model an op was made.

    Args:
        module: The module; held weakly, so that a graph keeps no model alive.
        name: What its parent calls it, such as ``"linear1"``.
        parent: The call from within which this one is made, None at the top.
    """

    __slots__ = ("_module", "kind", "name", "parent")

    def __init__(self, module: Any, name: str, parent: Scope | None) -> None:
        self.name = name
        self.kind = type(module).__name__
        self.parent = parent
        self._module = weakref.ref(module)

    @property
    def module(self) -> Any | None:
        """The module itself, or None once it is gone."""
        return self._module()

    @property
    def path(self) -> str:
        """The dotted names from the outermost call (which contributes nothing) to this one."""
        names: list[str] = []
        scope: Scope | None = self
        while scope is not None and scope.parent is not None:
            names.append(scope.name)
            scope = scope.parent
        return ".".join(reversed(names))

    def __repr__(self) -> str:
        return f"Scope({self.path or self.kind!r})"


class State(NamedTuple):
    """The state of a thread.

    Attributes:
        recording: Whether ops build a graph.
        scope: The innermost module call, None outside of any.
        observers: Who is told of each op that runs, the outermost first.
    """

    recording: bool = True
    scope: Scope | None = None
    observers: tuple[Observer, ...] = ()


state: ContextVar[State] = ContextVar("minigrad.state", default=State())  # noqa: B039


def located(message: str, scope: Scope | None = None) -> str:
    """An error's message with its module call behind it, such as ``[in encoder.layers.0]``.

    Args:
        message: What went wrong. One that has such an end already is returned as it is.
        scope: Where; by default the innermost call that is running.
    """
    scope = scope or state.get().scope
    if scope is None or (message.endswith("]") and " [in " in message):
        return message
    return f"{message} [in {scope.path or scope.kind}]"


def is_grad_enabled() -> bool:
    """Whether ops are being recorded in this thread: True unless inside ``no_grad()``.

    Example:
        >>> import minigrad
        >>> with minigrad.no_grad():
        ...     minigrad.is_grad_enabled()
        False
    """
    return state.get().recording


class _GradMode(Decorator):
    """Sets `State.recording` and puts the old value back."""

    _recording: bool

    def __init__(self) -> None:
        self._outer: list[State] = []

    def _recreate_cm(self) -> _GradMode:  # a fresh one each call: threads, recursion
        return enable_grad() if self._recording else no_grad()

    def __enter__(self) -> None:
        outer = state.get()
        try:
            self._outer.append(outer)
            state.set(outer._replace(recording=self._recording))
        except BaseException:  # an interrupt; then `with` does not call __exit__
            state.set(outer)
            raise

    def __exit__(self, *exc: object) -> None:
        state.set(self._outer[-1])
        del self._outer[-1]


class _WithoutBrackets(_GradMode):
    """A grad mode that decorates without brackets too."""

    def __new__(cls, func: Callable[..., Any] | None = None) -> Any:
        if func is None:
            return super().__new__(cls)
        if not callable(func):
            raise TypeError(f"{cls.__name__}: a function to decorate expected, got {func!r}")
        return cls()(func)


class no_grad(_WithoutBrackets):
    """Within the block (or the decorated function) nothing is recorded.

    A decorated generator records nothing in its own steps; between them its caller's mode holds.

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
    """Within the block (or the decorated function) ops are recorded, also inside ``no_grad``.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with minigrad.no_grad(), minigrad.enable_grad():
        ...     (2 * x).requires_grad
        True
    """

    _recording = True


class set_grad_enabled(_GradMode):
    """Turn recording on or off within a block, or, called as a statement, from here on.

    Args:
        mode: True to record, False not to.

    Raises:
        TypeError: It is no bool; a decorator needs its brackets, ``@set_grad_enabled(False)``.

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
        super().__init__()
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

    def __enter__(self) -> None:
        if self._entered:  # the first time it is in effect already
            super().__enter__()
        self._entered = True
