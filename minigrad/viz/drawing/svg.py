"""A diagram as SVG text: nothing to install, nothing loaded, readable in light and in dark.

Kinds of boxes differ by shape and glyph first, by hue second. Names that a user gave are escaped.
Everything has a tooltip with what does not fit into the picture.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from minigrad.viz.drawing.elements import escape, picture, text
from minigrad.viz.drawing.style import STYLE
from minigrad.viz.layout import Placement, Point, Skeleton, labels, place, skeleton
from minigrad.viz.record.fold import all_boxes
from minigrad.viz.record.model import Diagram, Group, Kind, Node
from minigrad.viz.record.roles import residuals
from minigrad.viz.record.writing import counted, printable, shape_text, size_text

HEAD = 6
"""The length of the head of an arrow."""

WIDTH, HEIGHT = 26, 14
"""Of a sample in the legend."""

ROW, SPACE, MARGIN = 22, 18, 16
"""The height of a row of the legend; between two entries; and at the sides."""

HEADLINE = 30
"""The height of the title of a picture."""

SHARPNESS = 1.2
"""Pixels for each unit of a drawing: the smallest text is 12 pixels high."""

LEAST = 320
"""A legend may be wider than its picture, up to this."""

NAMES: dict[Kind, str] = {
    "input": "input, output",
    "op": "op",
    "parameter": "parameter",
    "buffer": "buffer",
    "constant": "constant",
    "module": "closed module or function",
}


def draw(diagram: Diagram, title: str = "") -> str:
    """Draw a diagram as one ``<svg>`` element: well-formed XML, and valid in HTML."""
    layout = skeleton(diagram)
    placement = place(layout)
    nodes = all_boxes(diagram)
    shown = [nodes[item] for item in placement.boxes]
    drawn = insides(diagram, layout, shown)
    thick = residuals(diagram) & set(placement.edges)
    top = HEADLINE if title else 0
    least = max(placement.width, LEAST)
    explained, width, rows = _legend(
        legend_entries(shown, bool(thick)), least, top + placement.height
    )
    above = labels.shorten(title, 2 * labels.LONGEST)
    headline = labels.text_width(above, "title") + 2 * MARGIN * bool(title)
    width = max(placement.width, width, headline)
    height = top + placement.height + rows
    functions = {group.id for group in diagram.groups if group.function}
    kinds = Counter("function" if node.id in functions else str(node.kind) for node in shown)
    kinds["open function"] = len(functions & placement.frames.keys())
    kinds["open module"] = len(placement.frames) - kinds["open function"]
    count = ", ".join(counted(n, kind) for kind, n in kinds.items() if n)
    parts = [
        text(width // 2, top - 6, above, "title"),
        f'<g transform="translate({(width - placement.width) // 2} {top})">',
        *_frames(diagram, placement),
        *_edges(diagram, placement, nodes, thick),
        *(f'<circle class="port" cx="{x}" cy="{y}" r="2.5"/>' for x, y in placement.ports),
        *(_box(node, *placement.boxes[node.id][:2], drawn[node.id]) for node in shown),
        *(  # shapes, beside the lines
            text(x, y + 9, layout.texts[tensor][0], "small start")
            for tensor, x, y in placement.texts
        ),
        "</g>",
        *explained,
    ]
    label = f"{title or 'Compute graph'}: {count}"
    return picture(
        "minigrad-graph", label, (width, height), STYLE, parts, role="group", scale=SHARPNESS
    )


def _frames(diagram: Diagram, placement: Placement) -> Iterator[str]:
    """The open groups, each before those inside it."""
    for around in list(diagram.enclosing().values())[1:]:
        group = around[0]
        if group.id not in placement.frames:
            continue
        (x, y, width, height), (left, top) = placement.frames[group.id], placement.titles[group.id]
        label = escape(group.title)
        yield (
            f'<g class="frame{" odd" * (len(around) % 2)}" data-id="{escape(group.id)}" '
            f'role="img" aria-label="{label}"><title>{label}</title>'
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
            f'<g transform="translate({left} {top})">{heading(group)}</g></g>'
        )


def heading(group: Group) -> str:
    """Draw the title of an open group, from its upper left corner."""
    name, kind, size = labels.title_of(group)
    spans = f'<tspan class="bold">{escape(name.text)}</tspan>'
    if kind.text:
        spans += f' <tspan class="small">{escape(kind.text)}</tspan>'
    return f'<text class="start" x="0" y="12">{spans}</text>{_text(0, 25, size, "start")}'


def _edges(
    diagram: Diagram, placement: Placement, nodes: Mapping[str, Node], thick: Collection[int]
) -> Iterator[str]:
    """The tensors."""
    for index, points in placement.edges.items():
        edge = diagram.edges[index]
        ends = f"{nodes[edge.source].label} → {nodes[edge.target].label}"
        name = f" as {edge.name}" if edge.name else ""
        label = f"{ends}{name}: {size_text(edge)} {edge.dtype}"
        (x, y), kind = points[-1], "edge residual" if index in thick else "edge"
        yield (
            f'<g class="{kind}" data-edge="{index}"><title>{escape(label)}</title>'
            f'<path class="line" d="{_path(points)}"/>'
            f'<path class="head" d="M{x} {y}l-4 {-HEAD - 1}h8z"/></g>'
        )


def _path(points: list[Point]) -> str:
    """Straight down where x stays, in a bow where not; it ends within the arrow's head."""
    *rest, (end, foot) = points
    written = ["M{} {}".format(*points[0])]
    for (x, y), (right, down) in pairwise([*rest, (end, foot - HEAD)]):
        bow = f"C{x} {(y + down) // 2} {right} {(y + down) // 2} {right} {down}"
        written.append(f"V{down}" if x == right else bow)
    return "".join(written)


# Boxes ------------------------------------------------------------------------------------------


def insides(diagram: Diagram, layout: Skeleton, nodes: Collection[Node]) -> dict[str, str]:
    """Draw the shapes and texts of boxes, each from its own upper left corner, by their ids.

    `nodes` are the items behind the boxes: nodes of the diagram, or closed groups.
    """
    written = labels.contents(diagram, nodes)
    sizes: dict[str, tuple[int, int]] = {}
    ways: dict[int, int] = {}  # how far along its box each operand comes in, by its edge
    for scope in layout.scopes.values():
        sizes |= {shown.id: (shown.width, shown.height) for shown in scope.items}
        for line in scope.lines:
            target = scope.items[line.way[-1]]
            if target.id == diagram.edges[line.edges[0]].target:
                ways[line.edges[0]] = target.width // 2 + line.into[0]
    return {
        node.id: _inside(
            node, *sizes[node.id], written[node.id],
            [(ways[edge], name) for edge, name in written[node.id].slots.items() if edge in ways],
        )
        for node in nodes
    }  # fmt: skip


def _box(node: Node, left: int, top: int, inside: str) -> str:
    kinds = [node.kind, *["unrecorded"] * (not node.recorded), *["error"] * bool(node.error)]
    name = f"{node.kind} {node.label}, {size_text(node)}"
    return (
        f'<g class="box {" ".join(kinds)}" data-id="{escape(node.id)}" role="img" '
        f'aria-label="{escape(name)}" transform="translate({left} {top})">'
        f"<title>{escape(_tooltip(node))}</title>{inside}</g>"
    )


def _inside(
    node: Node, width: int, height: int, content: labels.Content, slots: Sequence[tuple[int, str]]
) -> str:
    """The content of a box; `slots` are its operands' names, and their places along its side."""
    parts = _outline(node.kind, width, height)
    if node.saved:
        parts.append(f'<rect class="saved" x="8" y="{height - 4}" width="10" height="7"/>')
    parts += [text(at, 11, name, "small slot") for at, name in slots]
    lines = sum(labels.LEADING[line.style] for line in content.lines)
    base, middle = (height - lines + labels.SLOTS * bool(slots)) // 2, width // 2
    for index, line in enumerate(content.lines):
        base += labels.LEADING[line.style]
        if index or not content.glyph:
            parts.append(_text(middle, base - 4, line))
            continue
        left = middle - (labels.GLYPH + int(0.9 * labels.text_width(line.text, line.style))) // 2
        glyph = text(left - 2, base - 4, content.glyph, "bold start glyph")
        parts.append(_sign(left, base - 13) if content.glyph == "⊞" else glyph)
        parts.append(_text(left + labels.GLYPH, base - 4, line, "start"))
    return "".join(parts)


def _tooltip(node: Node) -> str:
    """All that is known of a node, one thing a line."""
    parts = [
        f"{node.kind} {node.label}".rstrip(),
        f"{size_text(node)} {node.dtype}".rstrip(),
        *node.notes,
        node.line,
        "" if node.recorded else "not recorded: no gradient passes here",
        *(
            f"keeps {saved.name} {shape_text(saved.shape)} {saved.dtype}, "
            + (f"{saved.most:,} bytes" if saved.most else "no bytes more")
            for saved in node.saved
        ),
        node.error,
    ]
    return "\n".join(printable(part) for part in parts if part)


def _outline(kind: Kind, width: int, height: int) -> list[str]:
    """The shape that says what kind of box it is; it starts at the origin."""
    if kind in ("input", "output"):
        points = f"{labels.SLANT},0 {width},0 {width - labels.SLANT},{height} 0,{height}"
        return [f'<polygon class="shape" points="{points}"/>']
    radius = {"op": 7, "parameter": height // 2, "buffer": height // 2}.get(kind, 1)
    parts = [f'<rect class="shape" width="{width}" height="{height}" rx="{radius}"/>']
    if kind == "module":
        inner = f'x="3" y="3" width="{width - 6}" height="{height - 6}"'
        parts.append(f'<rect class="inner" {inner}/>')
    return parts


def _sign(x: int, y: int) -> str:
    """A plus in a square: there is something inside. Not every font has it as a letter."""
    return f'<path class="sign" d="M{x}.5 {y}.5h9v9h-9zm2 4.5h5m-2.5 -2.5v5"/>'


def _text(x: int, y: int, line: labels.Line, kind: str = "") -> str:
    """A line of text in its style."""
    return text(x, y, line.text, f"{line.style} {kind}".removeprefix("name").strip())


# The legend -------------------------------------------------------------------------------------


def _legend(entries: Iterable[tuple[str, str]], width: int, top: int) -> tuple[list[str], int, int]:
    """A legend in rows: of each entry a sample, and what it means.

    It returns the elements, and the width and the height that they need.
    """
    widest, x, row = 0, MARGIN, 0
    parts = ['<g class="legend" role="img" aria-label="Legend">']
    for sample, meaning in entries:
        end = x + WIDTH + 6 + labels.text_width(meaning, "small")
        if end + MARGIN > width and x > MARGIN:
            x, row, end = MARGIN, row + 1, end - x + MARGIN
        parts.append(f'<g transform="translate({x} {top + row * ROW})">{sample}')
        parts.append(f"{text(WIDTH + 6, 11, meaning, 'small start')}</g>")
        widest = max(widest, end + MARGIN)
        x = end + SPACE
    return [*parts, "</g>"], widest, (row + 1) * ROW + MARGIN // 2


def legend_entries(shown: Sequence[Node], residual: bool) -> list[tuple[str, str]]:
    """A sample and a name for every kind of box that occurs, and for residuals."""
    kinds = {"input" if node.kind == "output" else node.kind for node in shown}
    saved = '<rect class="saved" x="9" y="3" width="8" height="7"/>'
    line = f'<g class="residual"><path class="line" d="M0 7h{WIDTH}"/></g>'
    entries = [(kind in kinds, _sample(kind), name) for kind, name in NAMES.items()]
    entries += [
        (not all(node.recorded for node in shown), _sample("op", "unrecorded"), "not recorded"),
        (any(node.error for node in shown), _sample("op", "error"), "error"),
        (any(node.saved for node in shown), saved, "keeps arrays for the backward pass"),
        (residual, line, "residual"),
    ]
    return [(sample, name) for occurs, sample, name in entries if occurs]


def _sample(kind: Kind, *more: str) -> str:
    parts = _outline(kind, WIDTH, HEIGHT)
    if glyph := labels.GLYPHS.get(kind):
        parts.append(_sign(8, 2) if glyph == "⊞" else text(13, 11, glyph, "bold small glyph"))
    return f'<g class="box {" ".join((kind, *more))}">{"".join(parts)}</g>'
