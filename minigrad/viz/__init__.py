"""Compute graphs to look at: `graph` reads the engine's record, and `Graph` draws it.

The package knows of the engine what a graph shows anyway (ops, their arguments, shapes, module
calls), and nothing in the engine knows of the package.
"""

from minigrad.viz.build import graph
from minigrad.viz.diff import Change, Difference, diff
from minigrad.viz.drawing import Graph
from minigrad.viz.explain import explain
from minigrad.viz.explorer import Page, explore
from minigrad.viz.formula import Formula, formulas
from minigrad.viz.heatmap import Cells, Heatmap
from minigrad.viz.model import Edge, Group, Node, Saved
from minigrad.viz.tape import Part, Step, Summary
from minigrad.viz.trace import Trace, trace

__all__ = [
    "Cells", "Change", "Difference", "Edge", "Formula", "Graph", "Group", "Heatmap", "Node",
    "Page", "Part", "Saved", "Step", "Summary", "Trace", "diff", "explain", "explore",
    "formulas", "graph", "trace",
]  # fmt: skip
