"""Where in a model an op runs: the calls of modules and functions, each in the one around it."""

from __future__ import annotations

import weakref
from typing import Any


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


FunctionCall = tuple[str, int, Any]
"""One call of a function of several ops, see `nn.functional.framing`: its name, the time when it
began, and the frame around it. It is in no path: only drawings read it."""

Frame = Scope | FunctionCall


def module_call(frame: Frame | None) -> Scope | None:
    """The innermost module call of a frame: this one, or one around it."""
    while isinstance(frame, tuple):
        frame = frame[2]
    return frame


def ancestry(scope: Scope | None) -> list[Scope]:
    """A module call and those around it, the innermost first."""
    found = []
    while scope is not None:
        found.append(scope)
        scope = scope.parent
    return found
