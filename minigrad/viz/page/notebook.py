"""How tensors and what watched a run show themselves in a notebook.

To the text are added a picture of a small graph, or charts. Nothing is run, and no program is
needed.
"""

import html
from itertools import islice
from typing import Any

from minigrad.autograd.mutation import history
from minigrad.autograd.node import Node, node_of, nodes_behind
from minigrad.debugging.profiler import Profile
from minigrad.debugging.training_statistics import Statistics
from minigrad.tensors.tensor import Tensor
from minigrad.viz.drawing import curves
from minigrad.viz.page.charts import inline
from minigrad.viz.record.build import graph

MOST_BOXES = 40
"""A tensor whose graph is larger shows itself as text only: `minigrad.viz.graph` draws it."""


def mimebundle(value: Any) -> dict[str, str]:
    """Show a value, by media type, for a notebook to choose from.

    There is always plain text; as HTML also for a tensor with a small graph its picture, for a
    Profile its charts and for Statistics their curves.
    """
    text = {"text/plain": repr(value)}
    if isinstance(value, Statistics):
        return curves.shown(value) | text
    if isinstance(value, Profile):
        return {"text/html": inline(value)} | text
    node = node_of(history(value)) if isinstance(value, Tensor) else None
    behind = [*islice(nodes_behind(node), MOST_BOXES + 1)]
    if isinstance(node, Node) and len(behind) <= MOST_BOXES:
        drawing = graph(value)
        if len(drawing.nodes) <= MOST_BOXES:
            page = f"<pre>{html.escape(repr(value))}</pre>{drawing._repr_svg_() or ''}"
            return {"text/html": page} | text
    return text
