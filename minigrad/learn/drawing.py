"""A drawing of a learner's own answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad
from minigrad import viz

__all__ = ["Regions", "of_values", "traced"]


def traced(function: Callable[..., Any], outputs: str = "", /, **inputs: Any) -> viz.Graph:
    """Run a function on tensors instead of arrays, and draw what it computed.

    Args:
        function: The learner's function; written in NumPy, it takes tensors as well.
        outputs: What it returns: the names, with spaces between them.
        inputs: Its arguments by name. Arrays of floats, and floats, become tensors.

    Returns:
        The graph.

    Example:
        >>> from minigrad.learn.drawing import traced
        >>> traced(lambda x: x * x, x=3.0)
        Graph(1 op, 1 input, 1 output)
    """
    given = {
        name: minigrad.tensor(value, dtype="float64", requires_grad=True)
        if _differentiable(value)
        else value
        for name, value in inputs.items()
    }
    with viz.trace() as trace:
        result = function(**given)
    results = result if isinstance(result, (tuple, list)) else [result]
    tensors = {key: value for key, value in given.items() if isinstance(value, minigrad.Tensor)}
    graph = trace.graph(*(one for one in results if isinstance(one, minigrad.Tensor)), **tensors)
    names = iter(outputs.split())
    nodes = [
        replace(node, label=next(names, node.label)) if node.kind == "output" else node
        for node in graph.nodes
    ]
    return replace(graph, nodes=tuple(nodes), dtype="float64")


def _differentiable(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def of_values(
    output: Any,
    parents: Callable[[Any], Iterable[Any]],
    label: Callable[[Any], str],
    notes: Callable[[Any], tuple[str, ...]] = lambda value: (),
    shape: Callable[[Any], tuple[int, ...]] = lambda value: (),
) -> viz.Graph:
    """Draw a graph that a learner's own engine has recorded.

    Args:
        output: The last value.
        parents: What a value was computed from; nothing for a leaf.
        label: The text in its box.
        notes: Smaller lines in its box.
        shape: Its shape.

    Returns:
        The graph.

    Example:
        >>> from minigrad.learn.drawing import of_values
        >>> of_values("y", parents=lambda v: {"y": "xx"}.get(v, ""), label=str)
        Graph(1 op, 1 input, 1 output)
    """
    order: dict[int, Any] = {}
    stack = [(output, False)]
    while stack:  # what a value is computed from comes before it
        value, ready = stack.pop()
        if ready:
            order[id(value)] = value
        elif id(value) not in order:
            stack.append((value, True))
            stack += [(parent, False) for parent in parents(value) if id(parent) not in order]
    names = {key: f"n{number}" for number, key in enumerate(order)}
    nodes = [
        viz.Node(
            names[key], "op" if [*parents(value)] else "input", label(value),
            shape(value), notes=notes(value),
        )
        for key, value in order.items()
    ]  # fmt: skip
    edges = [
        viz.Edge(names[id(parent)], names[key], slot, shape=shape(parent))
        for key, value in order.items()
        for slot, parent in enumerate(parents(value))
    ]
    nodes.append(viz.Node(f"n{len(order)}", "output", "output", shape(output)))
    edges.append(viz.Edge(names[id(output)], nodes[-1].id, shape=shape(output)))
    return viz.Graph(tuple(nodes), tuple(edges))


@dataclass(frozen=True)
class Regions:
    """A plane, coloured by the sign of a score, with points that have labels.

    Args:
        score: The score of a point (x, y): its sign is the answer, its size how sure it is.
        points: Pairs of a point and its label, 1 or -1.
    """

    score: Callable[[tuple[float, float]], float]
    points: tuple[tuple[tuple[float, float], float], ...]

    def to_svg(self) -> str:
        """The picture."""
        low, high = (
            np.array(f([point for point, _ in self.points], axis=0)) for f in (np.min, np.max)
        )
        low, high = low - 0.4, high + 0.4
        size, cell = 480 / (high[0] - low[0]), (high[0] - low[0]) / 40
        across, up = (math.ceil(length / cell) for length in high - low)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {across * 12} {up * 12}" width="{across * 12}" height="{up * 12}">'
            "<title>Where the score is above 0, and where it is below</title>"
        ]
        for i, j in np.ndindex(across, up):
            score = self.score((low[0] + (i + 0.5) * cell, low[1] + (j + 0.5) * cell))
            parts.append(
                f'<rect x="{i * 12}" y="{(up - 1 - j) * 12}" width="12" height="12" '
                f'fill="{_colour(score)}" fill-opacity="{0.15 + 0.35 * min(abs(score), 1):.2f}"/>'
            )
        for (x, y), label in self.points:
            parts.append(
                f'<circle cx="{(x - low[0]) * size:.1f}" cy="{up * 12 - (y - low[1]) * size:.1f}" '
                f'r="5" fill="{_colour(label)}" stroke="white"/>'
            )
        return "".join([*parts, "</svg>"])


def _colour(score: float) -> str:
    return "#1f6fb5" if score > 0 else "#c8641b"
