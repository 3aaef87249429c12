"""Trace a computation to draw it: a reader of the record of the run.

A trace has more than a graph: constants, ops under ``no_grad``, lines of the program, an op that
failed, and the steps of the backward pass. A fused op that is opened runs as its parts.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.autograd.call import call_path
from minigrad.autograd.engine import COPY, DETACH, Update
from minigrad.autograd.events import Call, Pull
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Node, Variable, data_of, node_of
from minigrad.autograd.primitives import Primitive, registry
from minigrad.autograd.views import owner
from minigrad.checking.op_checks import Check
from minigrad.debugging.memory import KeptMemory, saved_arrays
from minigrad.ops.indexing import written
from minigrad.support.tree import leaves
from minigrad.tracing import Value
from minigrad.tracing.lines import user_line
from minigrad.viz.record import rerun
from minigrad.viz.record.assembly import assemble, calls_around
from minigrad.viz.record.attention import Weights
from minigrad.viz.record.build import tensors_in
from minigrad.viz.record.entries import (
    Entry,
    argument_notes,
    edges_of,
    is_frozen,
    new_entry,
    note_kept,
    saved_by,
)
from minigrad.viz.record.graph import Graph
from minigrad.viz.record.lookup import GRADIENT, HOOK, Lookup, array_arguments, place_of
from minigrad.viz.record.model import Cause
from minigrad.viz.record.selection import Choice, limited
from minigrad.viz.record.steps import Part, Step, norm, number_arrivals, summary

Sent = list[tuple[Entry, Part]]
"""The parts of a step, with the entries that they belong to."""

Kept = dict[Node, list[int]]
"""The bytes that each node keeps for a pass, an array each."""


class Trace(Lookup):
    """The result of `trace`: enter it, compute, and ask for the graph.

    Example:
        >>> from minigrad import ones, tensor, viz
        >>> x = ones(3, requires_grad=True)
        >>> with viz.trace() as traced:
        ...     y = x * tensor([1.0, 2.0, 3.0])
        >>> [(node.kind, node.label) for node in traced.graph(x=x).nodes]
        [('input', 'x'), ('constant', 'b'), ('op', 'multiply'), ('output', 'output')]
    """

    def __init__(
        self, values: Choice = (), opened: Iterable[Primitive] = (), limit: int | None = 32
    ) -> None:
        super().__init__(values)
        self.opened = frozenset(opened)
        self._weights = Weights(limit)
        self._ran: dict[Node, Call] = {}
        self._kept: dict[int, tuple[KeptMemory, Kept]] = {}  # of each pass by its number
        self._fused: dict[Any, list[Any]] = {}  # what opened ops keep as one op, by their frames
        self._pulls: list[tuple[Entry, Step, Sent]] = []
        self._passes: dict[Any, tuple[int, int]] = {}  # by what they are in: number, last stamp
        self._errors: dict[Entry, float] = {}  # the rounding errors of what has arrived

    # The forward pass ---------------------------------------------------------------------------

    def ran(self, call: Call) -> None:
        """Note an op, and what it read."""
        if call.op in (DETACH, COPY):  # the first is drawn if an op reads it
            super().ran(call)
            self._with_history(call.arguments[0])
            self.steps[-1].line = user_line()
            return
        entry, outputs = self._entry(call), call.outputs
        for slot, name, given in array_arguments(call):
            if slot or not _overwrites(call):
                source, place = self._source(given, name), place_of(self.value(given))
                entry.read(source, slot, name, data_of(given), place)
        inner = [self._identity.find(output)[0] for output in outputs] if self._parts else []
        super().ran(call)
        if parts := self._composed.pop(self.steps[-1], []):
            self._replace(parts, entry, inner, outputs)
        self._note(entry, data_of(outputs[0]))
        self._weights.ran(entry, call.op, call.arguments, outputs[0])
        self._entries.append(entry)
        for output in outputs:
            self._entry_of[self.value(output)] = entry
            self._with_history(output)
        if len(outputs) > 1:
            self._first[entry] = self.value(outputs[0])
        if call.node is not None:
            self._nodes |= dict.fromkeys((call.node, *call.node.outputs), entry)
            self._ran[call.node] = call

    def _entry(self, call: Call) -> Entry:
        """The entry of an op that ran, without what it read."""
        op, given = call.op, dict(zip(call.op.params, call.arguments, strict=True))
        entry = new_entry(
            "op", op.name, call.outputs[0], call.frame, _cause(call),
            notes=argument_notes(op, given), line=user_line(), born=_born(call),
            saved=() if call.node is None else saved_by(call.node, numbers=True),
            primitive=op, given=rerun.copied(op, given | {"out": call.result}),
        )  # fmt: skip
        if self._effects and self._effects[-1].function is HOOK:
            self._mark(entry, "in a hook")
        return entry

    def _replace(
        self, parts: list[Any], entry: Entry, results: list[Any], outputs: Sequence[Any]
    ) -> None:
        """Let an op, such as a custom Function, stand for those that ran within it.

        `results` are the values of its `outputs` there. What a checkpoint ran stays: it is read.
        """
        if not entry.inputs:
            for slot, (value, output) in enumerate(zip(results, outputs, strict=True)):
                if value in self._entry_of:
                    entry.read(self._entry_of[value], slot, "", output)
            return
        inside = {self._entry_of.get(value) for step in parts for value in step.outputs}
        rest = [one for one in self._entries if one not in inside]
        read = {source.source for one in (*rest, entry) for source in one.inputs}
        gone = inside | {
            source.source
            for one in inside if one is not None
            for source in one.inputs
            if source.source not in read and source.source.box.primitive in (None, DETACH)
        }  # fmt: skip
        self._entries = [one for one in self._entries if one not in gone]
        self._entry_of = {key: one for key, one in self._entry_of.items() if one not in gone}

    # The backward pass --------------------------------------------------------------------------

    def pulled(self, pull: Pull) -> None:
        """Note a step of a backward pass, as numbers."""
        before = len(self.steps)
        super().pulled(pull)
        for step in self.steps[before:]:
            self._end_of_rules(step)
        node, g, run = pull.node, pull.cotangent, self._pass_of(pull.node)
        entry = self._behind(node)
        if state.get().within is None:
            memory, kept = self._kept.setdefault(run, (KeptMemory(self._kept_by), {}))
            kept.update(memory.add(node))
        cotangents = [data_of(one) for one in (g if isinstance(g, tuple) else (g,))]
        self._weights.pulled(entry, cotangents[0])
        came = self._errors.get(entry, 0.0)
        sent = self._sent(pull, entry, cotangents, came)
        arrays = {part.name: array for _, part, array in sent}
        given = rerun.given_to(node, self._ran.get(node), g, arrays)
        gradient = summary(cotangents[0], came, bool(self._asked))
        entry.change(given=None)
        noted = Step("", entry.box.label, gradient, (), given, run)
        self._pulls.append((entry, noted, [(target, part) for target, part, _ in sent]))

    def _sent(
        self, pull: Pull, entry: Entry, cotangents: Sequence[np.ndarray], came: float
    ) -> list[tuple[Entry, Part, np.ndarray]]:
        """What a step sends: to which entry, as numbers, and the array itself."""
        node, call, whole = pull.node, self._ran.get(pull.node), bool(self._asked)
        noise = rerun.errors_sent(node, cotangents, came, [part is not None for part in pull.parts])
        sources = {one.slot: one.source for one in entry.inputs if one.name}
        unit, found = rerun.precision(cotangents[0]), []
        for (edge, slot, name), part, contribution, total, shaken in zip(
            edges_of(node), pull.parts, pull.contributions, pull.totals, noise, strict=True
        ):
            if part is None:
                continue
            array, error = rerun.dense(contribution, edge), unit * norm(shaken)
            check = Check(None, "its arguments were not seen")
            if call is not None and slot in sources:
                check = rerun.checked(call, slot, cotangents, array)
            target = sources.get(slot) or self._behind(edge)
            if target.leaf is not None:
                target.change(cause="frozen" if is_frozen(target.leaf) else "")
            self._errors[target] = math.hypot(self._errors.get(target, 0.0), error)
            found.append((target, Part(
                "", slot, name, summary(array, error, whole),
                edge.shape if isinstance(part, Update) else part.shape,
                check=check.relative, unchecked=check.reason, kink=check.kink,
                total=None
                if total is None
                else summary(data_of(total), self._errors[target], whole),
            ), array))  # fmt: skip
        return found

    def decomposed(self, op: Primitive, values: Sequence[Any], result: Any, frame: Any) -> None:
        """Note what a fused op that was opened keeps as one op: it runs so, too, beside the run."""
        if op not in self.opened or state.get().sampled:
            return
        with rerun.aside(recording=state.get().recording):
            again = op.call_with(call_path(op), values)
        pairs = list(zip(*map(leaves, (again, result)), strict=True))
        node, like = node_of(pairs[0][0]._node), {}
        if not isinstance(node, Node):
            return
        for one, own in pairs:  # the layout decides whether what follows copies it
            like[id(owner(one._data))] = copy = np.empty_like(one._data)
            copy[...] = own._data
            own._data = copy
        kept = [array for _, array in saved_arrays(node)]
        self._fused[frame] = [like.get(id(owner(array)), array) for array in kept]

    def _kept_by(self, node: Node) -> list[Any]:
        """The arrays that a node keeps; of a part of an opened op those that the op keeps."""
        frame = self._opened_frame(node)
        return [one for _, one in saved_arrays(node)] if frame is None else self._fused[frame]

    def _opened_frame(self, node: Node) -> Any:
        """The outermost opened op that a node is a part of; None if it is of none."""
        frames = [frame for frame in calls_around(node.frame) if frame in self._fused]
        return frames[-1] if frames else None

    def _note_kept(self, ends: Iterable[Edge]) -> dict[Any, tuple[int, ...]]:
        """Note what ops keep for each pass, or without one for a pass from some `ends`.

        It returns what opened ops keep as one op.
        """
        passes = [kept for _, kept in self._kept.values()]
        passes = passes or [dict(KeptMemory(self._kept_by).add(*ends))]
        opened: dict[Any, list[int]] = defaultdict(lambda: [0] * len(passes))
        for node, entry in self._nodes.items():
            if not isinstance(node, Node):
                continue
            sizes, frame = [kept.get(node) for kept in passes], self._opened_frame(node)
            if frame is not None:
                of_parts = [sum(one or ()) for one in sizes]
                opened[frame] = [*map(operator.add, opened[frame], of_parts)]
                sizes = []
            note_kept(entry, sizes)
        return {frame: tuple(sizes) for frame, sizes in opened.items()}

    def _end_of_rules(self, step: Any) -> None:
        """Mark the ops that ran within the rules of a node, and let go of what these have sent."""
        for part in self._composed.pop(step, ()):
            for value in part.outputs:
                if value in self._entry_of and part.op is not None:
                    self._mark(self._entry_of[value], f"in the backward pass of {step.what}")
        for value in leaves(step.arguments.get("g"), Value):
            if value in self._entry_of and self._entry_of[value].box.kind == "constant":
                self._entry_of[value].change(label=GRADIENT)
        for value in step.outputs:
            if value is not None and value.step is step:
                value.array = None

    def _pass_of(self, node: Node) -> int:
        """The number of the pass that runs a node: it goes from young to old ones."""
        around = state.get().within  # a node that is pulled may run a pass of its own
        number, stamp = self._passes.get(around, (0, -1))
        if node.stamp >= stamp:
            number = 1 + max((number for number, _ in self._passes.values()), default=0)
            if around is None:
                self._errors.clear()
        self._passes[around] = number, node.stamp
        return number

    def __exit__(self, kind: Any = None, error: Any = None, *rest: Any) -> None:
        super().__exit__(kind, error, *rest)
        self._gradients.look("a write that minigrad did not see", exactly=True)
        if error is not None:
            failed = new_entry("op", kind.__name__, np.zeros(()), error=str(error))
            failed.change(dtype="")
            self._entries.append(failed)

    # Reading ------------------------------------------------------------------------------------

    def graph(self, /, *outputs: Any, **names: Any) -> Graph:
        """Return the graph of the watched ops.

        Args:
            *outputs: Tensors to mark as outputs, also in tuples, lists and dicts; by default all
                that no op read.
            **names: What to call tensors: ``traced.graph(x=x)``.

        Returns:
            A graph with everything that ran, and the steps of the backward passes.

        Raises:
            RuntimeError: Nothing ran.
            TypeError: An output is not a tensor.
            ValueError: Of the values that were asked for, one names no box and no module.

        Example:
            >>> from minigrad import ones, viz
            >>> x = ones(3, requires_grad=True)
            >>> with viz.trace() as traced:
            ...     (x * x).sum().backward()
            >>> traced.graph(x=x)
            Graph(2 ops, 1 input, 1 output)
        """
        for given in outputs:
            if not tensors_in(given):
                raise TypeError(
                    f"graph: an output should be a Tensor, or Tensors in a tuple, list or dict, "
                    f"not {type(given).__name__}"
                )
        read = {*self._seen}
        ends = [self._source(tensor, "output") for _, tensor in tensors_in(outputs)]
        self._seen = read
        if not any(entry.box.kind == "op" for entry in self._entries):
            raise RuntimeError("trace: no op ran within the block")
        for name, value in names.items():
            self.name(value, name)
        self._name_constants()
        self._tell_tensors({target for _, _, sent in self._pulls for target, _ in sent})
        ends = ends or self._ends()
        named = [("output" if len(ends) == 1 else f"output {i}", end) for i, end in enumerate(ends)]
        leaves = {thing._node: name for thing, name in self._names if isinstance(thing, Variable)}
        kept = self._note_kept(edge for edge, entry in self._nodes.items() if entry in {*ends})
        drawing, ids = assemble(self._entries, named, leaves, kept)
        heatmaps = self._weights.heatmaps(self._entries, ids, drawing)
        steps = number_arrivals(
            replace(step, node=ids[entry], parts=tuple(
                replace(part, target=ids[target]) for target, part in sent if target in ids
            ))
            for entry, step, sent in self._pulls if entry in ids
        )  # fmt: skip
        drawing = replace(drawing, steps=steps, heatmaps=heatmaps, left=self._left_before_ops())
        return limited(drawing, self._asked)

    def __repr__(self) -> str:
        return f"Trace({self.graph() if self._entries else 'no op yet'})"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown = self.graph()._repr_mimebundle_() if self._entries else {}
        return shown | {"text/plain": repr(self)}


def _overwrites(call: Call) -> bool:
    """Whether a write by index leaves nothing of the old values, and it has no history."""
    if call.op is not registry["setitem"] or getattr(call.arguments[0], "_node", None) is not None:
        return False
    before, _, index, *_ = call.values
    return bool(written(before.shape, index).all())


def _cause(call: Call) -> Cause:
    """Why an op recorded no history; empty if it did."""
    if call.node is not None:
        return ""
    if not call.op.differentiable:
        return "underivable"
    if data_of(call.outputs[0]).dtype.kind != "f":
        return "discrete"
    tensors = (one for one in call.given if isinstance(one, Variable))
    return "constant" if all(history(one) is None for one in tensors) else "no_grad"


def _born(call: Call) -> str:
    """The kinds of non-finite values in the outputs of an op, and in none of its inputs."""
    made = [data_of(output) for output in call.outputs]
    given = [data_of(value) for _, _, value in array_arguments(call)]
    given += [
        np.asarray(value) for value in call.arguments if isinstance(value, float | np.generic)
    ]
    for name, test in (("NaN", np.isnan), ("inf", np.isinf)):
        if any(test(array).any() for array in made if array.dtype.kind == "f"):
            inherited = any(test(array).any() for array in given if array.dtype.kind == "f")
            return "" if inherited else name
    return ""


FUSED = ("attention",)
"""The ops that `explore` opens by default."""


def fused_ops() -> dict[str, Primitive]:
    """The ops that can be opened, by name."""
    fused = (op for op in registry.values() if op.joint and op.decomposition is not None)
    return {op.name: op for op in fused}


def trace(*, values: Choice = (), open: Iterable[str] = ()) -> Trace:
    """Record a computation to draw it: forward, and backward if there is a backward pass.

    Within the block every op of this thread is recorded. This costs time and memory; results and
    gradients are the same, those of opened ops up to rounding.

    Args:
        values: Modules, ops and tensors, by path, name, pattern or class, of which each value and
            each gradient is kept as a whole. Of other arrays with more than 4,096 elements a
            summary is.
        open: The names of fused ops, such as ``"attention"``, to open: within the block they run
            as the ops that they stand for, which are recorded as all others.

    Returns:
        A context manager; its `graph` gives the ops that ran, also after an error.

    Raises:
        ValueError: A name in `open` is that of no fused op.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> model = nn.Linear(3, 2)
        >>> with viz.trace() as traced:
        ...     loss = model(ones(5, 3)).sum()
        ...     loss.backward()
        >>> [step.op for step in traced.graph().steps]
        ['sum', 'linear']
    """
    fused, wanted = fused_ops(), tuple(open)
    if unknown := [name for name in wanted if name not in fused]:
        raise ValueError(
            f"trace: open: {', '.join(map(repr, unknown))} is not a fused op; these are: "
            f"{', '.join(sorted(fused))}"
        )
    return Trace(values, [fused[name] for name in wanted])
