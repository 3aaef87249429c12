"""Where in a model an op runs: the calls of modules and functions, each within the one around it.

Errors, paths and tables know of modules only: `Scope`. A function composed of several ops is a
`FunctionCall`, which only drawings read. Either is a frame.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from minigrad.autograd.mode import state
from minigrad.autograd.node import Node, clock

P = ParamSpec("P")
R = TypeVar("R")


class Scope:
    """One call of one module: where in a model an op was made. The module is held weakly."""

    __slots__ = ("_module", "around", "kind", "name", "parent")

    def __init__(self, module: Any, name: str, parent: Scope | None, around: Frame | None) -> None:
        self.name = name
        self.kind = type(module).__name__
        self.parent = parent  # the module call around this one
        self.around = around  # the same, or a function between them
        self._module = weakref.ref(module)

    @property
    def scope(self) -> Scope:
        """The innermost module call of this frame: itself."""
        return self

    @property
    def module(self) -> Any | None:
        """The module itself, or None once it is gone."""
        return self._module()

    @property
    def label(self) -> str:
        """Name and class: ``"linear1: Linear"``."""
        return f"{self.name}: {self.kind}" if self.parent else self.kind

    @property
    def path(self) -> str:
        """The dotted names from the outermost call (which contributes nothing) to this one."""
        names, scope = [], self
        while scope.parent is not None:
            names.append(scope.name)
            scope = scope.parent
        return ".".join(reversed(names))

    def __repr__(self) -> str:
        return f"Scope({self.path or self.kind!r})"


class FunctionCall:
    """One call of a function that is `framed`."""

    __slots__ = ("around", "name")

    def __init__(self, name: str, around: Frame | None) -> None:
        self.name = name
        self.around = around

    @property
    def scope(self) -> Scope | None:
        """The innermost module call around it, None outside of modules."""
        return None if self.around is None else self.around.scope

    def __repr__(self) -> str:
        return f"FunctionCall({self.name!r})"


Frame = Scope | FunctionCall
"""A call of a module or of a function."""

Returned = tuple[str, int, Any]
"""The frame of a node that a framed function returned: the name of the function, the time when its
call began, and the frame until then, which may be another one of these."""


def ancestry(scope: Scope | None) -> list[Scope]:
    """A module call and those around it, the innermost first."""
    found = []
    while scope is not None:
        found.append(scope)
        scope = scope.parent
    return found


def frames(frame: Frame | None) -> list[Frame]:
    """A call and those around it, of modules and of functions, the innermost first."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.around
    return found


def framed(function: Callable[P, R], calls_modules: bool = False) -> Callable[P, R]:
    """Let drawings put the ops of each call of a function of several ops into a frame.

    Observers learn the frame of an op from the state of the thread, and so do modules that the
    function calls. To set it costs as much as a small op. Otherwise only the node that the function
    returns is marked: a drawing finds what led to it since the call began.
    """
    name = function.__name__

    @functools.wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> R:
        outer = state.get()
        try:
            state.set(outer._replace(frame=FunctionCall(name, outer.frame)))
            return function(*args, **kwargs)
        finally:
            state.set(outer)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if state.get().observers:
            return entered(*args, **kwargs)
        start = next(clock)
        result: Any = function(*args, **kwargs)
        try:
            node = result._node
        except AttributeError:  # several tensors: the first is made of, or with, the others
            node = result[0]._node
        if node.__class__ is Node and node.stamp > start:  # else nothing was recorded
            node.frame = (name, start, node.frame)
        return result

    return entered if calls_modules else call
