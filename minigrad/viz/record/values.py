"""How much of the values of a forward pass a graph keeps."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from minigrad.viz.record.graph import Graph
from minigrad.viz.record.model import Node
from minigrad.viz.record.selection import Choice, chosen
from minigrad.viz.record.steps import largest_in_full, value_of


def with_values(drawing: Graph, choice: Choice, kept: Mapping[str, np.ndarray]) -> Graph:
    """The graph with all the values of chosen boxes, as far as `kept`, and not too many others."""
    asked = chosen(drawing, "values", choice)
    asked |= {node.group or "" for node in drawing.nodes if node.id in asked}  # fused ops
    boxes = [*drawing.nodes, *(group.op for group in drawing.groups if group.op is not None)]
    largest = largest_in_full(box.value for box in boxes if box.value is not None)

    def whole(box: Node) -> Node:
        if box.id in asked and box.id in kept:
            return replace(box, value=value_of(kept[box.id], whole=True))
        if box.value is None or not box.value.whole() or math.prod(box.shape) <= largest:
            return box
        return replace(box, value=value_of(box.value.array(), whole=False))

    nodes = tuple(map(whole, drawing.nodes))
    groups = tuple(
        group if group.op is None else replace(group, op=whole(group.op))
        for group in drawing.groups
    )
    return replace(drawing, nodes=nodes, groups=groups)
