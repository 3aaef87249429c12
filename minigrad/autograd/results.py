"""What an op returns: a tensor without a history, or one with a new node behind it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.mode import Scope
from minigrad.autograd.node import Leaf, Node, Variable, clock
from minigrad.autograd.op import Primitive
from minigrad.autograd.plan import Plan

__all__ = [
    "cut_off", "pick", "picked", "record", "record_several", "with_history", "without_rules",
    "wrap",
]  # fmt: skip

_new = object.__new__
_ndarray = np.ndarray


def wrap(out: Any) -> Any:
    """A result that has no history."""
    tensor = _new(Variable.result_class)
    tensor._data = out if out.__class__ is _ndarray else np.asarray(out)
    return tensor


_cut_by: Primitive | None = None  # the last op without rules that a history ended at


def cut_off(op: Primitive, out: Any) -> Any:
    """A result whose inputs had a history, of an op without rules: it has none."""
    global _cut_by
    tensor = wrap(out)
    if tensor._data.dtype.kind == "f":  # whole numbers and bools have no derivative
        _cut_by = op
    return tensor


def without_rules() -> str:
    """For an error about a missing history: the op without a derivative that was called last."""
    if _cut_by is None:
        return "an op without a derivative"
    return f"an op without a derivative, as the last was: {_cut_by.name} (defvjp gives it one)"


def record(plan: Plan, sources: Any, saved: tuple[Any, ...], out: Any, scope: Scope | None) -> Any:
    """A result with a new node behind it."""
    if out.__class__ is not _ndarray:
        out = np.asarray(out)
    node = _new(Node)
    node.plan = plan
    node.edges = sources
    node.saved = saved
    node.shape = out.shape
    node.dtype = out.dtype
    node.stamp = next(clock)
    node.scope = scope
    tensor = _new(Variable.result_class)
    tensor._data = out
    tensor._node = node
    return tensor


def with_history(array: Any, source: Node | Leaf | None) -> Any:
    """A result that stands where `source` stands in its graph."""
    tensor = wrap(array)
    tensor._node = source
    return tensor


def _pick(outputs: Any, index: int) -> Any:
    """One output of an op that has several: the node between it and theirs."""
    return outputs[index]


pick = Primitive(_pick, arrays=1)


def record_several(
    plan: Plan, sources: Any, saved: tuple[Any, ...], outputs: Any, scope: Scope | None
) -> tuple[Any, ...]:
    """The outputs of an op that has several: one node for the bundle, and a pick for each."""
    arrays = [np.asarray(output) for output in outputs]
    bundle: Any = record(plan, sources, saved, arrays[0], scope)._node
    bundle.shape = tuple(array.shape for array in arrays)
    bundle.dtype = tuple(array.dtype for array in arrays)
    return tuple(picked(bundle, index, array) for index, array in enumerate(arrays))


def picked(bundle: Node, index: int, array: np.ndarray) -> Any:
    """The tensor of one output of a bundle."""
    return record(pick.plan((0,)), (bundle,), (index,), array, bundle.scope)
