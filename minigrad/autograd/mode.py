"""What the current thread is doing: is it recording, inside which module call, and who watches.

These facts are read once per op, so they share one ContextVar. Its value is immutable: whoever
changes it puts the old one back, also when an exception passes; so it is changed within `try`, as
Ctrl-C may raise KeyboardInterrupt right behind the change. A new thread starts with the default,
which is to record, outside of any module.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad.autograd.decorators import Decorator

if TYPE_CHECKING:
    from minigrad.autograd.observer import Observer

__all__ = [
    "Scope",
    "State",
    "enable_grad",
    "is_grad_enabled",
    "located",
    "no_grad",
    "set_grad_enabled",
    "state",
]


class Scope:
    """One call of one module: where in a model an op was made.

    The module is held weakly, so a graph keeps no model alive and a module that stores its own
    output makes no cycle; its name and class stay readable after it is gone.

    Args:
        module: The module that is called.
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
        observers: Who sees each op that runs (observer.py), the outermost first.
    """

    recording: bool = True
    scope: Scope | None = None
    observers: tuple[Observer, ...] = ()


state: ContextVar[State] = ContextVar("minigrad.state", default=State())  # noqa: B039


def located(message: str, scope: Scope | None = None) -> str:
    """The message of an error, with the module call in which it happened.

    Args:
        message: What went wrong.
        scope: Where; by default the innermost call that is running.

    Returns:
        The message with ``[in encoder.layers.0]`` behind it, unless it has such an end already or
        no module is involved.
    """
    scope = scope or state.get().scope
    if scope is None or (message.endswith("]") and " [in " in message):
        return message
    return f"{message} [in {scope.path or scope.kind}]"


def is_grad_enabled() -> bool:
    """Tell whether ops are being recorded in this thread.

    Returns:
        True unless inside ``no_grad()`` or ``set_grad_enabled(False)``.

    Example:
        >>> import minigrad
        >>> with minigrad.no_grad():
        ...     minigrad.is_grad_enabled()
        False
    """
    return state.get().recording


class _Recording(Decorator):
    """A context manager and decorator that sets `recording` and puts the old value back."""

    _recording: bool

    def __init__(self) -> None:
        self._outer: list[State] = []

    def _recreate_cm(self) -> _Recording:
        # A decorated function may run in several threads and recurse: a fresh manager each call.
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


class _PlainRecording(_Recording):
    """One that decorates without brackets too."""

    def __new__(cls, func: Callable[..., Any] | None = None) -> Any:
        if func is None:
            return super().__new__(cls)
        if not callable(func):
            raise TypeError(f"{cls.__name__}: a function to decorate expected, got {func!r}")
        return cls()(func)


class no_grad(_PlainRecording):
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


class enable_grad(_PlainRecording):
    """Within the block (or the decorated function) ops are recorded, also inside ``no_grad``.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with minigrad.no_grad(), minigrad.enable_grad():
        ...     (2 * x).requires_grad
        True
    """

    _recording = True


class set_grad_enabled(_Recording):
    """Turn recording on or off within a block, or from here on in this thread.

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
        # Called as a plain statement it takes effect at once, as in PyTorch.
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
