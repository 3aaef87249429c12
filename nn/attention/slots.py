"""Which module owns which slot of a cache.

A slot belongs to the module that wrote it first. A module that does not say an index uses its own
slot, and in the first step gets the next one. Where that could mean two things, it is an error: a
wrong slot would give wrong numbers.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd import mutation
from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import state
from minigrad.autograd.scope import Scope, ancestry
from minigrad.ops._numerics import values_of
from minigrad.tensors.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.nn.attention.cache import KVCache
    from minigrad.nn.module.base import Module

REMEDY = "pass cache_layer_idx (to a stack: cache_start_layer_idx); reset() empties the cache"


class Slots:
    """The owners of the slots of one cache, held weakly, and the memories that were projected.

    What it knows of a slot counts only while the slot is filled. A deep copy has the same owners,
    or their copies if these were copied with it. A pickled one has none: the modules take the slots
    in the order in which they are called.
    """

    def __init__(self) -> None:
        self._made_in = state.get().scope
        self._owners: dict[int, weakref.ref[Module]] = {}
        self._calls: dict[int, Scope | None] = {}
        self._memories: dict[int, tuple[Tensor, int]] = {}

    def find(
        self, cache: KVCache, module: Module, index: int | None, length: int, writes: bool
    ) -> int:
        """Return the slot of a module that gives `length` keys, and stores them if it `writes`."""

        def refused(what: str) -> ValueError:
            return value_error(f"{type(module).__name__}: {what}; {REMEDY}")

        kind = type(cache).__name__
        owners = {i: self._owners.get(i, lambda: None)() for i in cache.cached_layers()}
        if index is not None:
            owner = owners.get(index)
            if owner is not None and owner is not module:
                name = type(owner).__name__
                raise refused(f"slot {index} of the {kind} belongs to another {name}")
            return index
        own = [i for i, owner in owners.items() if owner is module]
        if len(own) > 1:
            raise refused(f"it has the slots {own} of the {kind}")
        step = self._step()
        if own:
            if writes and step is not None and self._calls.get(own[0]) is step:
                what = f"it was called twice in one call of {step.kind}, with one {kind}"
                raise refused(f"{what}: two depths need two slots, and two steps the same")
            return own[0]
        new = next(i for i in range(len(owners) + 1) if i not in owners or i not in self._owners)
        if new in owners:  # filled by nobody that is known
            self._owners[new] = weakref.ref(module)
            return new
        calls = [self._calls.get(i) for i in owners]
        alone = len({id(call) for call in calls}) == len(calls)  # each module was called by itself
        if (
            None in owners.values()
            or any(cache.get_seq_length(i) != length for i in owners)
            or not (alone or all(call is step for call in calls))
        ):
            others = f"whose slots {list(owners)} are of earlier calls, or of another length"
            raise refused(f"it has no slot in the {kind}, {others} than {length}")
        return new

    def claim(self, index: int, module: Module) -> None:
        """Note that a module wrote to a slot."""
        self._owners[index] = weakref.ref(module)
        self._calls[index] = self._step()

    def forget_memory(self, index: int) -> None:
        """Note that a slot no longer holds the memory as it was given."""
        self._memories.pop(index, None)

    def check_memory(self, index: int, memory: Tensor) -> None:
        """Raise if a filled slot holds the projection of another memory; else note this one."""
        kept, stamp = self._memories.setdefault(index, (memory, mutation.latest))
        if mutation.written_since(values_of(kept), stamp) or not (
            memory is kept or np.array_equal(values_of(memory), values_of(kept), equal_nan=True)
        ):
            what = f"layer {index} has cached another memory than that of {tuple(memory.shape)}"
            raise value_error(f"EncoderDecoderCache: {what}; reset() empties the cache")

    def _step(self) -> Scope | None:
        """The outermost module call that is running, below the one in which the cache was made."""
        calls = [None, *ancestry(state.get().scope)]
        return calls[calls.index(self._made_in) - 1] if self._made_in in calls[1:] else calls[-1]

    def __deepcopy__(self, memo: dict[int, Any]) -> Slots:
        made = Slots()
        for i, known in self._owners.items():
            owner = known()
            made._owners[i] = known if owner is None else weakref.ref(memo.get(id(owner), owner))
        made._memories = dict(self._memories)
        return made

    def __reduce__(self) -> tuple[type[Slots], tuple[()]]:
        return Slots, ()
