"""Trace a computation: record each op as it runs.

A trace has more than a graph: constants, ops under ``no_grad``, lines of the program, an op that
failed, the decompositions of fused ops, and the steps of the backward pass.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad._scope import ancestry
from minigrad._tensor import Tensor
from minigrad._views import owner
from minigrad.autograd.api import grad
from minigrad.autograd.call import wrap
from minigrad.autograd.engine import Update, unbroadcast
from minigrad.autograd.events import Call, Observer, Pull
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import FREED, Edge, Leaf, Node, Output, Variable, clock
from minigrad.autograd.primitive import Primitive, registry
from minigrad.debugging.flops import count_flops
from minigrad.debugging.tables import By, Event, Text, table
from minigrad.trace.lines import user_line
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.attention import Weights
from minigrad.viz.record.finished import (
    Entry,
    argument_notes,
    edges_of,
    new_entry,
    read,
    recorded_node,
    saved_by,
)
from minigrad.viz.record.given import given_to
from minigrad.viz.record.graph import Graph
from minigrad.viz.record.model import Kind
from minigrad.viz.record.model import Node as Box
from minigrad.viz.record.rerun import (
    aside,
    difference,
    errors_sent,
    fastest,
    precision,
    relative_difference,
    runs_alone,
)
from minigrad.viz.record.selection import Choice, chosen
from minigrad.viz.record.steps import (
    Part,
    Step,
    largest_in_full,
    norm,
    number_arrivals,
    summary,
    value_of,
)


class Trace(Observer):
    """What `trace` returns: enter it, compute, and ask for the graph.

    Example:
        >>> from minigrad import ones, tensor, viz
        >>> x = ones(3, requires_grad=True)
        >>> with viz.trace() as traced:
        ...     y = x * tensor([1.0, 2.0, 3.0])
        >>> [(node.kind, node.label) for node in traced.graph(x=x).nodes]
        [('input', 'x'), ('constant', 'b'), ('op', 'multiply'), ('output', 'output')]
    """

    def __init__(
        self,
        heatmap: int = 32,
        timed: bool = False,
        values: Choice = (),
        opened: Iterable[Primitive] = (),
    ) -> None:
        self._weights, self._timed = Weights(heatmap), timed
        self._asked, self._keeping = tuple(values), True
        self._whole: dict[Entry, np.ndarray] = {}  # every array, where some are asked for
        self._open = frozenset(opened)
        # Of each opened op the trace inside, the result, and its leaves, by the outer arguments.
        self._opened: dict[Node, tuple[Trace, Tensor, dict[Edge, Any]]] = {}
        self._entries: list[Entry] = []
        self._made: MutableMapping[Any, Entry] = {}  # by node, or by the id of what has none
        self._memory: MutableMapping[int, Entry] = {}  # by the id of the array that owns the memory
        self._held: list[Any] = []  # keeps every key alive, so that no other object gets its id
        self._names: dict[Hashable, str] = {}
        self._ran: dict[Node, tuple[Primitive, Sequence[Any], Any]] = {}
        self._passes: list[list[_Recorded]] = []
        self._stamp = -1  # of the node that ran last
        self._totals: dict[Edge, np.ndarray] = {}  # what each edge got so far in this pass
        self._errors: dict[Entry, float] = {}  # the rounding errors of that

    def name(self, value: Any, name: str) -> None:
        """Name a tensor or an array that ops will read.

        Args:
            value: A tensor or an array.
            name: Its name.
        """
        self._held.append(value)
        self._names[_key(value)] = name

    # Recording ----------------------------------------------------------------------------------

    def ran(self, call: Call) -> None:
        """Record an op."""
        op, arguments, result, outputs = call.op, call.arguments, call.result, call.outputs
        node = recorded_node(outputs)
        entry = new_entry(
            "op", op.name, outputs[0], state.get().scope,
            notes=argument_notes(op, dict(zip(op.params, arguments, strict=True))),
            line=user_line(), recorded=node is not None, born=_born(op, arguments, outputs),
            saved=saved_by(node, numbers=True) if node is not None else (),
            seconds=fastest(op, arguments) if self._timed and runs_alone(op) else None,
            flops=count_flops(op, arguments, result)[0] if self._timed else 0, primitive=op,
        )  # fmt: skip
        inputs = list(_array_arguments(op, arguments))
        for _, name, value in inputs:  # first, so that a detached view of one is found
            if isinstance(_key(value), Node | Leaf | Output):
                self._source(value, name)
        for slot, name, value in inputs:
            entry.read(self._source(value, name), slot, name, _array(value))
        self._keep(entry, _array(outputs[0]))
        if op.decomposition is not None and runs_alone(op):
            self._decompose(entry, op, arguments, node, _array(outputs[0]))
        self._weights.ran(entry, op, arguments, outputs[0])
        self._entries.append(entry)
        for output in outputs:
            self._know(output, entry)
        if node is not None:
            self._made[node] = entry
            self._ran[node] = (op, arguments, result)
            self._held.append(node)

    def wrote(self, tensor: Any, result: Any) -> None:
        """Record that a tensor is now the result of an op in place."""
        if isinstance(result, Variable):
            self._know(tensor, self._source(result, ""))

    def _decompose(
        self,
        entry: Entry,
        op: Primitive,
        arguments: Sequence[Any],
        node: Node | None,
        out: np.ndarray,
    ) -> None:
        """Run the decomposition of a fused op in another trace, and keep its ops.

        To open the op, they are recorded, apart from the program: their graph ends at copies of the
        arguments. `node` and `out` are what the fused op recorded and returned.
        """
        inner, opened = Trace(self._weights.limit), op in self._open and not op.variadic
        inner._made, inner._memory = ChainMap({}, self._made), ChainMap({}, self._memory)
        inner._asked, inner._keeping = self._asked, opened
        values, leaves = list(arguments), dict[Edge, Any]()
        for slot, before in enumerate(arguments):
            apart = opened and node is not None and isinstance(before, Variable)
            edge = history(before) if apart else None
            if edge is not None:
                leaves.setdefault(edge, Tensor(before._data, requires_grad=True))
                values[slot] = leaves[edge]
            elif isinstance(before, np.ndarray):
                values[slot] = wrap(before)
            if edge is not None or (values[slot] is not before and before.ndim):
                inner._know(values[slot], self._made[_key(before)])
        with aside(inner, recording=opened):
            result = op.call_with(op.decomposition, values)
        for one in inner._entries:
            one.scope = entry.scope
            one.change(line=entry.box.line)
            if not opened:
                one.change(recorded=entry.box.recorded)
        entry.decomposition, entry.result = inner._entries, inner._made.get(_key(result))
        if opened:
            self._whole |= inner._whole
            entry.opened = relative_difference(out, _array(result))
            if node is not None and leaves and history(result) is not None:
                self._opened[node] = (inner, result, leaves)
        self._held += inner._held
        self._weights.add(inner._weights)

    def pulled(self, pull: Pull) -> None:
        """Record a step of a backward pass, as numbers: its arrays may change later."""
        node, cotangent, parts = pull.node, pull.cotangent, pull.parts
        if not self._passes or node.stamp >= self._stamp:  # a pass goes from young to old nodes
            self._passes.append([])
            self._totals.clear()
            self._errors.clear()
        self._stamp = node.stamp
        entry = self._entry_of(node)
        several = cotangent if isinstance(cotangent, tuple) else (cotangent,)
        arrays = dict[str, np.ndarray]()
        cotangents = [_array(one) for one in several]
        self._weights.pulled(entry, cotangents[0])
        came, sent = self._errors.get(entry, 0.0), []
        inside = self._pull_inside(node, entry, cotangents[0]) if node in self._opened else []
        noise = errors_sent(node, cotangents, came, [part is not None for part in parts])
        unit = precision(cotangents[0])
        for (edge, slot, name), part, shaken in zip(edges_of(node), parts, noise, strict=True):
            if part is None:
                continue
            raw = _dense(part, edge.shape)
            array = unbroadcast(raw, edge.shape)
            check, why = None, "its arguments were not seen"
            if node in self._ran:
                check, why = difference(*self._ran[node][:2], slot, cotangents, array)
            target, array = self._entry_of(edge), array.astype(edge.dtype, copy=False)
            arrays[name] = array
            error = unit * norm(unbroadcast(_dense(shaken, edge.shape), edge.shape))
            before = self._totals.get(edge)
            self._totals[edge] = array.copy() if before is None else before + array
            self._errors[target] = math.hypot(self._errors.get(target, 0.0), error)
            total = None if before is None else summary(self._totals[edge], self._errors[target])
            sent.append((target, Part(
                "", slot, name, summary(array, error), raw.shape, check=check, unchecked=why,
                total=total,
            )))  # fmt: skip
        if node in self._opened:
            inner, _, leaves = self._opened[node]
            for edge in leaves.keys() & self._totals.keys():
                ours = inner._totals.get(leaves[edge]._node, np.zeros(()))
                scale = self._errors[self._entry_of(edge)] / unit
                gap = relative_difference(self._totals[edge], ours, scale)
                entry.opened = max(entry.opened or 0.0, gap)
        given = given_to(node, self._ran.get(node), cotangent, arrays)
        step = Step("", entry.box.label, summary(cotangents[0], came), (), given)
        self._passes[-1].append(_Recorded(entry, step, sent, inside))

    def _pull_inside(self, node: Node, entry: Entry, cotangent: np.ndarray) -> list[_Recorded]:
        """Send the gradient that has come to an opened op through the ops inside."""
        inner, result, leaves = self._opened[node]
        inner._passes.append([])
        inner._stamp = next(clock)
        totals = {leaves[edge]._node: self._totals.get(edge) for edge in leaves}
        inner._totals = {leaf: total for leaf, total in totals.items() if total is not None}
        inner._errors = dict(self._errors)
        if entry.result is not None and entry in self._errors:
            inner._errors[entry.result] = self._errors[entry]
        with aside(inner):
            grad(result, [*leaves.values()], cotangent, retain_graph=True, allow_unused=True)
        return inner._passes[-1]

    def __exit__(self, kind: Any = None, error: Any = None, *rest: Any) -> None:
        super().__exit__(kind, error, *rest)
        if error is not None:
            failed = new_entry("op", kind.__name__, np.zeros(()), error=str(error))
            failed.change(dtype="")
            self._entries.append(failed)

    def _keep(self, entry: Entry, array: np.ndarray) -> None:
        """Keep the value of an entry, unless it is known."""
        if self._keeping and entry.box.value is None and array.dtype.kind in "biuf":
            value = value_of(array)
            brought = "NaN" if entry.box.kind != "op" and value.nans else entry.box.born
            entry.change(value=value, born=brought)
            if self._asked:
                self._whole[entry] = array.copy()

    def _entry_of(self, node: Edge) -> Entry:
        """The entry of a node, also of one from before the trace."""
        new = read([node], self._made)
        self._entries += dict.fromkeys(new.values())
        self._made.update(new)
        self._held += new
        for edge, entry in new.items():
            if isinstance(edge, Leaf) and edge.tensor is not None:
                self._keep(entry, edge.tensor._data)
            elif isinstance(edge, Node) and edge.saved is not FREED:
                known = {name: self._made[one] for one, _, name in edges_of(edge)} | {"out": entry}
                for name, value in zip(edge.plan.saved_names, edge.saved, strict=True):
                    if name in known and isinstance(value, np.ndarray):
                        self._keep(known[name], value)
        return self._made[node]

    def _source(self, value: Any, name: str) -> Entry:
        """The entry that an argument is the output of."""
        key = _key(value)
        if isinstance(key, Node | Leaf | Output):
            entry = self._entry_of(key)  # of an op before the trace, the value is seen here
        elif key in self._made:
            return self._made[key]
        else:
            array, scope = _array(value), state.get().scope
            known = self._memory.get(id(owner(array)))
            if known is not None and known.box.kind != "constant":
                entry = new_entry("op", "detach", array, scope, recorded=False)
                entry.read(known, 0, "x", array)
            else:
                entry = new_entry("constant", name, array, scope)
            self._entries.append(entry)
        self._know(value, entry)
        return entry

    def _know(self, value: Any, entry: Entry) -> None:
        array, key = _array(value), _key(value)
        self._made[key] = entry
        if not isinstance(key, Output) or not key.number:
            self._keep(entry, array)
        self._memory.setdefault(id(owner(array)), entry)
        self._held += [value, array]

    def graph(self, /, *outputs: Any, **names: Any) -> Graph:
        """The graph of what was watched.

        Args:
            *outputs: Tensors to mark as outputs; by default all that no op read.
            **names: What to call tensors: ``traced.graph(x=x)``.

        Returns:
            A graph with everything that ran, and the steps of the backward passes.

        Raises:
            RuntimeError: Nothing ran.
            ValueError: Of the values that were asked for, one names no box and no module.

        Example:
            >>> from minigrad import ones, viz
            >>> x = ones(3, requires_grad=True)
            >>> with viz.trace() as traced:
            ...     (x * x).sum().backward()
            >>> traced.graph(x=x)
            Graph(2 ops, 1 input, 1 output)
        """
        ends = [self._source(tensor, "output") for tensor in outputs]
        if not any(entry.box.kind == "op" for entry in self._entries):
            raise RuntimeError("trace: no op ran within the block")
        for name, value in names.items():
            self.name(value, name)
        for key, name in self._names.items():
            self._constant_is(key, "input", name)
        self._name_what_modules_own()
        if not outputs:
            inputs = {one.source for entry in self._entries for one in entry.every_input()}
            ops = [e for e in self._entries if e.box.kind == "op" and not e.box.error]
            ends = [entry for entry in ops if entry not in inputs]
        named = [("output" if len(ends) == 1 else f"output {i}", end) for i, end in enumerate(ends)]
        drawing, ids = assemble(self._entries, named, self._names)
        drawing = self._with_values(drawing, {ids[entry]: entry for entry in self._whole})
        passes = enumerate(self._passes, 1)
        steps = tuple(step for run, recorded in passes for step in _steps(recorded, ids, run))
        heatmaps = self._weights.heatmaps(self._entries, ids, drawing)
        return replace(drawing, steps=steps, heatmaps=heatmaps)

    def _with_values(self, drawing: Graph, kept: dict[str, Entry]) -> Graph:
        """The graph with all the values that were asked for, and of the others not too many."""
        asked = chosen(drawing, "values", self._asked)
        asked |= {node.group or "" for node in drawing.nodes if node.id in asked}  # fused ops
        boxes = [*drawing.nodes, *(group.op for group in drawing.groups if group.op is not None)]
        largest = largest_in_full(box.value for box in boxes if box.value is not None)

        def whole(box: Box) -> Box:
            if box.id in asked and box.id in kept:
                return replace(box, value=value_of(self._whole[kept[box.id]], whole=True))
            if box.value is None or not box.value.whole() or math.prod(box.shape) <= largest:
                return box
            return replace(box, value=value_of(box.value.array(), whole=False))

        nodes = tuple(map(whole, drawing.nodes))
        groups = tuple(
            group if group.op is None else replace(group, op=whole(group.op))
            for group in drawing.groups
        )
        return replace(drawing, nodes=nodes, groups=groups)

    def to_text(self, by: By = "op") -> Text:
        """Add up what ran in a table: calls, and in a timed trace times and operations.

        Args:
            by: ``"op"``, ``"module"`` or ``"line"``: see `minigrad.debugging.Profile.table`.

        Returns:
            A row for each, the slowest first; modules in the order of their calls.

        Raises:
            ValueError: `by` is none of the three.
        """
        return table(
            [
                Event(box.label, False, entry.scope, box.line, 0.0, box.seconds or 0.0, box.flops)
                for entry in self._entries
                if (box := entry.box).kind == "op" and not box.error
            ],
            by,
        )

    def _name_what_modules_own(self) -> None:
        """Tell frozen parameters and buffers from other constants."""
        tops = dict.fromkeys(ancestry(e.scope)[-1] for e in self._entries if e.scope is not None)
        for module in (top.module for top in tops if top.module is not None):
            for name, tensor in module.named_parameters():
                self._constant_is(_key(tensor), "parameter", name, recorded=False)  # frozen
            for name, tensor in module.named_buffers():
                self._constant_is(_key(tensor), "buffer", name)

    def _constant_is(self, key: Hashable, kind: Kind, name: str, recorded: bool = True) -> None:
        entry = self._made.get(key)
        if entry is not None and entry.box.kind == "constant":
            entry.change(kind=kind, label=name, recorded=recorded)

    def __repr__(self) -> str:
        return f"Trace({self.graph() if self._entries else 'no op yet'})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = self.graph()._repr_mimebundle_() if self._entries else {}
        return shown | {"text/plain": repr(self)}


@dataclass
class _Recorded:
    """A step of a pass, with the entries that its parts belong to."""

    entry: Entry
    step: Step
    parts: list[tuple[Entry, Part]]
    inner: list[_Recorded]  # the steps inside an opened op


def _steps(recorded: Iterable[_Recorded], ids: Mapping[Entry, str], run: int) -> tuple[Step, ...]:
    return number_arrivals(
        replace(
            one.step, node=ids[one.entry], inner=_steps(one.inner, ids, run), run=run,
            parts=tuple(replace(part, target=ids[target]) for target, part in one.parts),
        )
        for one in recorded
    )  # fmt: skip


FUSED = ("attention",)
"""The ops that are opened by default."""


def fused_ops() -> dict[str, Primitive]:
    """The ops that can be opened, by name."""
    return {name: op for name, op in registry.items() if op.decomposition is not None}


def trace(
    *,
    heatmap: int = 32,
    timed: bool = False,
    values: Choice = (),
    open: Iterable[str] = FUSED,
) -> Trace:
    """Record a computation to draw it: forward, and backward if there is a backward pass.

    Within the block every op of this thread is recorded. This costs time and memory; results and
    gradients are the same.

    Args:
        heatmap: How many queries, and keys, of attention weights to keep; 0 for none.
        timed: Whether to measure the time of each op, the fastest of three more runs, and show it
            with the bytes of its output.
        values: Modules, ops and tensors, by path, name, pattern or class, of which each value is
            kept as a whole. Of other arrays with more than 4,096 elements a summary is.
        open: The names of fused ops, such as ``"layer_norm"``, to open: the ops that they stand for
            are run beside them, forward and backward, and recorded as all others.

    Returns:
        A context manager; its `graph` gives what was seen, also after an error.

    Raises:
        ValueError: `heatmap` is negative, or a name in `open` is that of no fused op.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> model = nn.Linear(3, 2)
        >>> with viz.trace() as traced:
        ...     loss = model(ones(5, 3)).sum()
        ...     loss.backward()
        >>> [step.op for step in traced.graph().steps]
        ['sum', 'linear']
    """
    if heatmap < 0:
        raise ValueError(f"trace: heatmap should be 0 or more, not {heatmap}")
    fused, wanted = fused_ops(), tuple(open)
    if unknown := [name for name in wanted if name not in fused]:
        raise ValueError(
            f"trace: open: {', '.join(map(repr, unknown))} is no fused op; these are: "
            f"{', '.join(sorted(fused))}"
        )
    return Trace(heatmap, timed, values, [fused[name] for name in wanted])


def _key(value: Any) -> Hashable:
    """The key of a tensor or an array: its node, or its id if it has none."""
    node = history(value) if isinstance(value, Variable) else None
    return id(value) if node is None else node


def _array(value: Any) -> np.ndarray:
    array: np.ndarray = value._data if isinstance(value, Variable) else value
    return array


def _born(op: Primitive, arguments: Sequence[Any], outputs: Sequence[Any]) -> str:
    """What is not finite in the outputs of an op, and in none of its inputs."""
    made = [_array(output) for output in outputs]
    given = [_array(value) for _, _, value in _array_arguments(op, arguments)]
    given += [np.asarray(value) for value in arguments if isinstance(value, float | np.generic)]
    for name, test in (("NaN", np.isnan), ("inf", np.isinf)):
        if any(test(array).any() for array in made if array.dtype.kind == "f"):
            inherited = any(test(array).any() for array in given if array.dtype.kind == "f")
            return "" if inherited else name
    return ""


def _dense(part: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The cotangent that a rule returned, as an array."""
    if not isinstance(part, Update):
        return _array(part)
    dtype = getattr(part, "value", np.zeros(0)).dtype
    buffer = np.zeros(shape, dtype)
    part.add_to(buffer)
    return buffer


def _array_arguments(op: Primitive, arguments: Sequence[Any]) -> Iterator[tuple[int, str, Any]]:
    """The tensors and arrays among the arguments, but not numbers."""
    if op.variadic:
        named = [(f"{op.params[0]}[{i}]", value) for i, value in enumerate(arguments[0])]
    else:
        named = list(zip(op.params, arguments, strict=True))
    for slot, (name, value) in enumerate(named):
        if isinstance(value, Variable) or (isinstance(value, np.ndarray) and value.ndim):
            yield slot, name, value
