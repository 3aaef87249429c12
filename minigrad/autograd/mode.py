"""The state of a thread: whether it records, in which module call it is, and who observes it.

Every op reads it once, so it is one immutable value in a ContextVar. Whoever changes it does so
within `try` and puts the old value back, also on Ctrl-C. A new thread starts with the default.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from minigrad.debugging.observer import Observer

__all__ = ["Scope", "State", "located", "state"]


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
