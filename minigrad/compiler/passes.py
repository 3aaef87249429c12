"""Passes: each makes a program do less, and notes what it did. None changes a number."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from minigrad.autograd.primitive import by_numpy
from minigrad.compiler.fusion import fuse_chains
from minigrad.compiler.program import Instruction, Program, Value, replaced, values_in
from minigrad.compiler.recording import add_to_grad

__all__ = ["drop_unused", "last_uses", "run_all"]

_OPS: dict[Any, Any] = by_numpy
_UFUNCS = {
    _OPS[ufunc].op.forward: ufunc
    for ufunc in (
        np.add, np.subtract, np.multiply, np.divide, np.negative, np.maximum, np.minimum, np.exp,
        np.log, np.sqrt, np.square, np.tanh, np.sin, np.cos,
    )
}  # fmt: skip
"""The forward functions that only call a ufunc, which can write into memory that it is given."""


def run_all(program: Program) -> list[tuple[str, Program]]:
    """Run all passes, in the order of this file.

    Returns:
        The programs: as recorded, and after each pass, with the name of the pass.
    """
    stages = [("recorded", program.copied())]
    for each in (drop_unused, share_equal, fuse, own_gradients, reuse_memory):
        each(program)
        stages.append((each.__name__.replace("_", " "), program.copied()))
    return stages


def drop_unused(program: Program) -> None:
    """Leave out what nothing uses, and tell joint rules which results are not needed."""
    used = {*values_in(program.result)}
    kept: list[Instruction] = []
    for instruction in reversed(program.instructions):
        outputs = instruction.outputs
        if instruction.effect or any(value in used for value in outputs):
            if not instruction.effect:
                instruction.outputs = tuple([v if v in used else None for v in outputs])
            if instruction.phase == "backward" and instruction.several:  # rule(g, needed, ...)
                needed = tuple([value is not None for value in instruction.outputs])
                instruction.args = (instruction.args[0], needed, *instruction.args[2:])
            used.update(instruction.reads)
            kept.append(instruction)
        else:
            program.marks[instruction.place] = "dropped", ""
    dropped = len(program.instructions) - len(kept)
    program.instructions = kept[::-1]
    if dropped:
        program.notes.append(f"{dropped} instructions whose results nothing uses are left out")


def share_equal(program: Program) -> None:
    """Compute equal instructions once: the same function of the same values."""
    known: dict[Any, Instruction] = {}
    new: dict[Value, Value] = {}
    kept, shared = [], 0
    for instruction in program.instructions:
        instruction.args = replaced(instruction.args, new)
        instruction.keywords = replaced(instruction.keywords, new)
        key = None if instruction.effect else _key(instruction)
        if instruction.effect:
            known.clear()  # what is read after it may differ
        first = None if key is None else known.setdefault(key, instruction)
        if first is None or first is instruction or len(first.outputs) != len(instruction.outputs):
            kept.append(instruction)
            continue
        shared += 1
        program.marks[instruction.place] = "shared", str(first.outputs[0])
        for old, value in zip(instruction.outputs, first.outputs, strict=True):
            if old is not None and value is not None:
                new[old] = value
                value.fresh = value.fresh and old.fresh
    program.instructions = kept
    program.result = replaced(program.result, new)
    if shared:
        program.notes.append(f"{shared} instructions are shared with an equal one")


def _key(instruction: Instruction) -> Any:
    """What equal instructions have in common; None if it cannot be compared."""
    key = (
        instruction.function, _frozen(instruction.args), _frozen(instruction.keywords),
        tuple([value is None for value in instruction.outputs]),
    )  # fmt: skip
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(thing: Any) -> Any:
    """Constants with their types, since 1, 1.0 and True are equal; arrays by what they are."""
    if isinstance(thing, dict):
        return tuple([(name, _frozen(part)) for name, part in thing.items()])
    if isinstance(thing, (tuple, list)):
        return type(thing), tuple(map(_frozen, thing))
    if isinstance(thing, (np.ndarray, Value)) or hasattr(thing, "_data"):
        return id(thing)
    return type(thing), repr(thing) if isinstance(thing, float) else thing


def fuse(program: Program) -> None:
    """Make one instruction of each chain of elementwise ones."""
    fuse_chains(program, _UFUNCS)


def last_uses(program: Program) -> list[set[Value]]:
    """For each instruction the values that are not used after it."""
    seen = {*values_in(program.result)}
    found: list[set[Value]] = []
    for instruction in reversed(program.instructions):
        here = {*instruction.reads, *[v for v in instruction.outputs if v is not None]}
        found.append(here - seen)
        seen |= here
    return found[::-1]


def own_gradients(program: Program) -> None:
    """Copy a gradient that goes to a leaf, unless its memory is its own from then on."""
    holders = _holders(program)
    for instruction, ends in zip(program.instructions, last_uses(program), strict=True):
        if instruction.function is add_to_grad:
            value = instruction.args[1]
            own = isinstance(value, Value) and value in ends and _alone(value, holders, ends)
            if not own:
                instruction.function = _add_copy_to_grad
                program.marks[instruction.place] = "copied", ""
        for value in ends:
            holders[value.memory] -= 1


def reuse_memory(program: Program) -> None:
    """Let an elementwise function write into an operand that is not used any more."""
    holders, reused = _holders(program), 0
    for instruction, ends in zip(program.instructions, last_uses(program), strict=True):
        ufunc = _ufunc(instruction)
        out = instruction.outputs[0] if instruction.outputs else None
        if ufunc is not None and out is not None and out.shape and not instruction.keywords:
            for value in instruction.args:
                fits = isinstance(value, Value) and _kind(value) == _kind(out)
                if fits and out.fresh and value in ends and _alone(value, holders, ends):
                    instruction.function, instruction.into = ufunc, value
                    program.marks[instruction.place] = "into", str(value)
                    reused += 1
                    break
        for value in ends:
            holders[value.memory] -= 1
    if reused:
        program.notes.append(f"{reused} results are written into the memory of an operand")


def _kind(value: Value) -> Any:
    """What memory must have in common; the layout too: sums of an array add up along it."""
    return value.shape, value.dtype, value.strides


def _ufunc(instruction: Instruction) -> np.ufunc | None:
    function = instruction.function
    return function if isinstance(function, np.ufunc) else _UFUNCS.get(function)


def _holders(program: Program) -> Counter[Any]:
    """For each memory, how many values may still see it."""
    values = {*program.arguments, *values_in(program.result)}
    for instruction in program.instructions:
        values.update(instruction.reads)
        values.update([value for value in instruction.outputs if value is not None])
    return Counter([value.memory for value in values])


def _alone(value: Value, holders: Counter[Any], ends: set[Value]) -> bool:
    """Whether nothing sees the memory of a value after an instruction that ends it."""
    others = sum(other.memory == value.memory for other in ends)
    return value.fresh and value.memory is not None and holders[value.memory] == others


def _add_copy_to_grad(tensor: Any, array: np.ndarray) -> None:
    add_to_grad(tensor, np.array(array))
