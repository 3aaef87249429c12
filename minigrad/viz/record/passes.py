"""A backward pass as steps, of two kinds: the plan of one, and the record of one that ran.

The plan is read off the engine's record and nothing is run: the youngest node comes first, and
each of its edges is one contribution to what it leads to.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.node import Leaf
from minigrad.autograd.node import Node as Record
from minigrad.autograd.op import Primitive
from minigrad.autograd.primitive import by_numpy, registry
from minigrad.autograd.results import pick
from minigrad.viz.formula import Formula, formulas
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.finished import read
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.steps import Summary

__all__ = ["PassPart", "PassStep", "formula", "planned", "traced"]

Shape = tuple[int, ...]

_CALLS: Mapping[Any, Any] = by_numpy

ELEMENTWISE = frozenset(
    call.op for function, call in _CALLS.items() if getattr(function, "signature", 0) is None
) | {registry[name] for name in ("where", "clip", "broadcast_to")}
"""Ops whose rules return cotangents of the shape of the output: the engine un-broadcasts them."""


class PassPart(NamedTuple):
    """What a step sends to one argument.

    Attributes:
        target: The id of the node that the argument came from.
        name: What the op calls it.
        shape: The shape of the argument.
        raw_shape: The shape before un-broadcasting, where a plan can know it.
        arrival: Which of the contributions to its target this is, from 1.
        arrivals: How many there are.
        numbers: What was sent; None in a plan.
        total: What has come to the target so far; None in a plan, and for the first.
        check: How it compares with a finite difference; empty in a plan.
    """

    target: str
    name: str
    shape: Shape
    raw_shape: Shape
    arrival: int
    arrivals: int
    numbers: Summary | None = None
    total: Summary | None = None
    check: str = ""


class PassStep(NamedTuple):
    """One rule that runs.

    Attributes:
        node: The id of the op.
        shape: The shape of its output, and so of the cotangent that comes.
        parts: What is sent on.
        numbers: The cotangent; None in a plan.
    """

    node: str
    shape: Shape
    parts: Sequence[PassPart]
    numbers: Summary | None = None


def traced(diagram: Diagram) -> Iterator[PassStep]:
    """Read the steps of a trace.

    Args:
        diagram: A graph with steps.

    Yields:
        Each step, with its numbers.
    """
    for step in diagram.steps:
        parts = [
            PassPart(
                part.target, part.name, part.sent.shape, part.raw_shape, part.arrival,
                part.arrivals, part.sent, part.total,
                f"not checked: {part.unchecked}" if part.check is None
                else f"{part.check:.1e} from a finite difference",
            )
            for part in step.parts
        ]  # fmt: skip
        yield PassStep(step.node, step.cotangent.shape, parts, step.cotangent)


def planned(root: Record, names: dict[Leaf, str]) -> tuple[Diagram, list[PassStep], bool]:
    """Tell the steps of a pass from a node, by the engine's one rule: the youngest first.

    Args:
        root: Where the pass would begin.
        names: What to call leaves.

    Returns:
        The whole graph, the steps, and whether an earlier pass freed what was saved.

    Raises:
        ValueError: A named leaf is not in the graph.
    """
    entries = read([root])
    unknown = [name for leaf, name in names.items() if leaf not in entries]
    if unknown:
        raise ValueError(f"explain: {', '.join(sorted(unknown))} is no leaf of this graph")
    every = list(dict.fromkeys(entries.values()))
    diagram, ids = assemble(every, [("output", entries[root])], names, get_default_dtype())
    records: list[Any] = [
        record for record in entries if isinstance(record, Record) and record.plan.op is not pick
    ]
    records.sort(key=lambda record: record.stamp, reverse=True)
    arrivals = Counter(entries[edge] for record in records for edge in record.edges)
    seen: Counter[Any] = Counter()
    steps = []
    for record in records:
        shape = record.shape[0] if record.plan.op.multiple_outputs else record.shape
        parts = []
        for edge, name in zip(record.edges, record.plan.slot_names, strict=True):
            seen[entries[edge]] += 1
            raw = _raw_shape(record.plan.op, name, shape, edge.shape)
            order = seen[entries[edge]], arrivals[entries[edge]]
            parts.append(PassPart(ids[entries[edge]], name, edge.shape, raw, *order))
        steps.append(PassStep(ids[entries[record]], shape, parts))
    return diagram, steps, any(record.freed for record in records)


def _raw_shape(op: Primitive, name: str, out: Shape, argument: Shape) -> Shape:
    """The shape of what a rule returns for an argument before un-broadcasting, if that is plain."""
    found = formula(op, name)
    if op in ELEMENTWISE or (found is not None and found.text in ("ḡ", "−ḡ")):
        return out
    matmul = op is registry["matmul"]
    if matmul and len(argument) == 1:
        return (*out[:-1], *argument)
    summed = name == "b" and len(argument) == 2  # the rule itself sums over a stack
    if matmul and len(argument) <= len(out) and not summed:
        return (*out[:-2], *argument[-2:])
    return argument


def formula(op: Primitive | None, argument: str) -> Formula | None:
    """Find the formula of what an op sends to an argument.

    Args:
        op: The op; None if it is not known any more.
        argument: The name of the argument, such as ``"a"`` or ``"tensors[2]"``.

    Returns:
        The formula, and where its rule stands; None if there is none.
    """
    if op is None:
        return None
    return _formulas(op, op.joint, *op.rules.values(), *op.formulas.values()).get(
        argument.partition("[")[0]
    )


@functools.lru_cache(maxsize=512)
def _formulas(op: Primitive, *known: object) -> dict[str, Formula]:
    """The formulas of an op as long as its rules, and what was written for them, are these."""
    return formulas(op)
