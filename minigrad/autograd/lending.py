"""Memory that is lent to NumPy: what is written there is noticed, or does not matter.

``x.numpy()`` shares memory, and nobody tells the engine what NumPy writes. So while such an array
or a view of it lives, an op that saves values in this memory saves a copy. What was saved before is
compared: a copy of the memory is kept, unless nothing else could refer to it, and when a backward
pass begins, or the array goes, a difference is a write.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, cast

import numpy as np

from minigrad.autograd.mutation import mark_written
from minigrad.autograd.views import owner
from minigrad.support.tree import mapped

__all__ = ["borrow", "held", "lend", "lent", "notice_writes"]


class _Loan:
    """The arrays that were handed out of one memory, and what was in it."""

    __slots__ = ("before", "key", "memory", "views")

    def __init__(self, memory: np.ndarray) -> None:
        self.memory, self.key = weakref.ref(memory), id(memory)
        self.before: np.ndarray | None = None
        self.views: dict[int, weakref.ref[Any]] = {}

    def until_gone(self, thing: Any) -> None:
        """Keep the loan for as long as a thing lives."""
        reference = weakref.ref(thing, self._returned)
        self.views[id(reference)] = reference

    def notice(self) -> None:
        """Note a write, if there was one."""
        if self.before is None:
            return
        memory = self.memory()
        if memory is not None and memory.tobytes() != self.before.tobytes():  # NaN too
            mark_written(memory)
            self.before = memory.copy()

    def _returned(self, reference: Any) -> None:
        del self.views[id(reference)]
        if not self.views and lent is not None:  # None when the program ends
            self.notice()
            lent.pop(self.key, None)


lent: dict[int, _Loan] = {}
"""The memory that NumPy may write now, by the id of the array that owns it. Mostly it is empty."""


def lend(array: np.ndarray) -> np.ndarray:
    """An array that shares memory and can be written to, if this one can.

    Example:
        >>> import minigrad
        >>> x = minigrad.zeros(2)
        >>> x.numpy()[0] = 1.0
        >>> x.tolist()
        [1.0, 0.0]
    """
    if not array.flags.writeable:
        return array.view()
    shared, memory = sys.getrefcount(array) > _ALONE, array
    if array.base is not None and (memory := owner(array)) is not array:
        shared = shared or sys.getrefcount(memory) > _ALONE
    loan = _loan_of(memory)
    loan.notice()
    if shared and loan.before is None:
        loan.before = memory.copy()
    view = np.asarray(memoryview(cast(Any, array)))
    loan.until_gone(view.base)  # a memoryview, to which every view of it refers
    return view


def borrow(array: np.ndarray) -> np.ndarray:
    """The array, which somebody else may write to for as long as its memory lives."""
    memory = owner(array)
    _loan_of(memory).until_gone(memory)
    return array


def _loan_of(memory: np.ndarray) -> _Loan:
    loan = lent.get(id(memory))
    if loan is None:
        loan = lent[id(memory)] = _Loan(memory)
    return loan


def held(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values that an op saves, with a copy of each array in memory that is lent."""
    copied: tuple[Any, ...] = mapped(
        lambda array: array.copy() if id(owner(array)) in lent else array, values, np.ndarray
    )
    return copied


def notice_writes() -> None:
    """Note what NumPy wrote by now."""
    for loan in [*lent.values()]:
        loan.notice()


def _count(array: np.ndarray) -> int:
    return sys.getrefcount(array)


class _Holder:
    def __init__(self) -> None:
        self._data = np.empty(1)


_ALONE = _count(_Holder()._data) + 1  # the caller's own name
