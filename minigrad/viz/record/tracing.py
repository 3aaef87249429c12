"""Trace a computation to draw it: a reader of the record of the run.

A trace has more than a graph: constants, ops under ``no_grad``, lines of the program, an op that
failed, the decompositions of fused ops, and the steps of the backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.autograd.api import grad
from minigrad.autograd.engine import Update
from minigrad.autograd.events import Pull
from minigrad.autograd.mode import state
from minigrad.autograd.node import Edge, Node, Variable, clock
from minigrad.autograd.primitives import Primitive, registry
from minigrad.debugging.tables import By, Event, Text, table
from minigrad.support.tree import leaves
from minigrad.tracing import Value
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.build import tensors_in
from minigrad.viz.record.entries import array_of
from minigrad.viz.record.finished import Entry, edges_of, new_entry
from minigrad.viz.record.forward import Forward
from minigrad.viz.record.given import given_to
from minigrad.viz.record.graph import Graph
from minigrad.viz.record.rerun import (
    Check,
    aside,
    checked,
    dense,
    errors_sent,
    precision,
    relative_difference,
)
from minigrad.viz.record.selection import Choice
from minigrad.viz.record.steps import Part, Step, norm, number_arrivals, summary
from minigrad.viz.record.values import limited


class Trace(Forward):
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
        self,
        heatmap: int | None = 32,
        timed: bool = False,
        values: Choice = (),
        opened: Iterable[Primitive] = (),
    ) -> None:
        super().__init__(heatmap, timed, values, opened)
        self._recorded: list[_Recorded] = []
        self._passes: dict[Any, tuple[int, int]] = {}  # by what they are in: number, last stamp
        self._errors: dict[Entry, float] = {}  # the rounding errors of what has arrived
        self._earlier: dict[Edge, Any] = {}  # within an opened op, what came from outside before

    def pulled(self, pull: Pull) -> None:
        """Note a step of a backward pass, as numbers."""
        before = len(self.steps)
        super().pulled(pull)
        for step in self.steps[before:]:
            self._end_of_rules(step)
        node, g, call = pull.node, pull.cotangent, self._ran.get(pull.node)
        run, entry = self._pass_of(node), self._behind(node)
        cotangents = [array_of(one) for one in (g if isinstance(g, tuple) else (g,))]
        self._weights.pulled(entry, cotangents[0])
        came, arrays = self._errors.get(entry, 0.0), dict[str, np.ndarray]()
        inside = self._pull_inside(node, entry, cotangents[0]) if node in self._opened else []
        noise = errors_sent(node, cotangents, came, [part is not None for part in pull.parts])
        unit, sent, keep = precision(cotangents[0]), [], bool(self._asked)
        sources = {one.slot: one.source for one in entry.inputs if one.name}
        for (edge, slot, name), part, contribution, total, shaken in zip(
            edges_of(node), pull.parts, pull.contributions, pull.totals, noise, strict=True
        ):
            if part is None:
                continue
            array = arrays[name] = dense(contribution, edge)
            check = Check(None, "its arguments were not seen")
            if call is not None and slot in sources:
                check = checked(call, slot, cotangents, array)
            target, error = sources.get(slot) or self._behind(edge), unit * norm(shaken)
            self._errors[target] = math.hypot(self._errors.get(target, 0.0), error)
            if (earlier := self._earlier.get(edge)) is not None:
                total = earlier + array_of(array if total is None else total)
            if edge in self._arrived:
                self._arrived[edge] = array if total is None else array_of(total)
            sent.append((target, Part(
                "", slot, name, summary(array, error, keep),
                edge.shape if isinstance(part, Update) else part.shape,
                check=check.relative, unchecked=check.reason, kink=check.kink,
                total=None
                if total is None
                else summary(array_of(total), self._errors[target], keep),
            )))  # fmt: skip
        if node in self._opened:
            inner, _, leaves = self._opened[node]
            for edge, leaf in leaves.items():
                if (whole := self._arrived[edge]) is not None:
                    ours = inner._arrived[leaf._node]
                    ours = np.zeros(()) if ours is None else ours
                    scale = self._errors[self._behind(leaf._node)] / unit
                    gap = relative_difference(whole, ours, scale)
                    entry.opened = max(entry.opened or 0.0, gap)
        given = given_to(node, call, g, arrays)
        gradient = summary(cotangents[0], came, keep)
        noted = Step("", entry.box.label, gradient, (), given, (), run)
        self._recorded.append(_Recorded(entry, noted, sent, inside))

    def _end_of_rules(self, step: Any) -> None:
        """Mark the ops that ran within the rules of a node, and let go of what these have sent."""
        for part in self._composed.pop(step, ()):
            for value in part.outputs:
                if value in self._entry_of and part.op is not None:
                    self._mark(self._entry_of[value], f"in the backward pass of {step.what}")
        for value in leaves(step.arguments.get("g"), Value):
            if value in self._entry_of and self._entry_of[value].box.kind == "constant":
                self._entry_of[value].change(label="grad")
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
                self._arrived = dict.fromkeys(self._arrived)
                self._errors.clear()
        self._passes[around] = number, node.stamp
        return number

    def _pull_inside(self, node: Node, entry: Entry, cotangent: np.ndarray) -> list[_Recorded]:
        """Send the gradient that has come to an opened op through the ops inside."""
        inner, result, leaves = self._opened[node]
        before, inner._passes = len(inner._recorded), {None: (1, next(clock))}
        inner._earlier = {leaf._node: self._arrived[edge] for edge, leaf in leaves.items()}
        inner._arrived = dict(inner._earlier)
        inner._errors = dict(self._errors)
        if entry.result is not None and entry in self._errors:
            inner._errors[entry.result] = self._errors[entry]
        with aside(inner):
            grad(result, [*leaves.values()], cotangent, retain_graph=True, allow_unused=True)
        return inner._recorded[before:]

    def __exit__(self, kind: Any = None, error: Any = None, *rest: Any) -> None:
        super().__exit__(kind, error, *rest)
        if error is not None:
            failed = new_entry("op", kind.__name__, np.zeros(()), error=str(error))
            failed.change(dtype="")
            self._entries.append(failed)

    def _another(self) -> Trace:
        return Trace(self._weights.limit)

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
        ends = ends or self._ends()
        named = [("output" if len(ends) == 1 else f"output {i}", end) for i, end in enumerate(ends)]
        leaves = {thing._node: name for thing, name in self._names if isinstance(thing, Variable)}
        drawing, ids = assemble(self._entries, named, leaves)
        heatmaps = self._weights.heatmaps(self._entries, ids, drawing)
        drawing = replace(drawing, steps=_steps(self._recorded, ids), heatmaps=heatmaps)
        return limited(drawing, self._asked)

    def to_text(self, by: By = "op") -> Text:
        """Add up what ran in a table: calls, and in a timed trace times and operations.

        Args:
            by: ``"op"``, ``"module"`` or ``"line"``: see `minigrad.debugging.Profile.table`.

        Returns:
            A row for each, the slowest first; modules in the order of their calls.

        Raises:
            ValueError: `by` is not one of the three.
        """
        return table(
            [
                Event(box.label, False, entry.scope, box.line, 0.0, box.seconds or 0.0, box.flops)
                for entry in self._entries
                if (box := entry.box).kind == "op" and not box.error
            ],
            by,
        )

    def __repr__(self) -> str:
        return f"Trace({self.graph() if self._entries else 'no op yet'})"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown = self.graph()._repr_mimebundle_() if self._entries else {}
        return shown | {"text/plain": repr(self)}


@dataclass
class _Recorded:
    """A step of a pass, with the entries that its parts belong to."""

    entry: Entry
    step: Step
    parts: list[tuple[Entry, Part]]
    inner: list[_Recorded]  # the steps inside an opened op


def _steps(
    recorded: Iterable[_Recorded], ids: Mapping[Entry, str], run: int = 0
) -> tuple[Step, ...]:
    return number_arrivals(
        replace(
            one.step, node=ids[one.entry], run=run or one.step.run,
            inner=_steps(one.inner, ids, run or one.step.run),
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
        values: Modules, ops and tensors, by path, name, pattern or class, of which each value and
            each gradient is kept as a whole. Of other arrays with more than 4,096 elements a
            summary is.
        open: The names of fused ops, such as ``"layer_norm"``, to open: the ops inside are run
            beside them, forward and backward, and recorded as all others.

    Returns:
        A context manager; its `graph` gives the ops that ran, also after an error.

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
            f"trace: open: {', '.join(map(repr, unknown))} is not a fused op; these are: "
            f"{', '.join(sorted(fused))}"
        )
    return Trace(heatmap, timed, values, [fused[name] for name in wanted])
