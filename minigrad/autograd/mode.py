"""The state of a thread: whether it records, in which module call it is, and who observes it.

Every op reads it once, so it is one immutable value in a ContextVar. Whoever changes it does so
within `try` and puts the old value back, also on Ctrl-C. A new thread starts with the default.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from minigrad.autograd.scope import Frame, Scope, module_call

if TYPE_CHECKING:
    from minigrad.autograd.events import Observer

__all__ = ["State", "StateChange", "Version", "changed", "located", "state", "version"]


class State(NamedTuple):
    """The state of a thread.

    Attributes:
        recording: Whether ops build a graph.
        frame: The innermost call, of a module or of a function of several ops; None outside of any.
        observers: Who is told of each op that runs, the outermost first.
        at_end: Within `backward`, functions that it calls at its end, without arguments.
        within: While somebody observes: the step that what runs is a part of, such as the node
            whose rules a backward pass runs.
        sampled: Whether one sample runs for many, as in `vmap`: backward passes are recorded, and
            rules read tensors, so that all they do is made of ops.
    """

    recording: bool = True
    frame: Frame | None = None
    observers: tuple[Observer, ...] = ()
    at_end: list[Callable[[], None]] | None = None
    within: Any = None
    sampled: bool = False

    @property
    def scope(self) -> Scope | None:
        """The innermost module call, None outside of any."""
        return module_call(self.frame)

    def unobserved(self) -> State:
        """The same without observers; `_replace` takes three times as long."""
        return State(self.recording, self.frame, (), self.at_end, self.within, self.sampled)


class StateChange:
    """A context manager that changes the state of the thread, and brings the old one back."""

    _outer: tuple[State, ...] = ()

    def _state_inside(self, outer: State) -> State:
        """The state in the block."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        outer = state.get()
        try:
            self._outer = (*self._outer, outer)
            state.set(self._state_inside(outer))
        except BaseException:  # an interrupt; then `with` does not call __exit__
            state.set(outer)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        state.set(self._outer[-1])
        self._outer = self._outer[:-1]


state: ContextVar[State] = ContextVar("minigrad.state", default=State())  # noqa: B039


class changed(StateChange):
    """Change fields of the state of the thread in the block."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def _state_inside(self, outer: State) -> State:
        return outer._replace(**self._fields)


def located(message: str, scope: Scope | None = None) -> str:
    """An error's message with its module call behind it, such as ``[in encoder.layers.0]``.

    The call is the innermost that runs, or `scope`. A message with such an end stays as it is.
    """
    scope = scope or state.get().scope
    if scope is None or (message.endswith("]") and " [in " in message):
        return message
    return f"{message} [in {scope.path or scope.kind}]"


class Version:
    """A number that moves with what a captured step does not read again at each call.

    That is every change of a module's attribute, hooks, ``requires_grad`` or ``.data``.
    """

    number: int = 0

    def move(self) -> None:
        """Give it another number."""
        self.number += 1


version = Version()
