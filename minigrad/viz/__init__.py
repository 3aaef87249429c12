"""Compute graphs to look at: `graph` reads the engine's record, and `Graph` draws it.

The package knows of the engine what a graph shows anyway (ops, their arguments, shapes, module
calls), and nothing in the engine knows of the package.
"""

from minigrad.viz.drawing.graph import Graph
from minigrad.viz.explanation.report import explain
from minigrad.viz.formula import Formula, formulas
from minigrad.viz.page.explorer import Page, explore
from minigrad.viz.record.build import graph
from minigrad.viz.record.comparison import Change, Difference, diff
from minigrad.viz.record.heatmap import Cells, Heatmap
from minigrad.viz.record.model import Edge, Group, Node, Saved
from minigrad.viz.record.steps import Part, Step, Summary
from minigrad.viz.record.tracing import Trace, trace

__all__ = [
    "Cells", "Change", "Difference", "Edge", "Formula", "Graph", "Group", "Heatmap", "Node",
    "Page", "Part", "Saved", "Step", "Summary", "Trace", "diff", "explain", "explore",
    "formulas", "graph", "trace",
]  # fmt: skip
