"""Compare two recordings of a step: what differs cannot be replayed."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from minigrad._tensor import Tensor
from minigrad.compiler.program import CaptureError, Instruction, Program, Value
from minigrad.compiler.recording import read

__all__ = ["agree"]


def agree(first: Program, second: Program) -> None:
    """Make sure that two recordings are one program.

    A tensor that is read in both is state. Other tensors and arrays, made anew in each call, are
    constants, and must have equal values.

    Raises:
        CaptureError: They differ.
    """
    same: dict[Value, Value] = dict(zip(first.arguments, second.arguments, strict=True))
    for a, b in zip(first.instructions, second.instructions, strict=False):
        if a.function is not b.function or len(a.outputs) != len(b.outputs):
            _refuse(b, f"runs {b.name} where it ran {a.name} before")
        if a.function is read and b.args[0] is not a.args[0]:
            _refuse_unless(b, _equal(a.args[0]._data, b.args[0]._data, same))
        elif not _equal((a.args, a.keywords), (b.args, b.keywords), same):
            _refuse_unless(b, False)
        pairs = zip(a.outputs, b.outputs, strict=True)
        same.update({x: y for x, y in pairs if x is not None and y is not None})
    lengths = len(first.instructions), len(second.instructions)
    if lengths[0] != lengths[1]:
        raise CaptureError(
            f"capture: the step ran {lengths[0]} instructions in its first call and {lengths[1]} "
            f"in its second: it does something else in each"
        )
    if not _equal(first.result, second.result, same):
        raise CaptureError(
            "capture: the step returns a number that changes from call to call and is no tensor"
        )


def _refuse_unless(instruction: Instruction, equal: bool) -> None:
    if not equal:
        _refuse(
            instruction,
            f"uses a value in {instruction.name} that changes from call to call, and that no op of "
            f"the step computed; pass it to the step as a tensor",
        )


def _refuse(instruction: Instruction, what: str) -> NoReturn:
    raise CaptureError(f"capture: the step {what} (at {instruction.line})")


def _equal(a: Any, b: Any, same: dict[Value, Value]) -> bool:
    """Whether two arguments are one value, one object, or equal constants."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Value):
        return same.get(a) is b
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key], same) for key in a)
    if isinstance(a, (tuple, list)):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(_equal(x, y, same) for x, y in pairs)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, Tensor):  # made anew in each call; a leaf would keep the first one's gradient
        return a._node is None is b._node and _equal(a._data, b._data, same)
    return repr(a) == repr(b) if isinstance(a, (float, np.floating)) else bool(a == b)
