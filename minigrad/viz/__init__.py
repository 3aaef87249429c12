"""Compute graphs to look at: `graph` reads the engine's record, and `Graph` draws it.

The package knows of the engine what a graph shows anyway (ops, their arguments, shapes, module
calls), and nothing in the engine knows of the package.
"""

from minigrad.viz.build import graph
from minigrad.viz.drawing import Graph
from minigrad.viz.model import Edge, Group, Node, Saved
from minigrad.viz.tape import Part, Step, Summary
from minigrad.viz.trace import Trace, trace

__all__ = [
    "Edge", "Graph", "Group", "Node", "Part", "Saved", "Step", "Summary", "Trace", "graph", "trace",
]  # fmt: skip
