"""Fuse elementwise chains: they run block by block, while the blocks are in the cache.

NumPy has no function for a chain of operations: each call reads its arrays from memory and writes
its result there. In blocks that fit into the cache, a result is still there when the next operation
reads it, and what only the chain needs takes a block of memory instead of an array. The blocks are
divided among threads. Elementwise functions give each element the same number in any block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.primitive import by_numpy
from minigrad.compiler.program import Instruction, Program, Value, replaced, values_in
from minigrad.ops._parallel import for_rows

__all__ = ["fuse", "ufunc_of"]

SMALLEST = 1 << 16
"""The minimum number of elements in a chain: smaller arrays stay in the cache anyway."""
BLOCK_BYTES = 1 << 18
"""The bytes of a block of all arrays of a chain, which stay in the cache."""
COST = 0.5
"""The approximate nanoseconds of an operation for each element."""

_OPS: dict[Any, Any] = by_numpy
_UFUNCS = {
    _OPS[ufunc].op.forward: ufunc
    for ufunc in (
        np.add, np.subtract, np.multiply, np.divide, np.negative, np.maximum, np.minimum, np.exp,
        np.log, np.sqrt, np.square, np.tanh, np.sin, np.cos,
    )
} | {
    _OPS[op].op.rules[argument].function: ufunc
    for op, argument, ufunc in (
        (np.multiply, "a", np.multiply), (np.multiply, "b", np.multiply),
        (np.subtract, "b", np.negative), (np.negative, "x", np.negative),
    )
}  # fmt: skip
"""The forward functions, and the rules, that only call a ufunc with their arguments."""
_PASSED_ON = [
    _OPS[op].op.rules[argument].function
    for op, argument in ((np.add, "a"), (np.add, "b"), (np.subtract, "a"))
]
"""Rules that return their cotangent itself."""


def ufunc_of(instruction: Instruction) -> np.ufunc | None:
    """The elementwise ufunc of one result that an instruction calls; None for others."""
    function: Any = _UFUNCS.get(instruction.function, instruction.function)
    elementwise = isinstance(function, np.ufunc) and not function.signature and function.nout == 1
    return function if elementwise else None


def fuse(program: Program) -> None:
    """Make one instruction of elementwise ones that follow one another on arrays of one shape."""
    _pass_on(program)
    chains: list[list[Instruction]] = []
    kept: list[Instruction] = []
    for instruction in program.instructions:
        if ufunc_of(instruction) is not None and _fits(instruction):
            kind = _kind(instruction)
            if chains and kept and kept[-1] is chains[-1][-1] and _kind(chains[-1][-1]) == kind:
                chains[-1].append(instruction)
            else:
                chains.append([instruction])
        kept.append(instruction)
    uses: dict[Value, int] = {}
    for thing in (program.result, *[i.reads for i in program.instructions]):
        for value in {*values_in(thing)}:
            uses[value] = uses.get(value, 0) + 1
    fused = 0
    for chain in chains:
        if len(chain) > 1:
            whole = _fused(chain, uses)
            for instruction in chain[:-1]:
                kept.remove(instruction)
                program.marks[instruction.place] = "fused", whole.name
            kept[kept.index(chain[-1])] = whole
            fused += len(chain)
    program.instructions = kept
    if fused:
        program.notes.append(f"{fused} elementwise instructions are fused into chains")


def _pass_on(program: Program) -> None:
    """Leave out the rules that return their cotangent itself."""
    new: dict[Value, Value] = {}
    for instruction in program.instructions:
        instruction.args = replaced(instruction.args, new)
        if instruction.function in _PASSED_ON and instruction.outputs[0] is not None:
            new[instruction.outputs[0]] = instruction.args[0]
            program.marks[instruction.place] = "shared", str(instruction.args[0])
    program.instructions = [i for i in program.instructions if i.function not in _PASSED_ON]


def _kind(instruction: Instruction) -> Any:
    out = instruction.outputs[0]
    return out and (out.shape, out.dtype, instruction.phase)


def _fits(instruction: Instruction) -> bool:
    """Whether all arguments are arrays like the result, row after row, or single numbers."""
    out = instruction.outputs[0]
    if out is None or out.shape is None or instruction.keywords or instruction.into:
        return False
    if math.prod(out.shape) < SMALLEST or out.strides != np.empty(out.shape, out.dtype).strides:
        return False
    return all(
        (part.shape, part.dtype, part.strides) == (out.shape, out.dtype, out.strides)
        if isinstance(part, Value)
        else isinstance(part, (int, float))
        for part in instruction.args
    )


def _fused(chain: list[Instruction], uses: dict[Value, int]) -> Instruction:
    made = [value for instruction in chain for value in instruction.outputs if value is not None]
    inside: dict[Value, int] = {}
    for instruction in chain:
        for value in {*instruction.reads}:
            inside[value] = inside.get(value, 0) + 1
    given = [value for value in inside if value not in made]
    results = [value for value in made if uses.get(value, 0) > inside.get(value, 0)]
    places = {value: i for i, value in enumerate((*given, *made))}
    steps = [
        (ufunc_of(i), [_Slot(places[a]) if isinstance(a, Value) else a for a in i.args])
        for i in chain
    ]
    wanted = [made.index(value) for value in results]
    names = "·".join([instruction.name for instruction in chain])
    last = chain[-1]
    return Instruction(
        names, last.phase, _Chain(steps, len(given), wanted), tuple(given), {}, tuple(results),
        several=True, path=last.path, line=last.line, place=last.place,
    )  # fmt: skip


class _Slot(int):
    """The place of an array among those of a chain: first the given ones, then one a step."""


class _Chain:
    """Calls ufuncs one after another on blocks.

    Args:
        steps: Each ufunc and its arguments: slots and numbers.
        given: The number of arrays that are given.
        wanted: Which steps' results are returned.
    """

    def __init__(
        self, steps: Sequence[tuple[Any, list[Any]]], given: int, wanted: list[int]
    ) -> None:
        self.steps, self.given, self.wanted = steps, given, wanted

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        like = arrays[0]
        outputs = {i: np.empty(like.shape, like.dtype) for i in self.wanted}
        whole = [array.reshape(-1) for array in arrays]
        flat = {i: output.reshape(-1) for i, output in outputs.items()}

        def work(start: int, stop: int) -> None:
            known = [array[start:stop] for array in whole]
            for i, (ufunc, arguments) in enumerate(self.steps):
                values = [known[a] if a.__class__ is _Slot else a for a in arguments]
                out = flat[i][start:stop] if i in flat else None
                known.append(ufunc(*values, out=out))

        block = BLOCK_BYTES // like.itemsize // (self.given + len(self.steps))
        for_rows(like.size, block, like.size * len(self.steps) * COST, work)
        return tuple(outputs.values())
