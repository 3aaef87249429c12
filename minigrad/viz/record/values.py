"""How much of the values and the gradients of a run a graph keeps."""

import math
from collections.abc import Callable
from dataclasses import replace

from minigrad.viz.record.graph import Graph
from minigrad.viz.record.model import Node
from minigrad.viz.record.selection import Choice, chosen
from minigrad.viz.record.steps import IN_FULL, Step, Summary, largest_in_full

Change = Callable[[Summary, str], Summary]
"""What becomes of an array, by the id of the box that it belongs to."""


def limited(drawing: Graph, choice: Choice) -> Graph:
    """The graph with the whole arrays of chosen boxes, and of others not too many.

    A gradient belongs to the box of the tensor whose gradient it is.
    """
    asked = chosen(drawing, "values", choice)
    asked |= {node.group or "" for node in drawing.nodes if node.id in asked}  # fused ops
    largest = min(IN_FULL, largest_in_full(one for one in _arrays(drawing) if one.whole()))

    def kept(one: Summary, box: str) -> Summary:
        large = math.prod(one.shape) > largest
        return one.shortened() if large and one.whole() and box not in asked else one

    return _changed(drawing, kept)


def _arrays(drawing: Graph) -> list[Summary]:
    """All arrays of a graph."""
    found: list[Summary] = []

    def noted(one: Summary, box: str) -> Summary:
        found.append(one)
        return one

    _changed(drawing, noted)
    return found


def _changed(drawing: Graph, change: Change) -> Graph:
    def box(node: Node) -> Node:
        return replace(
            node,
            value=None if node.value is None else change(node.value, node.id),
            saved=tuple(
                one if one.numbers is None else replace(one, numbers=change(one.numbers, node.id))
                for one in node.saved
            ),
        )

    def step(one: Step) -> Step:
        parts = tuple(
            replace(
                part,
                sent=change(part.sent, part.target),
                total=None if part.total is None else change(part.total, part.target),
            )
            for part in one.parts
        )
        cotangent = change(one.cotangent, one.node)
        return replace(one, cotangent=cotangent, parts=parts, inner=tuple(map(step, one.inner)))

    groups = tuple(
        group if group.op is None else replace(group, op=box(group.op)) for group in drawing.groups
    )
    return replace(
        drawing,
        nodes=tuple(map(box, drawing.nodes)),
        groups=groups,
        steps=tuple(map(step, drawing.steps)),
    )
