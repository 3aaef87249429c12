"""How much of the values and the gradients of a run a graph keeps."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from minigrad.viz.record.graph import Graph
from minigrad.viz.record.model import Node, Saved
from minigrad.viz.record.selection import Choice, chosen
from minigrad.viz.record.steps import IN_FULL, Part, Step, Summary, largest_in_full

Change = Callable[[Summary, str], Summary]
"""A change of the summary of an array, by the id of the box that it belongs to."""

HOLDING = {
    Graph: ("nodes", "steps"), Node: ("value", "saved"), Saved: ("numbers",),
    Step: ("cotangent", "parts"), Part: ("sent", "total"),
}  # fmt: skip
"""The fields with arrays, or with records that have arrays."""

OWNER = {Node: "id", Step: "node", Part: "target"}
"""The field with the box that these arrays belong to."""


def limited(drawing: Graph, choice: Choice) -> Graph:
    """The graph with the whole arrays of chosen boxes, and of others not too many.

    A gradient belongs to the box of the tensor whose gradient it is.
    """
    asked = chosen(drawing, "values", choice)
    largest = min(IN_FULL, largest_in_full(one for one in _arrays(drawing) if one.whole()))

    def kept(one: Summary, box: str) -> Summary:
        large = math.prod(one.shape) > largest
        return one.shortened() if large and one.whole() and box not in asked else one

    smaller: Graph = _changed(drawing, kept)
    return smaller


def _arrays(drawing: Graph) -> list[Summary]:
    """All arrays of a graph."""
    found: list[Summary] = []

    def noted(one: Summary, _box: str) -> Summary:
        found.append(one)
        return one

    _changed(drawing, noted)
    return found


def _changed(record: Any, change: Change, box: str = "") -> Any:
    """A record, or a tuple of records, with the arrays in it changed."""
    if isinstance(record, Summary):
        return change(record, box)
    if isinstance(record, tuple):
        return tuple(_changed(one, change, box) for one in record)
    if record is None:
        return None
    kind = type(record)
    box = getattr(record, OWNER[kind]) if kind in OWNER else box
    parts = {name: _changed(getattr(record, name), change, box) for name in HOLDING[kind]}
    return replace(record, **parts)
