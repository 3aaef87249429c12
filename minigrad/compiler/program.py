"""The program of a captured step: values, and the instructions that compute them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minigrad.compiler.functions import add_copy_to_grad, add_to_grad, read
from minigrad.support.tree import leaves, mapped

__all__ = ["Argument", "CaptureError", "Instruction", "Program", "Value"]


class CaptureError(RuntimeError):
    """A step does what a replay of it could not repeat.

    Attributes:
        result: What the step returned, if it ran to its end.
    """

    result: Any = None


@dataclass(frozen=True)
class Argument:
    """A tensor that is passed to the step, where the tensor itself is needed.

    Attributes:
        index: Its place among the tensors.
    """

    index: int

    def __str__(self) -> str:
        return f"argument {self.index}"


@dataclass(eq=False)
class Value:
    """An array of a program, or a number that it draws.

    Attributes:
        number: Its number in the listing.
        shape: Its shape; None for a number, and for what no rule reads.
        dtype: Its dtype, None likewise.
        memory: Equal for values that may share memory. None: nothing is known of it.
        fresh: Whether an instruction made its memory, and nothing outside of the program sees it.
        strides: The layout of the array; None if it is not known.
    """

    number: int
    shape: tuple[int, ...] | None = None
    dtype: np.dtype[Any] | None = None
    memory: int | None = None
    fresh: bool = False
    strides: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"%{self.number}"


@dataclass(eq=False)
class Instruction:
    """One call of a function on arrays.

    Attributes:
        name: The op, for a listing.
        phase: "forward", "backward" or "effect".
        function: The function that is called.
        args: Its arguments: values, constants, and tuples of them.
        keywords: Its keyword arguments.
        outputs: Its results; None for one that nothing needs.
        several: Whether it returns a tuple.
        into: A value whose memory takes the result, if a pass found one.
        effect: Whether it changes what lives longer than the step; then it is called in order,
            whether its results are used or not.
        path: The module in which it was called, ``""`` outside of modules.
        line: The line of the program that called it.
        where: The module as errors name it: by its class outside of another module.
        op: The op whose forward function it calls, if it does.
        errors: How NumPy reports floating-point errors in it; None for the default.
    """

    name: str
    phase: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[Value | None, ...] = ()
    several: bool = False
    into: Value | None = None
    effect: bool = False
    path: str = ""
    line: str = ""
    where: str = ""
    op: Any = None
    errors: dict[str, Any] | None = None

    @property
    def reads(self) -> list[Value]:
        """The values among the arguments."""
        return [*leaves((self.args, self.keywords), Value)]

    def replace(self, new: Mapping[Value, Any]) -> None:
        """Put others in the place of values among the arguments."""
        self.args, self.keywords = mapped(
            lambda value: new.get(value, value), (self.args, self.keywords), Value
        )

    @property
    def is_read(self) -> bool:
        """Whether it takes the array that a tensor has."""
        return self.function is read

    @property
    def to_leaf(self) -> bool:
        """Whether it adds a gradient to a leaf."""
        return self.function in (add_to_grad, add_copy_to_grad)

    def shown(self, names: Mapping[int, str] = {}) -> str:
        """The line of a listing, with names for tensors and values (`Program.names`)."""
        if self.to_leaf:
            target, value = self.args
            return f"{_shown(target, names)}.grad += {_shown(value, names)}"
        outputs = ", ".join("_" if value is None else str(value) for value in self.outputs)
        given = [_shown(value, names) for value in self.args]
        given += [f"{name}={_shown(value, names)}" for name, value in self.keywords.items()]
        text = f"{self.name}({', '.join(given)})"
        if outputs:
            text = f"{outputs} = {text}"
        return f"{text} into {self.into}" if self.into else text

    def __str__(self) -> str:
        return self.shown()


@dataclass(eq=False)
class Program:
    """The computation of a step, in order.

    Attributes:
        arguments: The values of the tensors that are passed to the step.
        instructions: What runs.
        result: What the step returns, with values in the place of tensors.
        notes: What the passes did, a line each.

    Example:
        >>> import minigrad
        >>> double = minigrad.capture(lambda x: x + x)
        >>> for _ in range(2):
        ...     y = double(minigrad.ones(2))
        >>> print(double.program)
        %0: float32 (2,)
        forward
          %1 = add(%0, %0)             float32 (2,)
        return %1
    """

    arguments: list[Value]
    instructions: list[Instruction]
    result: Any
    notes: list[str] = field(default_factory=list)

    def copied(self) -> Program:
        """The same program with instructions of its own, which no pass has changed."""
        instructions = [replace(instruction) for instruction in self.instructions]
        return replace(self, instructions=instructions, notes=list(self.notes))

    def __str__(self) -> str:
        names = self.names()
        lines = [f"{value}: {_kind(value)}" for value in self.arguments]
        phase = ""
        for instruction in self.instructions:
            if instruction.is_read:
                continue
            if instruction.phase != phase:
                phase = instruction.phase
                lines.append(phase)
            kinds = "; ".join([_kind(v) for v in instruction.outputs if v is not None and v.shape])
            place = f"[{instruction.path}]" if instruction.path else ""
            text = f"{instruction.shown(names):<40}"
            lines.append(f"  {text} {kinds:<22} {place}".rstrip())
        lines.append(f"return {_shown(self.result, names)}")
        return "\n".join((*lines, *self.notes))

    def names(self) -> dict[int, str]:
        """The names of weights in a listing: by the id of the tensor, and of its value."""
        names: dict[int, str] = {}
        for instruction in self.instructions:
            if instruction.is_read:
                tensor, value = instruction.args[0], instruction.outputs[0]
                own = getattr(getattr(tensor, "_node", None), "name", None)
                if own is not None:
                    full = f"{instruction.path}.{own}" if instruction.path else own
                    names[id(tensor)] = full
                    names[id(value)] = own
        return names


def _kind(value: Value) -> str:
    return "" if value.shape is None else f"{value.dtype} {tuple(value.shape)}"


def _shown(thing: Any, names: Mapping[int, str]) -> str:
    """An argument in a listing: arrays, tensors and objects by what they are."""
    if isinstance(thing, Value):
        return names.get(id(thing), str(thing))
    if isinstance(thing, (tuple, list)):
        shown = [_shown(part, names) for part in thing]
        if len(shown) > 4:  # the parameters of a model
            shown[2:-1] = [f"... {len(shown) - 3} more ..."]
        return f"({', '.join(shown)})"
    if isinstance(thing, dict):
        parts = [f"{key!r}: {_shown(part, names)}" for key, part in thing.items()]
        return "{" + ", ".join(parts) + "}"
    if isinstance(thing, Argument):
        return str(thing)
    if hasattr(thing, "_node") or isinstance(thing, np.ndarray):
        return names.get(id(thing)) or f"{type(thing).__name__}{tuple(thing.shape)}"
    return repr(thing) if isinstance(thing, (int, float, str, type(None))) else type(thing).__name__
