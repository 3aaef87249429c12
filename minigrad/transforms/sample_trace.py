"""The run of one sample: a trace that refuses what could not be done for all samples."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.api import add_to_grad
from minigrad.autograd.call import wrap
from minigrad.autograd.events import Call, only_reads, undecorated
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Node, Variable, clock, data_of
from minigrad.autograd.primitives import Primitive, registry
from minigrad.autograd.views import owner, read_only
from minigrad.support import tree
from minigrad.support.random_state import DRAWS
from minigrad.tracing import Step, Trace, Value
from minigrad.tracing.lines import user_line
from minigrad.tracing.record import replaces_data
from minigrad.tracing.steps import Phase
from minigrad.transforms.batching import INDEXED, INSTEAD, RULES, CannotMap, Samples, elementwise

__all__ = ["SampleTrace"]


@dataclass(slots=True)
class _Chosen:
    """A part of a tensor that an index chose for each sample.

    Attributes:
        part: Its array.
        memory: The array that owns the memory of the tensor.
        index: The index, with values.
        line: Where the part was written, until it is assigned to the tensor.
        old: Whether the tensor was written since.
    """

    part: np.ndarray
    memory: np.ndarray
    index: Any
    line: str = ""
    old: bool = False


class SampleTrace(Trace):
    """A trace of the run of one sample.

    Args:
        different: Whether random numbers differ from sample to sample.

    Attributes:
        every: What is known for all samples, by the value of one: first what was there before.
        varying: The values that differ from sample to sample: they were computed from an argument,
            or from random numbers that differ.
        samples: The arguments that differ, each with the tensor of the first sample.
    """

    def __init__(self, different: bool) -> None:
        super().__init__()
        self.different = different
        self._born = next(clock)
        self.every: dict[Value, Any] = {}
        self.varying: set[Value] = set()
        self.samples: list[tuple[Value, Any]] = []
        self._fresh: set[int] = set()  # the ids of the arrays of tensors that were made within
        self._outer_memories: dict[int, np.ndarray] = {}  # of tensors from outside, by id
        self._edges: dict[Value, Any] = {}  # of tensors from outside, when first read
        self._new_leaves: list[Value] = []  # a transform's are soon gone
        self._chosen: list[_Chosen] = []
        self._written = False  # whether anything was
        self._differing: list[weakref.ref[Variable]] = []  # the results that differ
        self._generators: dict[Any, Any] = {}  # those given to what draws, each with its state

    def given(self, leaf: Any) -> Any:
        """A leaf of the arguments, for the first sample."""
        if not isinstance(leaf, Samples):
            return leaf
        sample = wrap(read_only(np.array(leaf.tensor._data[0])))
        if history(leaf.tensor) is not None:
            sample._node = Leaf(sample)
        value = self.value(sample)
        self.every[value] = leaf
        self.varying.add(value)
        self._edges.pop(value, None)
        self._new_leaves.clear()
        self.samples.append((value, sample))
        return sample

    def ran(self, call: Call) -> None:
        """Refuse a static argument that differs from sample to sample, but for an index."""
        super().ran(call)
        op, given = call.op, self.steps[-1].arguments
        for tensor, value in zip(call.outputs, self.steps[-1].outputs, strict=False):
            if value in self.varying:
                self._differing.append(weakref.ref(tensor))
        self._put_back(call, given)
        for name in op.params[1 if op.variadic else op.arrays :]:
            varies = not self.varying.isdisjoint(tree.leaves(given.get(name), Value))
            if not varies or name in op.random_keys:
                continue
            if op not in INDEXED:
                what = f"{op.name}: {name}"
                raise CannotMap(f"vmap: {what} must be the same for all samples, at {user_line()}")
            if op is registry["getitem"]:
                self._choose(call, given[name])

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Note that random numbers differ from sample to sample, if they do.

        A generator that is given draws again for all samples: its state is kept.
        """
        place = len(self.steps)
        for own in (*args, *kwargs.values()) if function in DRAWS else ():
            if isinstance(own, np.random.Generator):
                self._generators.setdefault(own, own.bit_generator.state)
        yield from super().effect(function, args, kwargs)
        if self.different and function in DRAWS:
            self.varying.update([one for one in self.steps[place].outputs if one is not None])

    def created(self, tensor: Variable) -> None:
        """Keep what a tensor holds that was made in the function: it may be written to."""
        super().created(tensor)
        self._fresh.add(id(tensor._data))
        self.every[self.value(tensor)] = wrap(tensor._data.copy())

    def value(self, thing: Any) -> Value:
        """Refuse a chosen part whose tensor was written since."""
        if self._chosen and any(c.old and c.part is data_of(thing) for c in self._chosen):
            what = "a part is read that an index chose for each sample"
            raise CannotMap(f"vmap: at {user_line()} {what}: its tensor was written, read it again")
        recorded = self._identity.by_history(thing) if self._written else None
        value = super().value(thing)
        known = value in self._edges and isinstance(thing, Variable)
        if known and history(thing) is not self._edges[value]:
            self._refuse_other_leaf(value, self._edges[value])
            value = self._from_outside(thing)  # the same content with another history
        if recorded is not None and value is not recorded.value:
            value = self._rewritten(recorded.value, value)
            self._know(thing, value)
        return value

    def _choose(self, call: Call, index: Any) -> None:
        """Give a part that an index chooses for each sample memory of its own.

        As a view it would lie where the first sample has it, and so would what is written to it.
        """
        part, memory = call.outputs[0], owner(data_of(call.arguments[0]))
        if owner(part._data) is memory:
            value = self.value(part)
            part._data = value.array = part._data.copy()
            self._know(part, value)
            self._chosen.append(_Chosen(part._data, memory, _uncloned(index)))

    def _put_back(self, call: Call, given: dict[str, Any]) -> None:
        """After a write to a chosen part comes its assignment, as in ``z[k] += y``."""
        for one in [one for one in self._chosen if one.line]:
            if (
                call.op is registry["setitem"]
                and _uncloned(given["index"]) == one.index
                and data_of(call.arguments[1]) is one.part
            ):
                one.line = ""
            elif any(owner(x) is one.memory for x in tree.leaves(call.values, np.ndarray)):
                self.refuse_lost_writes()

    def rewind(self) -> None:
        """Give generators the state that they had before the function."""
        for generator, before in self._generators.items():
            generator.bit_generator.state = before

    def retire(self) -> None:
        """Refuse from now on that tensors of the first sample are read."""
        samples = [sample for _, sample in self.samples]
        for tensor in (*[made() for made in self._differing], *samples):
            if tensor is not None:
                tensor.__class__ = _retired()

    def refuse_lost_changes(self) -> None:
        """Refuse what the end of the function shows: another leaf, a part that was not assigned."""
        for value, edge in (*self._edges.items(), *[(value, None) for value in self._new_leaves]):
            self._refuse_other_leaf(value, edge)
        self.refuse_lost_writes()

    def refuse_lost_writes(self) -> None:
        """Refuse a write to a chosen part that was not assigned to its tensor."""
        for one in self._chosen:
            if one.line:
                what = "a part is written that an index chose for each sample"
                raise CannotMap(f"vmap: at {one.line} {what}: assign it, z[k] = ...")

    def adds_within(self, step: Step) -> bool:
        """Whether an effect adds to the ``.grad`` of a tensor that was made in the function."""
        value = step.arguments["args"][0] if step.function is undecorated(add_to_grad) else None
        return value is not None and (value.step is not None or id(value.array) in self._fresh)

    def wrote(self, tensor: Variable, values: Any) -> None:
        """Refuse a write to a tensor from outside, or to a view of its memory."""
        self.value(tensor)
        replaced = replaces_data(tensor, values) and not self.is_new(tensor)
        if replaced or id(owner(tensor._data)) in self._outer_memories:
            what = f"the function writes to a tensor from outside, at {user_line()}"
            raise CannotMap(f"vmap: {what}: write to a copy, x.clone(), and return it")
        self._written = True
        before = self._identity.by_history(tensor)
        super().wrote(tensor, values)
        if before is not None and not (isinstance(values, Variable) and history(values)):
            value = self._rewritten(before.value, super().value(tensor))
            self._know(tensor, value)
        for one in self._chosen:
            if one.part is tensor._data:
                one.line = user_line()
            elif one.memory is owner(tensor._data):
                one.old = True

    def _rewritten(self, before: Value, value: Value) -> Value:
        """A written value with the history from before the write."""
        given = {"x": before, "value": value}
        made = self._derived("write", REWRITTEN, given, before.shape)
        self.steps[-1].grad_mode = True
        return made

    def left(self, tensor: Variable, door: str) -> None:
        """Refuse that Python reads what differs from sample to sample."""
        checks = any(only_reads(each.function) or each.function in DRAWS for each in self._effects)
        if not checks and self.value(tensor) in self.varying:
            part_of = state.get().within
            if isinstance(part_of, Node):
                what = f"the derivative of {part_of.plan.op.name}"
                raise CannotMap(f"vmap: {what} decides by values that differ: {INSTEAD}")
            what = f"{door} reads what differs from sample to sample, at {user_line()}"
            once = "the function runs once, for all samples; choose with minigrad.where"
            raise CannotMap(f"vmap: {what}: {once}")

    def _from_outside(self, thing: Any) -> Value:
        value = super()._from_outside(thing)
        self.every[value] = thing
        if isinstance(thing, Variable) and id(thing._data) not in self._fresh:
            edge, memory = history(thing), owner(thing._data)
            self._outer_memories[id(memory)] = memory
            if isinstance(edge, Leaf) and edge.stamp > self._born:
                self.every[value] = wrap(thing._data)
                self._new_leaves.append(value)
            else:
                self._edges[value] = edge
        return value

    def _refuse_other_leaf(self, value: Value, edge: Any) -> None:
        """Refuse that a tensor from outside is frozen, thawed or hooked in the function."""
        tensor, hooked = value.tensor, isinstance(edge, Leaf) and edge.is_changed_since(self._born)
        if tensor is not None and (history(tensor) is not edge or hooked):
            what = f"a tensor from outside of shape {tuple(tensor.shape)}, at {user_line()}"
            raise CannotMap(f"vmap: the function freezes, thaws or hooks {what}: do it before")

    def _step(self, phase: Phase, *args: Any, **fields: Any) -> Step:
        step = super()._step(phase, *args, **fields)
        if phase == "effect":
            step.line = user_line()
        return step

    def _output(self, step: Step | None, shape: tuple[int, ...], dtype: Any) -> Value:
        value = super()._output(step, shape, dtype)
        if step is not None and not self.varying.isdisjoint(step.reads):
            self.varying.add(value)
        return value


@functools.cache
def _retired() -> type[Variable]:
    """The class of a tensor of one sample after the run."""

    def refuse(self: Variable, name: str) -> Any:
        if name == "__class__":
            return type(self)
        what = "a tensor that a mapped function kept holds its first sample alone: return it from"
        raise CannotMap(f"vmap: at {user_line()} {what} the function; set a buffer anew")

    return type("Retired", (Variable.result_class,), {"__getattribute__": refuse})


def _rewritten(x: Any, value: Any) -> Any:
    """The content that an unrecorded write gave to a tensor, which keeps its history."""
    return np.array(np.broadcast_to(value, np.broadcast_shapes(x.shape, value.shape)))


REWRITTEN = Primitive(_rewritten)
REWRITTEN.defvjp(x=lambda g: g)
RULES[REWRITTEN] = elementwise


def _uncloned(index: Any) -> Any:
    """An index with the values that were copied into it."""

    def original(value: Value) -> Value:
        while value.step is not None and value.step.op is registry["clone"]:
            value = value.step.arguments["x"]
        return value

    return tree.mapped(original, index, Value)
