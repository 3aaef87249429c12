"""A program as one Python function: a line for each instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.errors import explained
from minigrad.compiler.functions import read, set_data, write
from minigrad.compiler.passes import last_uses
from minigrad.compiler.program import Argument, Instruction, Program, Value
from minigrad.ops._numerics import array_of
from minigrad.support.tree import leaves

__all__ = ["compiled"]

_FILE = "<captured step>"


def compiled(program: Program) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """The function that runs a program.

    Returns:
        A function from the tensors passed to the step to the arrays of its result, in order. An
        error in it is that of the op, as if the step had run.
    """
    writer, lines = _Writer(), ["def run(tensors):"]
    lines += [f"    {_name(each)} = tensors[{i}]._data" for i, each in enumerate(program.arguments)]
    origins: dict[int, Instruction] = {}
    errors = None
    for instruction, ends in zip(program.instructions, last_uses(program), strict=True):
        if instruction.errors != errors:
            errors = instruction.errors
            if errors is not None:
                given = ", ".join([f"{kind}={what!r}" for kind, what in errors.items()])
                lines.append(f"    with errstate({given}):")  # as in a backward pass
        indent = " " * (4 if errors is None else 8)
        lines.append(indent + writer.line(instruction))
        origins[len(lines)] = instruction
        if ends:
            lines.append(f"{indent}del {', '.join(sorted(map(_name, ends)))}")
    found = "".join([f"{_name(value)}, " for value in leaves(program.result, Value)])
    lines.append(f"    return ({found})")
    exec(compile("\n".join(lines), _FILE, "exec"), writer.names)
    run = writer.names.pop("run")  # a function that its own globals hold would be a cycle

    def replay(tensors: Sequence[Any]) -> tuple[Any, ...]:
        try:
            with np.errstate(under="ignore"):  # as in a call: see `without_underflow`
                arrays: tuple[Any, ...] = run(tensors)
            return arrays
        except Exception as error:  # noqa: BLE001  # raised again
            raise _explained(error, origins) from None

    return replay


def _explained(error: Exception, origins: dict[int, Instruction]) -> Exception:
    """The error that the step would have raised: it names the op and the module."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != _FILE:
        trace = trace.tb_next
    instruction = origins.get(trace.tb_lineno) if trace is not None else None
    if trace is None or instruction is None or instruction.phase == "effect":
        return error
    known = trace.tb_frame.f_locals
    arguments = [known.get(_name(a)) if isinstance(a, Value) else a for a in instruction.args]
    named: Any = instruction.op or SimpleNamespace(name=instruction.name, explain_error=None)
    found = explained(named, tuple(arguments), error)
    if found is error or not instruction.where:
        return found
    return type(found)(f"{found} [in {instruction.where}]")


def _name(value: Value) -> str:
    return f"v{value.number}".replace("-", "_")


class _Writer:
    """Writes instructions as lines of Python.

    Attributes:
        names: What the lines name: functions and constants.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "wrap": wrap,
            "array_of": array_of,
            "errstate": np.errstate,
            "asarray": np.asarray,
        }
        self._known: dict[int, str] = {}

    def line(self, instruction: Instruction) -> str:
        if instruction.function is read:
            (output,) = instruction.outputs
            return f"{_name(output)} = {self._written(instruction.args[0], within=False)}._data"  # type: ignore[arg-type]
        within = instruction.phase == "effect" and instruction.function not in (write, set_data)
        args = [self._written(part, within) for part in instruction.args]
        args += [f"{k}={self._written(v, within)}" for k, v in instruction.keywords.items()]
        if instruction.into is not None:
            args.append(f"out={_name(instruction.into)}")
        call = f"{self._constant(instruction.function)}({', '.join(args)})"
        outputs = ["_" if value is None else _name(value) for value in instruction.outputs]
        if not outputs:
            return call
        first = instruction.outputs[0]
        if within and first is not None and first.shape is not None:
            call = f"array_of({call})"
        written = f"{', '.join(outputs)}{',' if instruction.several else ''} = {call}"
        for value in instruction.outputs:  # NumPy makes numbers of arrays without axes
            if value is not None and value.shape == () and instruction.op is not None:
                written += f"; {_name(value)} = asarray({_name(value)})"
        return written

    def _written(self, thing: Any, within: bool) -> str:
        """An argument: values by name, wrapped as tensors in an effect; the others as constants."""
        if isinstance(thing, Value):
            return f"wrap({_name(thing)})" if within and thing.shape is not None else _name(thing)
        if isinstance(thing, Argument):
            return f"tensors[{thing.index}]"
        if next(leaves(thing, (Value, Argument)), None) is None:
            return self._constant(thing)
        if isinstance(thing, slice):
            return f"slice{self._written((thing.start, thing.stop, thing.step), within)}"
        if isinstance(thing, (tuple, list)):
            parts = ", ".join([self._written(part, within) for part in thing])
            return f"[{parts}]" if isinstance(thing, list) else f"({parts},)"
        pairs = [f"{self._constant(k)}: {self._written(v, within)}" for k, v in thing.items()]
        return f"{{{', '.join(pairs)}}}"

    def _constant(self, thing: Any) -> str:
        if id(thing) not in self._known:
            self._known[id(thing)] = name = f"c{len(self._known)}"
            self.names[name] = thing
        return self._known[id(thing)]
