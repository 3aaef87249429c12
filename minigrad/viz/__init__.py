"""Compute graphs to look at: functions make them from the engine's record, `Graph` draws them.

Its rooms, in the order of the work: `record` (what ran, as data, and folded), `layout`, `drawing`
(SVG, DOT, text), `formula`, `explanation` and `page`. Nothing in the engine imports this package.
"""

from minigrad.viz.drawing.attention import AttentionMaps, attention
from minigrad.viz.explanation.report import Explanation, explain
from minigrad.viz.formula import Formula, formulas
from minigrad.viz.page import walks
from minigrad.viz.page.charts import charts
from minigrad.viz.page.explorer import Page, explore
from minigrad.viz.page.walk import Stop
from minigrad.viz.record.attention import AttentionMap
from minigrad.viz.record.build import graph
from minigrad.viz.record.graph import Graph
from minigrad.viz.record.heatmap import Heatmap
from minigrad.viz.record.held import Held
from minigrad.viz.record.model import Edge, Group, Node, Saved
from minigrad.viz.record.ranks import all_ranks
from minigrad.viz.record.steps import Part, Step, Summary
from minigrad.viz.record.tracing import Trace, trace

__all__ = [  # noqa: RUF022 (functions first, then what they return)
    "all_ranks", "attention", "charts", "explain", "explore", "formulas", "graph",
    "trace", "walks",
    "AttentionMap", "AttentionMaps", "Edge", "Explanation", "Formula",
    "Graph", "Group", "Heatmap", "Held", "Node", "Page", "Part", "Saved",
    "Step", "Stop", "Summary", "Trace",
]  # fmt: skip
