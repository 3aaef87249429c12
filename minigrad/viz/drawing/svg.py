"""A diagram as SVG text: nothing to install, nothing loaded, readable in light and in dark.

Kinds of boxes differ by shape and glyph first, by hue second. Whatever a user named is escaped on
its way into the text; everything has a tooltip, which says what does not fit into the picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from minigrad.viz.drawing.box import box, escape, heading, inside, text
from minigrad.viz.drawing.labels import (
    Line,
    contents,
    named_operands,
    operand_name,
    printable,
    shape_text,
)
from minigrad.viz.drawing.legend import Legend
from minigrad.viz.drawing.style import STYLE
from minigrad.viz.layout import Placement, Point, Skeleton, place, skeleton
from minigrad.viz.record.fold import closed_boxes, residuals
from minigrad.viz.record.model import Diagram, Edge, Group, Node

__all__ = ["draw", "insides"]

HEAD = 6
"""The length of the head of an arrow."""


def draw(diagram: Diagram, closed: Collection[str] = ()) -> str:
    """Draw a diagram as SVG.

    Args:
        diagram: What to draw, whole or collapsed.
        closed: The ids of groups to close, beside those that are closed in it.

    Returns:
        The text of one ``<svg>`` element: well-formed XML, and valid in HTML.

    Raises:
        ValueError: Two groups feed each other.
    """
    bones = skeleton(diagram)
    placement = place(bones, closed)
    nodes = {node.id: node for node in (*diagram.nodes, *closed_boxes(diagram).values())}
    shown = [nodes[item] for item in placement.boxes]
    drawn = insides(diagram, bones, shown)
    thick = residuals(diagram) & set(placement.edges)
    legend = Legend(shown, bool(thick), placement.width)
    width = max(placement.width, legend.width)
    height = placement.height + legend.height
    name = f"Compute graph: {_count(shown, placement)}"
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="minigrad-graph" role="group" '
        f'aria-label="{escape(name)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        f'<g transform="translate({(width - placement.width) // 2} 0)">',
        *_frames(diagram, placement),
        *_edges(diagram, placement, nodes, thick),
        *(f'<circle class="port" cx="{x}" cy="{y}" r="2.5"/>' for x, y in placement.ports),
        *(box(node, *placement.boxes[node.id][:2], drawn[node.id]) for node in shown),
        *_texts(bones, placement),
        "</g>",
        *legend.draw(placement.height),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _count(shown: list[Node], placement: Placement) -> str:
    """What a picture holds, in words."""
    kinds = Counter(node.kind for node in shown)
    parts = [f"{count} {kind}{'s' * (count > 1)}" for kind, count in kinds.items()]
    if placement.frames:
        parts.append(f"{len(placement.frames)} open module{'s' * (len(placement.frames) > 1)}")
    return ", ".join(parts)


def _frames(diagram: Diagram, placement: Placement) -> Iterator[str]:
    """The open groups, each before those inside it."""
    level: dict[str | None, int] = {None: 0}
    for group in diagram.groups:
        level[group.id] = level[group.parent] + 1
        if group.id not in placement.frames:
            continue
        x, y, width, height = placement.frames[group.id]
        left, top = placement.titles[group.id]
        odd = " odd" * (level[group.id] % 2)
        yield (
            f'<g class="frame{odd}" data-id="{escape(group.id)}" role="img" '
            f'aria-label="{escape(_group_label(group))}">'
            f"<title>{escape(_group_label(group))}</title>"
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
            f'<g transform="translate({left} {top})">{heading(group)}</g></g>'
        )


def _group_label(group: Group) -> str:
    if group.op is not None:
        return printable(f"what {group.name} computes")
    return printable(f"{group.path or 'the whole'}: {group.module}")


def _edges(
    diagram: Diagram, placement: Placement, nodes: Mapping[str, Node], thick: Collection[int]
) -> Iterator[str]:
    """The tensors; those that run together into a closed group are drawn once."""
    drawn = set()
    for index, points in placement.edges.items():
        if (key := (*points, index in thick)) in drawn:
            continue
        drawn.add(key)
        edge = diagram.edges[index]
        label = _edge_label(edge, nodes)
        (x, y), kind = points[-1], "edge residual" if index in thick else "edge"
        yield (
            f'<g class="{kind}" data-edge="{index}"><title>{escape(label)}</title>'
            f'<path class="line" d="{_path(points)}"/>'
            f'<path class="head" d="M{x} {y}l-4 {-HEAD - 1}h8z"/></g>'
        )


def _edge_label(edge: Edge, nodes: Mapping[str, Node]) -> str:
    name = f" as {edge.name}" if edge.name else ""
    ends = f"{nodes[edge.source].label} → {nodes[edge.target].label}{name}"
    return printable(f"{ends}: {shape_text(edge.shape)} {edge.dtype}")


def _path(points: list[Point]) -> str:
    """Straight down where x stays, in a bow where it does not; it ends within the arrow's head."""
    (x, y), *rest = points
    rest[-1] = rest[-1][0], rest[-1][1] - HEAD
    written = [f"M{x} {y}"]
    for right, down in rest:
        middle = (y + down) // 2
        bow = f"C{x} {middle} {right} {middle} {right} {down}"
        written.append(f"V{down}" if right == x else bow)
        x, y = right, down
    return "".join(written)


def insides(diagram: Diagram, bones: Skeleton, nodes: Iterable[Node]) -> dict[str, str]:
    """Draw all boxes, each from its own upper left corner.

    Args:
        diagram: The diagram that they are of.
        bones: Its layout.
        nodes: What the boxes stand for: nodes of it, or closed groups.

    Returns:
        Elements by the ids of the nodes.
    """
    nodes = list(nodes)
    named, written = named_operands(diagram), contents(diagram, nodes)
    sizes, ways = {}, {}  # of each operand, how far from the left of its box it comes in
    for scope in bones.scopes.values():
        for shown in filter(None, scope.items):
            sizes[shown.id] = shown.width, shown.height
        for line in scope.lines:
            target = scope.items[line.way[-1]]
            if target and target.id not in bones.scopes:
                ways[line.edges[0]] = target.width // 2 + line.into[0]
    return {
        node.id: inside(
            node,
            *sizes[node.id],
            written[node.id],
            [(ways[i], operand_name(diagram.edges[i])) for i in named.get(node.id, ())],
        )
        for node in nodes
    }


def _texts(bones: Skeleton, placement: Placement) -> Iterator[str]:
    """Shapes, beside the lines."""
    for tensor, x, y in placement.texts:
        yield text(x, y + 9, Line(bones.texts[tensor][0], "small"), "start")
