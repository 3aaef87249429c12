"""The forward pass of a trace: an entry for each op, and what fused ops are composed of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.engine import COPY, DETACH
from minigrad.autograd.events import Call
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Node, Variable
from minigrad.autograd.primitives import Primitive, registry
from minigrad.debugging.flops import count_flops
from minigrad.ops.indexing import written
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor
from minigrad.tracing.lines import user_line
from minigrad.viz.record.attention import Weights
from minigrad.viz.record.entries import Entries, array_arguments, array_of
from minigrad.viz.record.finished import Entry, argument_notes, new_entry, saved_by
from minigrad.viz.record.rerun import aside, fastest, relative_difference, runs_alone
from minigrad.viz.record.selection import Choice


class Forward(Entries):
    """A trace of ops, with those that are inside of others."""

    def __init__(
        self, heatmap: int | None, timed: bool, values: Choice, opened: Iterable[Primitive]
    ) -> None:
        super().__init__(values)
        self._weights, self._timed = Weights(heatmap), timed
        self._open = frozenset(opened)
        # Of each opened op the trace inside, the result, and its leaves, by the outer arguments.
        self._opened: dict[Node, tuple[Any, Tensor, dict[Edge, Any]]] = {}
        self._ran: dict[Node, Call] = {}
        self._foreign: list[Entry] = []  # ops that read arrays from elsewhere
        self._kept: dict[int, Any] = {}  # what ops keep for the backward pass, by its address
        # What has arrived at the arguments of opened ops, in this pass
        self._arrived: dict[Edge, Any] = {}

    def _another(self) -> Forward:
        """A trace for the ops inside an op."""
        raise NotImplementedError

    def ran(self, call: Call) -> None:
        """Note an op, and what it read."""
        if call.op in (DETACH, COPY):  # the first is drawn if an op reads it
            super().ran(call)
            self.steps[-1].line = user_line()
            return
        op, outputs = call.op, call.outputs
        entry = new_entry(
            "op", op.name, outputs[0], call.frame,
            notes=argument_notes(op, dict(zip(op.params, call.arguments, strict=True))),
            line=user_line(), recorded=call.node is not None, born=_born(call),
            saved=() if call.node is None else saved_by(call.node, self._kept, numbers=True),
            seconds=fastest(call) if self._timed and runs_alone(op) else None,
            flops=count_flops(op, call.arguments, call.result)[0] if self._timed else 0,
            primitive=op,
        )  # fmt: skip
        if self._in_hook():
            self._mark(entry, "in a hook")
        known = len(self._entries)
        for slot, name, given in array_arguments(call):
            if not slot and _overwrites(call):
                continue
            entry.read(self._source(given, name), slot, name, array_of(given))
            if entry.inputs[-1].source in self._entries[known:]:
                self._foreign.append(entry)
        static = call.arguments[op.variadic :]
        parts = [part for given in static if isinstance(given, tuple) for part in given]
        if any(isinstance(part, np.ndarray) and part.ndim for part in parts):
            self._foreign.append(entry)
        if op.decomposition is not None and runs_alone(op):
            self._decompose(entry, call)
        inner = [self._identity.find(output)[0] for output in outputs] if self._parts else []
        super().ran(call)
        if composed := self._composed.pop(self.steps[-1], []):
            self._compose(entry, composed, inner, outputs)
        self._note(entry, array_of(outputs[0]))
        self._weights.ran(entry, op, call.arguments, outputs[0])
        self._entries.append(entry)
        for output in outputs:
            value, edge = self.value(output), history(output)
            self._entry_of[value] = entry
            if edge is not None:
                self._histories[value] = edge
        if len(outputs) > 1:
            self._first[entry] = self.value(outputs[0])
        if call.node is not None:
            self._nodes |= dict.fromkeys((call.node, *call.node.outputs), entry)
            self._ran[call.node] = call

    def _compose(
        self, entry: Entry, parts: list[Any], results: list[Any], outputs: Sequence[Any]
    ) -> None:
        """Replace ops by the op within which they ran, such as a custom Function.

        `results` are the values of its `outputs` there. What a checkpoint ran stays where it ran.
        """
        ends = [self._entry_of.get(value) for value in results]
        if not entry.inputs:
            for slot, (end, output) in enumerate(zip(ends, outputs, strict=True)):
                if end is not None:
                    entry.read(end, slot, "", output)
            return
        made = {self._entry_of.get(value) for step in parts for value in step.outputs}
        source_of: dict[Entry | None, Entry] = {}  # for its tensors, which it got without a history
        for source in [one.source for one in entry.inputs]:
            value = self.value(self._given[source])
            for key in (value, (None, value), (self._doors.get(value), value)):
                source_of[self._entry_of.get(key)] = source
        rest = [one for one in self._entries if one not in made]
        read = {x.source for one in (*rest, entry) for x in one.every_input()}
        entry.decomposition = [one for one in self._entries if one in made]
        self._entries = [one for one in rest if one in read or one not in source_of]
        gone = {*rest} - {*self._entries}
        for key in [key for key, one in self._entry_of.items() if one in gone] if gone else ():
            del self._entry_of[key]
        entry.result = ends[0] if ends else None
        for one in entry.decomposition:
            one.decomposition, one.frame = [], entry.frame
            one.inputs = [replace(x, source=source_of.get(x.source, x.source)) for x in one.inputs]

    def _decompose(self, entry: Entry, call: Call) -> None:
        """Run the decomposition of a fused op in another trace, and keep its ops.

        To open the op, they are recorded, apart from the program: their graph ends at copies of the
        arguments.
        """
        op, out = call.op, array_of(call.outputs[0])
        inner = self._another()
        opened = op in self._open and not op.variadic
        inner._asked, inner._keeping = self._asked, opened
        inner._entry_of, inner._nodes = self._entry_of, self._nodes
        inner._histories, inner._doors = self._histories, self._doors
        values, leaves = list(call.arguments), dict[Edge, Any]()
        for slot, before in enumerate(call.arguments):
            if isinstance(before, Variable):
                edge = history(before) if opened and call.node is not None else None
                if edge is not None:
                    leaves.setdefault(edge, tensor(before._data, requires_grad=True))
                    values[slot], own = leaves[edge], leaves[edge]._node
                    source = self._source(before, "")
                    self._nodes[own] = self._entry_of[own, self.value(before)] = source
            elif isinstance(before, np.ndarray):
                values[slot] = wrap(before)
            else:
                continue
            inner._identity.know(values[slot], self.value(before))
        with aside(inner, recording=opened):
            result = op.call_with(op.decomposition, values)
        read = {x.source for one in inner._entries for x in one.inputs}
        for loose in [x for x in entry.inputs if x.source not in read]:
            reader = (*inner._foreign, *inner._entries[-1:])[0]  # NumPy read it before that
            reader.inputs.append(replace(loose, slot=len(reader.inputs)))
        for one in inner._entries:
            one.frame = entry.frame
            one.change(line=entry.box.line)
            if not opened:
                one.change(recorded=entry.box.recorded)
        if isinstance(result, Variable):
            entry.result = self._entry_of.get(inner.value(result))
        entry.decomposition = inner._entries
        if opened:
            entry.opened = relative_difference(out, array_of(result))
            if call.node is not None and leaves and history(result) is not None:
                self._opened[call.node] = (inner, result, leaves)
                self._arrived |= dict.fromkeys(leaves)
                inner._arrived = dict.fromkeys(leaf._node for leaf in leaves.values())
        self._weights.add(inner._weights)


def _overwrites(call: Call) -> bool:
    """Whether a write by index leaves nothing of the old values, and it has no history."""
    if call.op is not registry["setitem"] or getattr(call.arguments[0], "_node", None) is not None:
        return False
    before, _, index, *_ = call.values
    return bool(written(before.shape, index).all())


def _born(call: Call) -> str:
    """The kinds of non-finite values in the outputs of an op, and in none of its inputs."""
    made = [array_of(output) for output in call.outputs]
    given = [array_of(value) for _, _, value in array_arguments(call)]
    given += [
        np.asarray(value) for value in call.arguments if isinstance(value, float | np.generic)
    ]
    for name, test in (("NaN", np.isnan), ("inf", np.isinf)):
        if any(test(array).any() for array in made if array.dtype.kind == "f"):
            inherited = any(test(array).any() for array in given if array.dtype.kind == "f")
            return "" if inherited else name
    return ""
