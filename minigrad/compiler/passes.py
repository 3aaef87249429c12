"""Passes: each makes a program do less, and notes what it did. None changes a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.compiler.functions import add_copy_to_grad, add_to_grad, constant
from minigrad.compiler.program import Instruction, Program, Value
from minigrad.compiler.recording import Pull
from minigrad.support.checks import module_of
from minigrad.support.tree import leaves, mapped, structure

__all__ = ["last_uses", "run_all"]


def run_all(program: Program) -> list[tuple[str, Program]]:
    """Run all passes, in the order of this file.

    Returns:
        The programs: as recorded, and after each pass, with the name of the pass.
    """
    stages = [("recorded", program.copied())]
    for each in (drop_unused, share_equal, keep_constants, own_gradients, reuse_memory):
        each(program)
        stages.append((each.__name__.replace("_", " "), program.copied()))
    return stages


def drop_unused(program: Program) -> None:
    """Leave out what nothing uses, also of the cotangents that the rules of a node compute."""
    used = {*leaves(program.result, Value)}
    kept: list[Instruction] = []
    for instruction in reversed(program.instructions):
        outputs = instruction.outputs
        needed_anyway = instruction.effect or _may_refuse(instruction)
        if needed_anyway or any(value in used for value in outputs):
            if not instruction.effect:
                instruction.outputs = tuple([v if v in used else None for v in outputs])
            if isinstance(instruction.function, Pull):
                wanted = tuple([value is not None for value in instruction.outputs])
                instruction.function = Pull(instruction.function.pulled, wanted)
            used.update(instruction.reads)
            kept.append(instruction)
    dropped = len(program.instructions) - len(kept)
    program.instructions = kept[::-1]
    if dropped:
        program.notes.append(f"{dropped} instructions whose results nothing uses are left out")


def _may_refuse(instruction: Instruction) -> bool:
    """Whether it depends on values if an op raises an error: on an index, or in linear algebra."""
    if instruction.phase != "forward":
        return False
    indices = any(each.dtype is not None and each.dtype.kind in "iu" for each in instruction.reads)
    return indices or module_of(instruction.function).startswith("minigrad.ops.linalg")


def share_equal(program: Program) -> None:
    """Compute equal instructions once: the same function of the same values."""
    returned = {value.memory for value in leaves(program.result, Value)}
    known: dict[Any, Instruction] = {}
    new: dict[Value, Value] = {}
    kept, shared = [], 0
    for instruction in program.instructions:
        instruction.replace(new)
        own = instruction.effect or any(v and v.memory in returned for v in instruction.outputs)
        key = None if own else _key(instruction)
        if instruction.effect:
            known.clear()  # later reads may differ
        first = None if key is None else known.setdefault(key, instruction)
        if first is None or first is instruction or len(first.outputs) != len(instruction.outputs):
            kept.append(instruction)
            continue
        shared += 1
        for old, value in zip(instruction.outputs, first.outputs, strict=True):
            if old is not None and value is not None:
                new[old] = value
                value.fresh = value.fresh and old.fresh
    program.instructions = kept
    program.result = mapped(lambda value: new.get(value, value), program.result, Value)
    if shared:
        program.notes.append(f"{shared} instructions are shared with an equal one")


def _key(instruction: Instruction) -> Any:
    """The key that equal instructions share; None if it cannot be compared."""
    key = (
        instruction.function, structure((instruction.args, instruction.keywords), _frozen),
        tuple([value is None for value in instruction.outputs]),
    )  # fmt: skip
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(thing: Any) -> Any:
    """Constants with their types, since 1, 1.0 and True are equal; arrays by what they are."""
    if isinstance(thing, (np.ndarray, Value)) or hasattr(thing, "_data"):
        return id(thing)
    return type(thing), repr(thing) if isinstance(thing, float) else thing


def keep_constants(program: Program) -> None:
    """Have a constant made once, unless its memory leaves the program or is written to."""
    away = {value.memory for value in leaves(program.result, Value)}
    for each in program.instructions:
        if each.effect:
            away.update([value.memory for value in each.reads])
    kept: dict[Value, Any] = {}
    for each in program.instructions:
        if each.function is constant and each.outputs[0].memory not in away:  # type: ignore[union-attr]
            kept[each.outputs[0]] = each.args[0]  # type: ignore[index]
    program.instructions = [
        each for each in program.instructions if not (each.outputs and each.outputs[0] in kept)
    ]
    for each in program.instructions:
        each.replace(kept)


def last_uses(program: Program) -> list[set[Value]]:
    """For each instruction the values that are not used after it."""
    seen = {*leaves(program.result, Value)}
    found: list[set[Value]] = []
    for instruction in reversed(program.instructions):
        here = {*instruction.reads, *[v for v in instruction.outputs if v is not None]}
        found.append(here - seen)
        seen |= here
    return found[::-1]


def own_gradients(program: Program) -> None:
    """Copy a gradient that goes to a leaf, unless its memory is its own from then on."""
    for instruction, free in _with_free_values(program):
        if instruction.function is add_to_grad and not any(v in free for v in instruction.reads):
            instruction.function = add_copy_to_grad


def reuse_memory(program: Program) -> None:
    """Let an elementwise function write into an operand that is not used any more."""
    reused = 0
    for instruction, free in _with_free_values(program):
        out = instruction.outputs[0] if _is_elementwise(instruction.function) else None
        if out is None or not (out.shape and out.fresh):
            continue
        for value in instruction.args:
            if isinstance(value, Value) and value in free and _kind(value) == _kind(out):
                instruction.into = value
                reused += 1
                break
    if reused:
        program.notes.append(f"{reused} results are written into the memory of an operand")


def _with_free_values(program: Program) -> Iterator[tuple[Instruction, set[Value]]]:
    """Each instruction, and the operands whose memory nothing else sees, and nothing after it."""
    values = {*program.arguments, *leaves(program.result, Value)}
    for instruction in program.instructions:
        values.update(instruction.reads)
        values.update([value for value in instruction.outputs if value is not None])
    holders = Counter([value.memory for value in values])  # how many values may still see it
    for instruction, ends in zip(program.instructions, last_uses(program), strict=True):
        holders.subtract([value.memory for value in ends])
        yield (
            instruction,
            {
                value
                for value in ends
                if value.fresh and value.memory is not None and not holders[value.memory]
            },
        )


def _is_elementwise(function: Any) -> bool:
    """Whether a function is an elementwise ufunc with one result, which can write into memory."""
    return isinstance(function, np.ufunc) and not function.signature and function.nout == 1


def _kind(value: Value) -> Any:
    """The key that shared memory needs; the layout too: sums of an array add up along it."""
    return value.shape, value.dtype, value.strides
