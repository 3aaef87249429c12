"""Which entry of a drawing each value of a trace belongs to.

`minigrad.tracing` knows which value a tensor or an array holds. Here a value gets its entry: that
of the op that made it, of a leaf, of a value that was there before, or of a step by which it left
the graph. Numbers are noted when they are seen: arrays may change later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from minigrad.autograd.api import add_to_grad, grad_of
from minigrad.autograd.engine import COPY, DETACH, call_hook
from minigrad.autograd.events import Call, Pull, only_reads, undecorated
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Leaf, Variable, data_of
from minigrad.autograd.primitives import registry
from minigrad.autograd.scope import ancestry
from minigrad.tensors.tensor import Tensor
from minigrad.tracing import Step, Value
from minigrad.tracing import Trace as Record
from minigrad.tracing.lines import user_line
from minigrad.viz.record import rerun
from minigrad.viz.record.entries import Entry, is_frozen, known_arrays, leaf_entry, new_entry, read
from minigrad.viz.record.held import PASS, Gradients
from minigrad.viz.record.model import Kind
from minigrad.viz.record.steps import summary

_READING = undecorated(grad_of)
_ADDING = undecorated(add_to_grad)
_SETTING = undecorated(vars(Tensor)["grad"].fset)
HOOK = undecorated(call_hook)
"""Functions of effects: they read ``.grad``, add to it, assign it, call a hook."""

GRADIENT = "grad"
"""What a gradient is called that an op reads, and that was not recorded."""

LEFT = "a value left the graph, and what was made of it is not known:"
READ = "an op reads a gradient whose computation was not recorded:"


class Lookup(Record):
    """A record of a run that knows the entry of each value."""

    def __init__(self, values: Sequence[Any]) -> None:
        super().__init__()
        self._asked = tuple(values)
        self._entries: list[Entry] = []
        self._entry_of: dict[Any, Entry] = {}  # by value; of a leaf and a detached one, by both
        self._nodes: dict[Edge, Entry] = {}  # by node, or by leaf: the latest
        self._histories: dict[Value, Edge] = {}  # of values that were seen with one
        self._doors: dict[Value, Step] = {}  # by which a value left the graph last
        self._written: dict[Value, tuple[str, ...]] = {}  # notes on what wrote values, if no op did
        self._gradients = Gradients()
        self._reached: dict[Edge, Value] = {}  # what each edge has got so far
        self._seen: set[Value] = set()  # the values that ops have read
        self._first: dict[Entry, Value] = {}  # of an op with several outputs, the first
        self._given: dict[Entry, Any] = {}  # the tensor or array that was read
        self._things: dict[Entry, Any] = {}  # the leaf, frozen parameter or buffer that it shows
        self._names: list[tuple[Any, str]] = []
        self._composed: dict[Step, list[Step]] = {}  # the parts of steps
        self._backward: set[Entry] = set()  # ops that ran within rules
        self._left: list[tuple[int, str]] = []  # after how many steps, and what to say

    def name(self, value: Any, name: str) -> None:
        """Name a tensor or an array that ops will read.

        Args:
            value: A tensor or an array.
            name: Its name.
        """
        self.value(value)  # from now on it is known by its place in memory
        self._names.append((value, name))

    def pulled(self, pull: Pull) -> None:
        """Note what each edge has got so far."""
        super().pulled(pull)
        for edge, sent, total in zip(pull.node.edges, pull.contributions, pull.totals, strict=True):
            if sent is not None:
                self._reached[edge] = self.value(sent if total is None else total)

    def left(self, tensor: Any, door: str) -> None:
        """Note by which door a value left."""
        super().left(tensor, door)
        self._with_history(tensor)
        if self._effects:
            return
        value = self.value(tensor)
        self._doors[value] = self.steps[-1]
        if tensor.dtype.kind == "f" or value.step is not None:
            self._left.append((len(self.steps), f"{LEFT} {door} at {user_line()}"))

    def _left_before_ops(self) -> str:
        """What to say of the first value that left, or came, before an op of the forward pass."""
        last = 0
        for number, step in enumerate(self.steps, 1):
            if step.phase == "forward" and step.op not in (DETACH, COPY) and step.inside is None:
                last = number
        return next((told for before, told in self._left if before < last), "")

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Note what hooks do to gradients, and what ``.grad`` holds."""
        running = super().effect(function, args, kwargs)
        next(running)
        event = "an assignment" if function is _SETTING else maker(self._effects[0])
        seen = self.value(args[1]) if function is HOOK else None
        edges = [edge for edge, value in self._reached.items() if seen is value] if seen else []
        if args and isinstance(args[0], Variable):
            self._gradients.note(args[0])
        result = yield
        with suppress(StopIteration):
            running.send(result)
        for edge in edges:
            name = getattr(args[0], "__name__", type(args[0]).__name__)
            told = "saw" if result is None else "changed"
            self._behind(edge).note(f"hook {name} {told} its gradient")
        if function is _ADDING and args[2] in self._nodes:
            self._gradients.note(args[0], PASS, self._nodes[args[2]])
        elif not only_reads(function):
            self._gradients.look("a pass" if function is _ADDING else event)

    def _mark(self, entry: Entry, note: str) -> None:
        """Mark an op that is a part of a backward pass."""
        entry.note(note)
        self._backward.add(entry)

    def _end(self, whole: Any, step: Step) -> list[Step]:
        parts = super()._end(whole, step)
        if parts:
            self._composed[step] = parts
        return parts

    def _with_history(self, tensor: Any) -> Edge | None:
        """Note the history of a tensor, if it has one, for whoever reads its values without."""
        edge = history(tensor) if isinstance(tensor, Variable) else None
        if edge is not None:
            self._histories[self.value(tensor)] = edge
        return edge

    def _source(self, given: Any, name: str) -> Entry:
        """The entry of what an op reads."""
        value, array = self.value(given), data_of(given)
        self._seen.add(value)
        known = self._histories.get(value)
        if self._with_history(given) is not None:
            entry = self._known(value)
        elif isinstance(known, Leaf) and known.tensor is given:  # it is frozen now
            entry = self._origin(value, name)
        elif known is not None:
            door = self._doors.get(value)
            notes = () if door is None else (door.what,)
            entry = self._detached(value, (door, value), door, array, notes)
        else:
            entry = self._origin(value, name)
        self._given.setdefault(entry, given)
        self._note(entry, array)
        return entry

    def _known(self, value: Value, name: str = "") -> Entry:
        """The entry of a value, with its history if it was seen with one."""
        edge = self._histories.get(value)
        self._seen.add(value)
        if isinstance(edge, Leaf):
            return self._leaf(edge, value)
        if edge is not None and value not in self._entry_of:
            return self._behind(edge)
        return self._origin(value, name)

    def _origin(self, value: Value, name: str) -> Entry:
        """The entry of the step that made a value, or of one that was there before."""
        step, frame = value.step, state.get().frame
        siblings = step.outputs if step is not None and step.phase == "forward" else ()
        same = [value, *siblings]  # the outputs of an op: those of an effect are different tensors
        if known := [one for one in same if one in self._entry_of]:
            return self._entry_of[known[0]]
        if step is not None and step.op is DETACH:
            return self._detached(step.reads[0], value, step, value)
        if step is not None and step.op in (registry["astype"], COPY):
            return self._origin(step.reads[0], name)  # a conversion that nobody asked for
        if step is None or step.phase in ("effect", "backward"):
            label = name if step is None else maker(step)
            entry = new_entry("constant", label, value, frame, notes=self._written.get(value, ()))
            if label == GRADIENT and not self._effects and state.get().within is None:
                self._left.append((len(self.steps), f"{READ} {user_line()}"))
        else:  # a write that a view sees, or one of fewer numbers
            numbers = [(k, v) for k, v in step.arguments.items() if isinstance(v, int | float)]
            entry = new_entry(
                "op", step.what, value, step.frame, "no_grad", primitive=step.op,
                notes=tuple(f"{argument} = {number}" for argument, number in numbers),
            )  # fmt: skip
            for slot, (argument, one) in enumerate(step.arguments.items()):
                if isinstance(one, Value):
                    entry.read(self._known(one, argument), slot, argument, one)
        self._entry_of[value] = entry
        self._entries.append(entry)
        return entry

    def _detached(
        self, value: Value, key: Any, step: Step | None, like: Any, notes: tuple[str, ...] = ()
    ) -> Entry:
        """The entry of a value that goes on without its history, drawn where that happened."""
        if key not in self._entry_of:
            frame, line = (state.get().frame, "") if step is None else (step.frame, step.line)
            array = like.array if isinstance(like, Value) else like
            entry = new_entry(
                "op", "detach", like, frame, "detach", notes=notes, line=line, primitive=DETACH,
                given=rerun.copied(DETACH, {"x": array}),
            )  # fmt: skip
            if array is not None:
                self._note(entry, array)
            entry.read(self._known(value), 0, "x", like, place_of(value))
            self._entry_of[key] = entry
            self._entries.append(entry)
        return self._entry_of[key]

    def _leaf(self, leaf: Leaf, value: Value) -> Entry:
        """The entry of a leaf while it holds a value: an update makes a new one."""
        if (leaf, value) not in self._entry_of:
            entry, step = leaf_entry(leaf), value.step
            self._things[entry] = leaf.tensor
            if step is not None and step.op is not None:
                entry.read(self._origin(value, ""), 0, "", leaf)
            entry.change(notes=self._written.get(value, ()))
            if step is not None and step.phase == "write":  # a copy, perhaps of what an op made
                for one in step.reads:
                    if one in self._entry_of and self._entry_of[one].box.kind == "op":
                        entry.read(self._entry_of[one], 0, "", leaf)
            self._entries.append(entry)
            self._entry_of[leaf, value] = self._nodes[leaf] = entry
            if leaf.tensor is not None and self.value(leaf.tensor) is value:
                self._note(entry, leaf.tensor._data)
        return self._entry_of[leaf, value]

    def _behind(self, edge: Edge) -> Entry:
        """The entry of a node or a leaf, also of one from before the trace."""
        new = read([edge], self._nodes)
        self._entries += dict.fromkeys(new.values())
        self._nodes |= new
        for one, entry in new.items():
            if isinstance(one, Leaf) and one.tensor is not None:
                self._entry_of[one, self.value(one.tensor)] = entry
                self._things[entry] = one.tensor
        for entry, array in known_arrays(new, self._nodes):
            self._note(entry, array)
        return self._nodes[edge]

    def _note(self, entry: Entry, array: np.ndarray) -> None:
        """Note the numbers of an entry, unless they are known."""
        if entry.box.value is None and array.dtype.kind in "biuf":
            value = summary(array, whole=bool(self._asked))
            brought = "NaN" if entry.box.kind != "op" and value.nans else entry.box.born
            entry.change(value=value, born=brought)

    def wrote(self, tensor: Any, values: Any) -> None:
        """Note what a leaf holds after an op in place."""
        super().wrote(tensor, values)
        value = self.value(tensor)
        step = value.step
        what = maker(self._effects[0]) if self._effects else user_line().partition(": ")[2]
        if step is None or step.op is None:
            self._written[value] = (f"after {what or 'a write'}",)
        elif isinstance(history(tensor), Leaf) and step.phase == "forward":
            self._source(tensor, "")
        if not self._effects:
            self._gradients.look(what or "a write")

    def _ends(self) -> list[Entry]:
        """The ops whose results no op reads, and no effect that changes something."""
        ops = [entry for entry in self._entries if entry.box.kind == "op" and not entry.box.error]
        read = {one.source for entry in self._entries for one in entry.inputs}
        effects: set[Entry | None] = set()
        for step in self.steps:
            if step.phase == "effect" and step.outputs and step.function is not _READING:
                effects |= {self._entry_of.get(value) for value in step.reads}
        read -= {entry for entry, first in self._first.items() if first not in self._seen}
        unread = [entry for entry in ops if entry not in read | self._backward]
        return [entry for entry in unread if entry not in effects] or unread

    def _tell_tensors(self, reached: set[Entry]) -> None:
        """Note which boxes show a tensor again, and what the ``.grad`` of leaves held.

        `reached` are those to which a pass has sent gradients: whether it was frozen is known.
        """
        shown = dict[int, Entry]()
        for entry in dict.fromkeys(self._entries):
            thing = self._things.get(entry)
            if thing is not None:
                grads = () if entry.leaf is None else self._gradients.of(thing, entry)
                entry.change(grads=grads)
                if entry.leaf is not None and entry not in reached and is_frozen(entry.leaf):
                    entry.change(cause="frozen")
                first = shown.setdefault(id(thing), entry)
                entry.first = None if first is entry else first

    def _name_constants(self) -> None:
        """Tell inputs, frozen parameters and buffers from other constants."""
        held: dict[int, list[Entry]] = defaultdict(list)
        for entry, given in self._given.items():
            held[id(given)].append(entry)

        def name(thing: Any, kind: Kind, label: str) -> None:
            other = self._entry_of.get(self._identity.find(thing)[0])
            for entry in (*held[id(thing)], other):
                if entry is not None and entry.box.kind == "constant":
                    entry.change(kind=kind, label=label)
                    self._things[entry] = thing
                    if kind == "parameter":
                        entry.change(cause="frozen" if entry in held[id(thing)] else "shared")

        for thing, label in self._names:
            name(thing, "input", label)
        tops = dict.fromkeys(ancestry(e.scope)[-1] for e in self._entries if e.scope is not None)
        for module in (top.module for top in tops if top.module is not None):
            for label, tensor in module.named_parameters():
                name(tensor, "parameter", label)
            for label, tensor in module.named_buffers():
                name(tensor, "buffer", label)


def place_of(value: Value) -> int:
    """Which of several outputs of an op a value is."""
    step = value.step
    several = step is not None and step.op is not None and step.op.multiple_outputs
    return step.outputs.index(value) if step is not None and several else 0


def maker(step: Step) -> str:
    """The maker of a value that no op made: ``randn``, ``SGD.step``, or the gradient of a pass."""
    if step.phase == "backward" or step.function is _READING:
        return GRADIENT
    owner, _, name = step.what.rpartition(".")
    given = step.arguments.get("args", ())
    if owner and given:
        owner = "Tensor" if isinstance(given[0], Value) else type(given[0]).__name__
    return f"{owner}.{name}" if owner and given else name


def array_arguments(call: Call) -> Iterator[tuple[int, str, Any]]:
    """The tensors and arrays among the arguments of an op, but not numbers."""
    op = call.op
    if op.variadic:
        named = [(f"{op.params[0]}[{i}]", value) for i, value in enumerate(call.arguments[0])]
    else:
        named = list(zip(op.params, call.arguments, strict=True))
    for slot, (name, value) in enumerate(named):
        if isinstance(value, Variable) or (isinstance(value, np.ndarray) and value.ndim):
            yield slot, name, value
