"""A diagram as a `graphviz.Digraph`.

Kinds of boxes differ by shape and glyph first, by hue second. Names that a user gave are escaped.
"""

import graphviz

from minigrad.viz.drawing.style import LIGHT
from minigrad.viz.layout import labels
from minigrad.viz.record.model import Diagram, Group, Kind, Node
from minigrad.viz.record.roles import residuals
from minigrad.viz.record.writing import printable, size_text

OP, PARAMETER, NEUTRAL, FAINT = LIGHT["op"], LIGHT["parameter"], LIGHT["text"], LIGHT["faint"]
LINE, OUTLINE, GREY = LIGHT["line"], LIGHT["outline"], LIGHT["plain fill"]
FONT = "Helvetica,Arial,sans-serif"
GROUNDS = (LIGHT["ground"], LIGHT["page"])
"""The backgrounds of modules, by turns."""

PAGE = {
    "fontname": FONT, "fontsize": "9", "fontcolor": FAINT, "labeljust": "l", "bgcolor": "white",
    "pad": "0.15", "nodesep": "0.25", "ranksep": "0.3",
}  # fmt: skip
BOX = {"fontname": FONT, "fontsize": "11", "fontcolor": NEUTRAL, "color": NEUTRAL}
ARROW = {"fontname": FONT, "fontsize": "9", "fontcolor": FAINT, "color": LINE, "arrowsize": "0.6"}
STRAIGHT = {"weight": "10"}
RESIDUAL = {"penwidth": "2.2", "color": LIGHT["residual"], "arrowsize": "0.45", "weight": "1"}
CLUSTER = {
    "labeljust": "l", "style": "rounded,filled", "color": LINE, "penwidth": "0.6",
    "fontcolor": NEUTRAL, "fontsize": "10",
}  # fmt: skip
SLANTED = {
    "shape": "polygon", "sides": "4", "skew": "0.2", "margin": "0", "style": "filled",
    "color": OUTLINE, "fillcolor": GREY,
}  # fmt: skip
ROUNDED, PLAIN = {"shape": "box", "style": "rounded,filled"}, {"shape": "box", "style": "filled"}
COMPUTED = dict(ROUNDED, color=OP, fillcolor=LIGHT["op fill"])
OWNED = dict(ROUNDED, color=PARAMETER, fillcolor=LIGHT["parameter fill"])
STYLES: dict[Kind, dict[str, str]] = {
    "op": COMPUTED,
    "parameter": dict(OWNED, penwidth="2"),
    "buffer": OWNED,
    "input": SLANTED,
    "output": SLANTED,
    "constant": dict(PLAIN, color=LINE, fillcolor=GREY, margin="0.06,0.03"),
    "module": dict(PLAIN, peripheries="2", color=OUTLINE, fillcolor=LIGHT["page"]),
}
FAILED = {"color": LIGHT["error"], "penwidth": "2"}
UNRECORDED = {"style": "rounded,filled,dashed", "color": FAINT, "fillcolor": GREY}
LEGEND: dict[Kind, str] = {
    "op": "rounded: op",
    "parameter": "thick, W: parameter",
    "buffer": "rounded, B: buffer",
    "input": "slanted: input, output",
    "constant": "small: constant",
    "module": "double, ⊞: closed module",
}


def digraph(diagram: Diagram) -> graphviz.Digraph:
    """Draw all of a diagram as DOT; ``.source`` is the text."""
    kinds = {node.kind for node in diagram.nodes}
    legend = " · ".join(text for kind, text in LEGEND.items() if kind in kinds)
    dot = graphviz.Digraph(graph_attr={**PAGE, "label": legend}, node_attr=BOX, edge_attr=ARROW)
    _draw_boxes(dot, diagram)
    thick, texts = residuals(diagram), labels.tensor_texts(diagram)
    named = labels.named_operands(diagram)
    for index, edge in enumerate(diagram.edges):
        style = dict(RESIDUAL if index in thick else STRAIGHT)
        if edge.source in texts:
            style["label"] = _text(f" {texts[edge.source]} ")
        if operand := named.get(edge.target, {}).get(index):
            style |= {"headlabel": _text(operand), "labeldistance": "1.8"}
        dot.edge(edge.source, edge.target, **style)
    return dot


def _draw_boxes(dot: graphviz.Digraph, diagram: Diagram) -> None:
    """Put every box into the cluster of its module, and the clusters into each other."""
    closed = {node.id for node in diagram.nodes}
    written = labels.contents(diagram, diagram.nodes)
    bodies: dict[str | None, graphviz.Digraph] = {None: dot}
    enclosing = diagram.enclosing()
    opened = [group for group in diagram.groups if group.id not in closed]
    for group in opened:
        style = _cluster(group, GROUNDS[(len(enclosing[group.id]) - 1) % len(GROUNDS)])
        bodies[group.id] = graphviz.Digraph(f"cluster_{group.id}", graph_attr=style)
    for node in diagram.nodes:
        bodies[node.group].node(node.id, **_box(node, written[node.id]))
    # The deepest first: each body is whole when it is put in place.
    for group in sorted(opened, key=lambda group: -len(enclosing[group.id])):
        bodies[group.parent].subgraph(bodies[group.id])


def _box(node: Node, written: labels.Content) -> dict[str, str]:
    """The look of a box."""
    style = STYLES[node.kind] | ({} if node.recorded else UNRECORDED)
    first, *rest = (line.text for line in written.lines)
    tooltip = f"{node.kind} {node.label} {size_text(node)} {node.dtype}"
    return style | (FAILED if node.error else {}) | {
        "label": _text(f"{written.glyph} {first}".strip(), *rest), "tooltip": _text(tooltip)
    }  # fmt: skip


def _cluster(group: Group, ground: str) -> dict[str, str]:
    """The look of an open group."""
    name, kind, size = (line.text for line in labels.title_of(group))
    label = _text(f"{name} {kind}".strip(), *[size] * bool(size), "", end=r"\l")
    return {**CLUSTER, "label": label, "fillcolor": ground, "tooltip": _text(group.title)}


def _text(*lines: str, end: str = r"\n") -> str:
    """Escape the lines of a label, in which Graphviz reads backslashes and entities."""
    safe = (graphviz.escape(printable(line).replace("&", "&amp;")) for line in lines)
    escaped: str = graphviz.nohtml(end.join(safe))
    return escaped
