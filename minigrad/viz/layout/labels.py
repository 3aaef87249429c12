"""The text in a box, line by line, and how much room it takes.

The width of a text is estimated from its letters, since each reader has another font. The estimate
is that of a wide font, so that text stays within its box.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from minigrad.viz.record.model import LEAVES, Diagram, Edge, Group, Node
from minigrad.viz.record.repeats import bundles
from minigrad.viz.record.steps import Summary, final_gradients
from minigrad.viz.record.writing import number_text, printable, size_text

Style = Literal["name", "bold", "small", "data", "title"]

SIZES: dict[Style, int] = {"name": 12, "bold": 12, "small": 10, "data": 11, "title": 18}
"""The size of the type of each style."""

LEADING: dict[Style, int] = {"name": 16, "bold": 16, "small": 13, "data": 15, "title": 34}
"""From one line to the next."""

GLYPH, SLANT, SLOTS = 15, 8, 12
"""The room for a glyph, for a slanted side, and for a row of operands."""

SIDE, END = 10, 6
"""The free space at the sides of a text, and above and below it."""

LONGEST = 36
"""Longer texts lose their middle; the whole of them is in the tooltip."""

FEW = 4
"""So many values of a constant are written instead of its name, that of an argument."""

COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum"})
"""Ops whose operands need no names."""

GLYPHS = {"parameter": "W", "buffer": "B", "module": "⊞"}
"""The signs that tell kinds of boxes apart beside their shapes."""

NARROW, WIDE = frozenset(" .,:;'|!`\"ijltfrI()[]{}/\\-"), frozenset("mwMW@%×…→")


class Line(NamedTuple):
    """A line of text in a box."""

    text: str
    style: Style


class Content(NamedTuple):
    """All the text in a box."""

    glyph: str  # the sign of its kind, in front of the first bold line or name; may be empty
    lines: tuple[Line, ...]  # the lines, from the top
    # The names of its operands, in a row above the lines, if they need names: by their edges
    slots: Mapping[int, str]


def contents(diagram: Diagram, nodes: Iterable[Node]) -> dict[str, Content]:
    """Write the texts of boxes, by their ids; very long texts are shortened.

    `nodes` are the items behind the boxes: nodes of the diagram, or closed groups.
    """
    groups = {group.id: group for group in diagram.groups}
    named, arguments = named_operands(diagram), {(e.source, e.name) for e in diagram.edges}
    gradients = final_gradients(diagram.steps)
    found = {}
    for node in nodes:
        notes = ["causal mask" if note == "causal = True" else note for note in node.notes]
        small = [*notes, f"✕ {node.error}" if node.error else ""]
        lower = [Line(shorten(text), "small") for text in small if text]
        number = Line(scalar_text(node, gradients.get(node.id)), "data")
        first, *rest = _headings(node, groups.get(node.group or ""), groups.get(node.id))
        rest = [number] if number.text and node.kind != "op" else rest
        if node.kind == "constant" and (node.id, node.label) in arguments:
            first, rest = _constant(node, first), [line for line in rest if line is not number]
        lower += [number] * (bool(number.text) and node.kind == "op")
        found[node.id] = Content(
            GLYPHS.get(node.kind, ""), (first, *rest, *lower), named.get(node.id, {})
        )
    return found


def scalar_text(node: Node, gradient: Summary | None = None) -> str:
    """Write the value of a number and its gradient, as micrograd does; nothing of an array."""
    value = None if node.value is None or node.kind == "module" else node.value.scalar()
    if value is None:
        return ""
    if gradient is None:
        gradient = node.grads[-1].value if node.grads else None
    slope = None if gradient is None or node.kind == "output" else gradient.scalar()
    told = "" if slope is None else f" | grad {number_text(slope)}"
    return f"data {number_text(value)}{told}"


def _headings(node: Node, around: Group | None, own: Group | None) -> list[Line]:
    """The name of a box, and what it is: a shape, or a closed module's class and call."""
    if node.kind == "op":
        return [Line(shorten(node.label), "name")]
    if node.kind == "module":
        kind = own.module if own is not None else ""
        small = shorten(" ".join([kind] * bool(node.label) + _call(own)))
        return [Line(shorten(node.label or kind), "bold"), *[Line(small, "small")] * bool(small)]
    prefix = f"{around.path}." if around is not None and around.path else ""
    name, shape = shorten(node.label.removeprefix(prefix)), Line(size_text(node), "small")
    if node.kind == "constant":
        return [Line(name, "small"), *[shape] * bool(node.shape)]
    return [Line(name, "bold"), shape]


def _constant(node: Node, name: Line) -> Line:
    """The values of a constant, which has no name but that of an argument, if they are few."""
    known = node.value.values if node.value is not None else None
    if not known or len(known) > FEW or node.dtype == "bool":
        return name
    return Line(shorten(", ".join(map(number_text, known))), "small")


def title_of(group: Group) -> tuple[Line, Line, Line]:
    """Write the title of an open group: name, class and call, number of parameters.

    All but the name may be empty.
    """
    kind = [group.module] * bool(group.name and group.module)
    size = f"{group.samples:,} samples" if group.samples else ""
    return (
        Line(shorten(group.name or group.module), "bold"),
        Line(shorten(" ".join(kind + _call(group))), "small"),
        Line(f"{group.size:,} parameters" if group.size else size, "small"),
    )


def _call(group: Group | None) -> list[str]:
    """Which call it is, of a module that is called more than once."""
    return [] if group is None or group.calls == 1 else [f"call {group.call}/{group.calls}"]


def named_operands(diagram: Diagram) -> dict[str, dict[int, str]]:
    """Name the operands of ops whose order matters, if one of them is not the first.

    For each of these ops, the positions in ``diagram.edges`` of its operands, in order, and their
    names. Of edges that are drawn as one there is the first.
    """
    nodes, together = {node.id: node for node in diagram.nodes}, bundles(diagram)
    into: dict[str, list[int]] = defaultdict(list)
    for index, edge in enumerate(diagram.edges):
        if index not in together or together[index].first == index:
            into[edge.target].append(index)

    def unnamed(edge: Edge) -> bool:
        """Whether a name would tell more than the source, which may have the same one."""
        source = nodes[edge.source]
        owned = source.kind in LEAVES
        return bool(edge.name) and not (owned and source.label.rpartition(".")[2] == edge.name)

    found: dict[str, dict[int, str]] = {}
    for target, edges in into.items():
        if nodes[target].kind == "op" and nodes[target].label not in COMMUTATIVE:
            count = sum(unnamed(diagram.edges[index]) for index in edges)
            if count > 1 or (count and diagram.edges[edges[0]].slot):
                names = (together.get(index, diagram.edges[index]).name for index in edges)
                found[target] = dict(zip(edges, map(operand_name, names), strict=True))
    return found


def operand_name(name: str) -> str:
    """Shorten the name of an argument: ``tensors[2]`` is known as ``2``."""
    return "mask" if name == "keep" else shorten(name.rpartition("[")[2].rstrip("]"))


def tensor_texts(diagram: Diagram) -> dict[str, str]:
    """Write what leaves each box that computes something: shapes, and dtypes that are unusual."""
    computed = {
        node.id for node in diagram.nodes if node.kind in ("op", "module") and not scalar_text(node)
    }
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for edge in diagram.edges:
        if edge.source in computed:
            dtype = "" if edge.dtype == diagram.dtype else f" {edge.dtype}"
            texts[edge.source][size_text(edge) + dtype] = None
    return {source: shorten(" · ".join(parts)) for source, parts in texts.items()}


def shorten(text: str, longest: int = LONGEST) -> str:
    """Make a text printable, and take out the middle of a long one."""
    text = printable(text)
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[-longest // 2 + 1 :]}"


def text_width(text: str, style: Style) -> int:
    """Estimate how wide a line of text is, in units of the drawing, rounded up."""
    hundredths = sum(  # of an em; whole numbers, since Python 3.12 rounds sums of floats otherwise
        105 if ord(c) > 0x2E80
        else 42 if c in NARROW
        else 97 if c in WIDE
        else 70 if c.isupper()
        else 63
        for c in text
    )  # fmt: skip
    percent = 115 if style in ("bold", "title") else 100
    return math.ceil(hundredths * SIZES[style] * percent / 10_000)


def box_size(node: Node, written: Content) -> tuple[int, int]:
    """Width and height of a box, both even, so that the middle is a whole number."""
    widths = [text_width(line.text, line.style) for line in written.lines]
    if written.glyph:
        widths[0] += GLYPH
    sides = SIDE + (SLANT if node.kind in ("input", "output") else 0)
    ends = END - (2 if node.kind == "constant" else 0)
    width = max(*widths, 16) + 2 * sides
    height = sum(LEADING[line.style] for line in written.lines) + 2 * ends
    if cell := max((text_width(slot, "small") + 8 for slot in written.slots.values()), default=0):
        width, height = max(width, cell * len(written.slots)), height + SLOTS
    return _even(width), _even(height)


def _even(size: int) -> int:
    return size + size % 2
