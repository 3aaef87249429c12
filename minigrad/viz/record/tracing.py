"""Watching a computation: everything a finished graph no longer knows.

A trace sees each op as it runs. So it also has what is in no graph: constants, ops under
``no_grad``, the line of the program, an op that failed; what a fused op means, op by op; and the
backward pass, step by step.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from math import hypot
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.engine import Update, unbroadcast
from minigrad.autograd.mode import State, state
from minigrad.autograd.mutation import history, owner
from minigrad.autograd.node import Edge, Leaf, Node, Output, Variable, node_of
from minigrad.autograd.primitive import Primitive
from minigrad.debugging.anomaly import user_line
from minigrad.debugging.observer import Observer
from minigrad.viz.drawing.graph import Graph
from minigrad.viz.explanation.cancellation import errors_sent, precision
from minigrad.viz.explanation.step_check import check_part
from minigrad.viz.record.assembly import Entry, Input, assemble
from minigrad.viz.record.attention import Weights
from minigrad.viz.record.finished import notes, read, saved_by
from minigrad.viz.record.model import Kind
from minigrad.viz.record.steps import Part, Step, Summary, norm, summary
from minigrad.viz.record.timing import fastest

__all__ = ["Trace", "trace"]


class Trace(Observer):
    """What `trace` returns: enter it, compute, and ask for the graph.

    Example:
        >>> import minigrad
        >>> from minigrad import viz
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> with viz.trace() as traced:
        ...     y = x * minigrad.tensor([1.0, 2.0, 3.0])
        >>> [(node.kind, node.label) for node in traced.graph(x=x).nodes]
        [('input', 'x'), ('constant', 'b'), ('op', 'multiply'), ('output', 'output')]
    """

    def __init__(self, heatmap: int = 32, timed: bool = False) -> None:
        self._weights, self._timed = Weights(heatmap), timed
        self._entries: list[Entry] = []
        # By node, or by tensor where there is none.
        self._made: MutableMapping[Any, Entry] = {}
        # By the array that owns the memory: finds what was detached.
        self._memory: MutableMapping[int, Entry] = {}
        self._held: list[Any] = []  # keeps every key alive, so that it stays its own
        self._names: dict[Hashable, str] = {}
        self._ran: dict[Node, tuple[Primitive, Sequence[Any]]] = {}
        self._steps: list[tuple[int, Entry, Summary, list[Any]]] = []  # with the number of the pass
        self._pass, self._stamp = 0, 0
        # What has come in this pass: to each output of an op that has several, for itself.
        self._totals: dict[Edge, np.ndarray] = {}
        self._errors: dict[Entry, float] = {}  # by how much rounding may have changed it

    def name(self, value: Any, name: str) -> None:
        """Say what a tensor or an array that ops will read is called.

        Args:
            value: A tensor or an array.
            name: Its name.
        """
        self._held.append(value)
        key = history(value) if isinstance(value, Variable) else None
        self._names[id(value) if key is None else key] = name

    # What is watched ----------------------------------------------------------------------------

    def ran(self, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """Note an op."""
        outputs = result if isinstance(result, tuple) else (result,)
        node = _recorded(outputs)
        first = outputs[0]
        entry = Entry(
            "op", op.name, first.shape, first.dtype.name, state.get().scope,
            notes=notes(op, dict(zip(op.params, arguments, strict=True))), line=user_line(),
            recorded=node is not None,
            saved=saved_by(node, numbers=True) if node is not None else (),
            seconds=fastest(op, arguments) if self._timed else None, primitive=op,
        )  # fmt: skip
        reads = list(_read_by(op, arguments))
        for _, name, value in reads:  # first, so that a detached view of one is known as such
            if isinstance(_key(value), Node | Leaf | Output):
                self._source(value, name)
        for slot, name, value in reads:
            source = self._source(value, name)
            array = value._data if isinstance(value, Variable) else value
            entry.inputs.append(Input(source, slot, name, array.shape, array.dtype.name))
        if op.decomposition is not None:
            self._explain(entry, op, arguments)
        self._weights.ran(entry, op, arguments, first)
        self._entries.append(entry)
        for output in outputs:
            self._know(output, entry)
        if node is not None:
            self._made[node] = entry
            self._ran[node] = (op, arguments)
            self._held.append(node)

    def wrote(self, tensor: Any, result: Any) -> None:
        """Note that a tensor is now what an op in place returned."""
        self._know(tensor, self._source(result, ""))

    def _explain(self, entry: Entry, op: Primitive, arguments: Sequence[Any]) -> None:
        """Run what a fused op means, apart from the record, and note its ops."""
        inner = Trace(self._weights.limit)
        inner._made, inner._memory = ChainMap({}, self._made), ChainMap({}, self._memory)
        values = [wrap(v) if isinstance(v, np.ndarray) else v for v in arguments]
        for before, value in zip(arguments, values, strict=True):
            if value is not before and before.ndim:
                inner._know(value, self._made[_key(before)])
        outer = state.get()
        try:
            state.set(State(False, entry.scope, (inner,)))
            result = op.call_with(op.decomposition, values)  # type: ignore[arg-type]
        finally:
            state.set(outer)
        for one in inner._entries:
            one.line, one.scope, one.recorded = entry.line, entry.scope, entry.recorded
        entry.decomposition, entry.result = inner._entries, inner._made.get(_key(result))
        self._held += inner._held
        self._weights.add(inner._weights)

    def pulled(self, node: Node, cotangent: Any, parts: Sequence[Any]) -> None:
        """Note a step of a backward pass, in numbers: its arrays may be written to next."""
        if node.stamp >= self._stamp:  # within a pass, nodes run from the youngest to the oldest
            self._pass += 1
            self._totals.clear()
            self._errors.clear()
        self._stamp = node.stamp
        entry = self._entry_of(node)
        cotangents = _arrays(cotangent)
        self._weights.pulled(entry, node, cotangents[0])
        came, sent = self._errors.get(entry, 0.0), []
        noise = errors_sent(node, cotangents, came, [part is not None for part in parts])
        unit = precision(cotangents[0])
        for edge, slot, name, part, shaken in zip(
            node.edges, node.plan.slots, node.plan.slot_names, parts, noise, strict=True
        ):
            if part is None:
                continue
            raw = _dense(part, edge.shape)
            array = unbroadcast(raw, edge.shape)
            difference, why = None, "its arguments were not seen"
            if node in self._ran:
                difference, why = check_part(*self._ran[node], slot, cotangents, array)
            target, array = self._entry_of(edge), array.astype(edge.dtype, copy=False)
            error = unit * norm(unbroadcast(_dense(shaken, edge.shape), edge.shape))
            before = self._totals.get(edge)
            self._totals[edge] = array.copy() if before is None else before + array
            self._errors[target] = hypot(self._errors.get(target, 0.0), error)
            total = None
            if before is not None:
                total = summary(self._totals[edge], self._errors[target])
            numbers = summary(array, error)
            sent.append((target, slot, name, numbers, raw.shape, difference, why, total))
        self._steps.append((self._pass, entry, summary(cotangents[0], came), sent))

    def __exit__(self, kind: Any = None, error: Any = None, *rest: Any) -> None:
        super().__exit__(kind, error, *rest)
        if error is not None:
            self._entries.append(Entry("op", kind.__name__, (), "", error=str(error)))

    # Showing it ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"Trace({self.graph() if self._entries else 'no op yet'})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = self.graph()._repr_mimebundle_() if self._entries else {}
        return shown | {"text/plain": repr(self)}

    # Tensors and where they came from -----------------------------------------------------------

    def _entry_of(self, node: Edge) -> Entry:
        """The entry of a node, which may have been recorded before the trace began."""
        new = read([node], self._made)
        self._entries += dict.fromkeys(new.values())
        self._made.update(new)
        self._held += new
        return self._made[node]

    def _source(self, value: Any, name: str) -> Entry:
        """The entry that an argument came out of."""
        key = _key(value)
        if isinstance(key, Node | Leaf | Output):
            entry = self._entry_of(key)
            self._know(value, entry)
            return entry
        if key in self._made:
            return self._made[key]
        array = _array(value)
        scope = state.get().scope
        known = self._memory.get(id(owner(array)))
        if known is not None and known.kind != "constant":
            entry = Entry("op", "detach", array.shape, array.dtype.name, scope, recorded=False)
            entry.inputs.append(Input(known, 0, "x", array.shape, array.dtype.name))
        else:
            entry = Entry("constant", name, array.shape, array.dtype.name, scope)
        self._entries.append(entry)
        self._know(value, entry)
        return entry

    def _know(self, value: Any, entry: Entry) -> None:
        array = _array(value)
        self._made[_key(value)] = entry
        self._memory.setdefault(id(owner(array)), entry)
        self._held += [value, array]

    # What comes of it ---------------------------------------------------------------------------

    def graph(self, /, *outputs: Any, **names: Any) -> Graph:
        """The graph of what was watched.

        Args:
            *outputs: Tensors to mark as outputs; by default all that no op read.
            **names: What to call tensors: ``traced.graph(x=x)``.

        Returns:
            A graph with everything that ran, and the steps of the backward passes.

        Raises:
            RuntimeError: Nothing ran.

        Example:
            >>> import minigrad
            >>> from minigrad import viz
            >>> x = minigrad.ones(3, requires_grad=True)
            >>> with viz.trace() as traced:
            ...     (x * x).sum().backward()
            >>> traced.graph(x=x)
            Graph(2 ops, 1 input, 1 output)
        """
        if not self._entries:
            raise RuntimeError("trace: no op ran within the block")
        for name, value in names.items():
            self.name(value, name)
        for key, name in self._names.items():
            named = self._made.get(key)
            if named is not None and named.kind == "constant":
                named.kind, named.label = "input", name
        self._name_what_modules_own()
        if outputs:
            ends = [(f"output {i}", self._source(x, "output")) for i, x in enumerate(outputs)]
        else:
            inputs = {source for entry in self._entries for source in _inputs(entry)}
            lasts = [e for e in self._entries if e.kind == "op" and not e.error and e not in inputs]
            ends = [(f"output {i}", entry) for i, entry in enumerate(lasts)]
        if len(ends) == 1:
            ends = [("output", ends[0][1])]
        diagram, ids = assemble(self._entries, ends, self._names, get_default_dtype())
        steps = tuple(self._tape(ids))
        heatmaps = self._weights.heatmaps(self._entries, ids, diagram)
        return Graph(diagram.nodes, diagram.edges, diagram.groups, diagram.dtype, steps, heatmaps)

    def _name_what_modules_own(self) -> None:
        """Tell frozen parameters and buffers from other constants."""
        tops = {}
        for entry in self._entries:
            scope = entry.scope
            while scope is not None and scope.parent is not None:
                scope = scope.parent
            if scope is not None and scope.module is not None:
                tops[scope] = scope.module
        for module in tops.values():
            for name, tensor in module.named_parameters():
                self._own(tensor, "parameter", name, recorded=False)  # frozen
            for name, tensor in module.named_buffers():
                self._own(tensor, "buffer", name, recorded=True)

    def _own(self, tensor: Any, kind: Kind, name: str, recorded: bool) -> None:
        entry = self._made.get(_key(tensor))
        if entry is not None and entry.kind == "constant":
            entry.kind, entry.label, entry.recorded = kind, name, recorded

    def _tape(self, ids: dict[Entry, str]) -> Iterator[Step]:
        """The steps of the backward passes as data."""
        arrivals = Counter(
            (number, target) for number, _, _, sent in self._steps for target, *_ in sent
        )
        seen: Counter[tuple[int, Entry]] = Counter()
        for number, entry, cotangent, sent in self._steps:
            parts = []
            for target, slot, name, numbers, raw_shape, *checked in sent:
                seen[number, target] += 1
                order = (seen[number, target], arrivals[number, target])
                parts.append(Part(ids[target], slot, name, numbers, raw_shape, *order, *checked))
            yield Step(ids[entry], entry.label, cotangent, tuple(parts))


def trace(*, heatmap: int = 32, timed: bool = False) -> Trace:
    """Watch a computation, to draw it: forward, and backward if there is a backward pass.

    Within the block every op is noted, in this thread. It costs time and memory; the results and
    the gradients are the same.

    Args:
        heatmap: How many queries, and keys, of attention weights to keep; 0 for none.
        timed: Whether to take the time of each op, as the fastest of three more runs, and show it
            with the bytes of its output. Two runs never take the same time: their drawings differ.

    Returns:
        A context manager; its `graph` gives what was seen, also after an error.

    Raises:
        ValueError: `heatmap` is negative.

    Example:
        >>> import minigrad
        >>> from minigrad import nn, viz
        >>> model = nn.Linear(3, 2)
        >>> with viz.trace() as traced:
        ...     loss = model(minigrad.ones(5, 3)).sum()
        ...     loss.backward()
        >>> [step.op for step in traced.graph().steps]
        ['sum', 'linear']
    """
    if heatmap < 0:
        raise ValueError(f"trace: heatmap should be 0 or more, not {heatmap}")
    return Trace(heatmap, timed)


def _key(value: Any) -> Hashable:
    """What a tensor or an array is known by."""
    node = history(value) if isinstance(value, Variable) else None
    return id(value) if node is None else node


def _array(value: Any) -> np.ndarray:
    array: np.ndarray = value._data if isinstance(value, Variable) else value
    return array


def _arrays(cotangent: Any) -> list[np.ndarray]:
    parts = cotangent if isinstance(cotangent, tuple) else (cotangent,)
    return [_array(part) for part in parts]


def _dense(part: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a rule returned as an array."""
    if not isinstance(part, Update):
        return _array(part)
    dtype = getattr(part, "value", np.zeros(0)).dtype
    buffer = np.zeros(shape, dtype)
    part.add_to(buffer)
    return buffer


def _recorded(outputs: Sequence[Any]) -> Node | None:
    """The node that a call left, None if it was not recorded."""
    node = node_of(outputs[0]._node)
    return node if isinstance(node, Node) else None


def _read_by(op: Primitive, arguments: Sequence[Any]) -> Iterator[tuple[int, str, Any]]:
    """The tensors and arrays among the arguments, numbers apart."""
    if op.variadic:
        named = [(f"{op.params[0]}[{i}]", value) for i, value in enumerate(arguments[0])]
    else:
        named = list(zip(op.params, arguments, strict=True))
    for slot, (name, value) in enumerate(named):
        if isinstance(value, Variable) or (isinstance(value, np.ndarray) and value.ndim):
            yield slot, name, value


def _inputs(entry: Entry) -> Iterator[Entry]:
    for one in (entry, *entry.decomposition):
        for read_by in one.inputs:
            yield read_by.source
