"""In-place writes: right or refused, never silently wrong.

Before a rule runs: were the values that it saved written since? One clock stamps nodes and writes.
A write is remembered for the array that owns the memory. A pass compares each node with the latest
write, and looks at the saved arrays only of a node that is older.

Before an op reads a tensor: is its history that of the values in its memory? A recorded write to a
view is a write to its base, which has a new history at once. A view takes its own from there when
it is read next.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.autograd.mode import located
from minigrad.autograd.node import FREED, Node, Variable, clock
from minigrad.autograd.views import Place, owner
from minigrad.support.tree import leaves

__all__ = [
    "check", "history", "latest", "mark_part", "mark_written", "rewritten", "rewrote",
    "uniquely_owned", "update", "view_of", "written_since",
]  # fmt: skip

_writes: dict[int, tuple[weakref.ref[np.ndarray], int]] = {}
_parts: dict[int, tuple[weakref.ref[np.ndarray], tuple[tuple[int, Place], ...]]] = {}
_MOST = 64  # parts that are kept of a memory
latest = 0
"""The stamp of the latest in-place write."""


def mark_written(*arrays: np.ndarray) -> None:
    """Note that the memory of arrays was just written in place, other than by an op.

    A later backward pass that needs the old values is then refused.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.mutation import mark_written
        >>> x = minigrad.ones(2, requires_grad=True)
        >>> y = (x * x).sum()
        >>> x._data[:] = 5.0
        >>> mark_written(x._data)
        >>> y.backward()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        RuntimeError: multiply: its input b was written in place after it was saved...
    """
    global latest
    latest = next(clock)
    for array in arrays:
        memory = owner(array)
        _parts.pop(id(memory), None)
        _note(_writes, memory, latest)


def mark_part(array: np.ndarray, part: np.ndarray) -> None:
    """The same for a part, as in ``x.data[0] = 1``: what was saved of the rest is right."""
    global latest
    memory = owner(array)
    _, known = _parts.get(id(memory), (None, ()))
    if owner(part) is not memory or len(known) == _MOST:
        return mark_written(array)
    latest = next(clock)
    _note(_parts, memory, (*known, (latest, Place.of_array(part))))


def _note(times: dict[int, tuple[Any, Any]], thing: Any, value: Any) -> None:
    """Remember a time, or a value, for as long as a thing lives, under its id."""
    key = id(thing)
    known = times.get(key)
    reference = known[0] if known else weakref.ref(thing, lambda _: times.pop(key, None))
    times[key] = reference, value


def written_since(array: np.ndarray, stamp: int) -> bool:
    """Tell whether the memory that an array reads was written in place after the time `stamp`."""
    key = id(owner(array))
    known = _writes.get(key)
    if known is not None and known[1] > stamp:
        return True
    if key not in _parts:
        return False
    own = Place.of_array(array)
    return any(when > stamp and own.meets(part) for when, part in _parts[key][1])


def check(node: Node) -> None:
    """Refuse to run the rules of a node that a pass freed, or whose saved arrays were written."""
    name, remedy = node.plan.op.name, "run the forward pass again"
    if node.saved is FREED:
        message = (
            f"{name}: this graph was already used by a backward pass, which freed it; pass "
            f"retain_graph=True to the first pass, or {remedy}"
        )
        raise RuntimeError(located(message, node.scope))
    for argument, saved in zip(node.plan.saved_names, node.saved, strict=True):
        for array in saved if isinstance(saved, tuple) else (saved,):
            if isinstance(array, np.ndarray) and written_since(array, node.stamp):
                what = "output" if argument == "out" else f"input {argument}"
                message = (
                    f"{name}: its {what} was written in place after it was saved for the backward "
                    f"pass; write to a copy, or {remedy}; writes to .data count"
                )
                raise RuntimeError(located(message, node.scope))


rewritten: dict[int, tuple[weakref.ref[Variable], int]] = {}
"""Tensors that recorded writes changed, by id, and the time of the latest. Mostly it is empty."""


def rewrote(base: Variable) -> None:
    """Note that the memory of `base`, which is not a view, was changed by a recorded write."""
    _note(rewritten, base, next(clock) if base._node is None else base._node.stamp)


def view_of(result: Variable, source: Any) -> None:
    """Note that `result`, which an op made of `source`, views its memory, if it does.

    A view made under no_grad of a tensor with a history stays without one, as a detached view.
    """
    if not isinstance(source, Variable):
        return
    array, base, known = source._data, result._data.base, source._base
    shared = base is not None and (base is array or base is array.base)
    if shared or owner(result._data) is owner(array):
        result._base = source if known is None else known
        if result._node is None:
            result._current = source._current if source._node is None else math.inf


def update(values: Iterable[Any]) -> None:
    """Have views among the arguments of an op take the history that their base has by now."""
    for value in leaves(values, Variable):
        base = value._base
        known = None if base is None else rewritten.get(id(base))
        if base is None or known is None or owner(value._data) is not owner(base._data):
            continue
        current = value._current if value._node is None else value._node.stamp
        if current < known[1]:
            value._read_again()


def history(tensor: Variable) -> Any:
    """The node or leaf of a tensor, after all recorded writes to its memory."""
    if rewritten:
        update((tensor,))
    return tensor._node


_alone = {0: np.empty(1)}
_ONE = sys.getrefcount(_alone[0])  # the count of an array that only a dict holds


def uniquely_owned(arrays: dict[Any, Any], key: Any) -> bool:
    """Whether ``arrays[key]`` is writable and dense, and nothing but the dict can see its memory.

    That is so if neither the array nor the one whose memory it views has another reference: from a
    view, a saved value, a name in somebody's program. The caller must hold none either.
    """
    if sys.getrefcount(arrays[key]) > _ONE or not arrays[key].flags.writeable:
        return False
    if arrays[key].base is None:
        return True
    whole = isinstance(arrays[key].base, np.ndarray) and arrays[key].base.base is None
    return whole and arrays[key].flags.forc and sys.getrefcount(arrays[key].base) <= _ONE
