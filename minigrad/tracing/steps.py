"""The data of a trace: values, and the steps that make them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.autograd.node import Node
from minigrad.autograd.primitives import Primitive
from minigrad.autograd.scope import Frame, Scope, module_call
from minigrad.support.tree import leaves

Phase = Literal["forward", "backward", "write", "effect", "left"]


@dataclass(eq=False, slots=True)
class Value:
    """The content of a tensor, an array or a drawn number from one write of its memory to the next.

    Attributes:
        number: Its number in the trace, in the order of first use.
        array: Its array, or the number; None in a trace that keeps none.
        maker: The step that made it, held weakly; None if it was there before.
        source: Of a value that was there before: the tensor that was read, held weakly.
        shape: Its shape.
        dtype: Its dtype; None for a number.
        stamp: The time at which it was made or first read.
    """

    number: int
    maker: weakref.ref[Step] | None
    array: Any
    source: weakref.ref[Any] | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None
    stamp: int

    @property
    def step(self) -> Step | None:
        """The step that made it; None if it was there before, and if the trace is gone."""
        return None if self.maker is None else self.maker()

    @property
    def tensor(self) -> Any | None:
        """The tensor that was read; None if it is gone, and for what a step made."""
        return None if self.source is None else self.source()

    def __repr__(self) -> str:
        return f"%{self.number}"


@dataclass(eq=False, slots=True, weakref_slot=True)
class Step:
    """One thing that happened.

    Attributes:
        phase: "forward" for an op, also in a backward pass that is recorded; "backward" for the
            rules of a node, and for a sum of what they send to one place; "write", "effect",
            "left".
        op: The op; None for a sum, an effect and a value that left.
        function: The function of an effect; None otherwise.
        what: Of a value that left, by which door; otherwise the name of the op or the function.
        arguments: By name, with values in the place of tensors and arrays.
        outputs: What it made. The residuals of a fused op come last. A backward step has an output
            for each edge, None where nothing was wanted.
        recorded: The node that it recorded, or whose rules it ran; held weakly in a trace that
            keeps no arrays, since a node keeps some.
        frame: The innermost call in which it happened, of a module or of a function.
        line: The line of the user's program, if the trace finds lines.
        grad_mode: Whether ops were recorded in the graph.
        inside: The step that it is a part of.
        stream: Of an effect that draws from a copy of a generator, that copy.
    """

    phase: Phase
    what: str
    arguments: dict[str, Any]
    outputs: list[Value | None] = field(default_factory=list)
    op: Primitive | None = None
    function: Callable[..., Any] | None = None
    recorded: Node | weakref.ref[Node] | None = None
    frame: Frame | None = None
    line: str = ""
    grad_mode: bool = True
    inside: Step | None = None
    stream: Value | None = None

    @property
    def scope(self) -> Scope | None:
        """The module call in which it happened; None outside of modules."""
        return module_call(self.frame)

    @property
    def node(self) -> Node | None:
        """The node that it recorded, or whose rules it ran; None also if it is gone."""
        return self.recorded() if isinstance(self.recorded, weakref.ref) else self.recorded

    @property
    def reads(self) -> list[Value]:
        """The values among the arguments."""
        found: list[Value] = []
        for thing in self.arguments.values():
            if isinstance(thing, Value):  # as most are
                found.append(thing)
            elif isinstance(thing, (tuple, list, dict, slice)):
                found += leaves(thing, Value)
        return found if self.stream is None else [*found, self.stream]

    def __repr__(self) -> str:
        made = ", ".join("_" if value is None else repr(value) for value in self.outputs)
        given = ", ".join(f"{name}={shown(value)}" for name, value in self.arguments.items())
        return f"{made}{' = ' * bool(made)}{self.what}({given})"


def shown(thing: Any) -> str:
    """An argument in a listing: other things than values and numbers by their class."""
    if isinstance(thing, (tuple, list)):
        return f"({', '.join(map(shown, thing))})"
    if thing is None or isinstance(thing, (Value, bool, int, float, str, slice, np.dtype, dtype)):
        return repr(thing)
    return type(thing).__name__
