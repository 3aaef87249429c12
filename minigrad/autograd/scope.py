"""Where in a model an op runs: the calls of modules and functions, each in the one around it."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple


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


class FunctionCall(NamedTuple):
    """One call of a function of several ops, see `nn.functional.framing`, or of a mapped function.

    Or a fused op that runs as its parts. It is in no path: only drawings read it.

    Attributes:
        name: The name of the function.
        began: The time when the call began.
        around: The frame around it.
        samples: Of `vmap`, how many samples it runs for; 0 otherwise.
        fused: Whether it is a fused op.
    """

    name: str
    began: int
    around: Frame | None
    samples: int = 0
    fused: bool = False


Frame = Scope | FunctionCall
LOOP = "vmap: a loop over the samples"
"""The name of the call in which an op runs once for each sample, since it has no batching rule."""


def module_call(frame: Frame | None) -> Scope | None:
    """The innermost module call of a frame: this one, or one around it."""
    while isinstance(frame, FunctionCall):
        frame = frame.around
    return frame


def samples_of(frame: Frame | None) -> tuple[int, ...]:
    """For how many samples each call of `vmap` around an op runs, the outermost first."""
    found = []
    while frame is not None:
        if isinstance(frame, FunctionCall) and frame.samples:
            found.append(frame.samples)
        frame = frame.around
    return tuple(reversed(found))


def ancestry(scope: Scope | None) -> list[Scope]:
    """A module call and those around it, the innermost first."""
    found = []
    while scope is not None:
        found.append(scope)
        scope = scope.parent
    return found
