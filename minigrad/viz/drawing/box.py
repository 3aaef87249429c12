"""One box of a picture: its shape, what stands in it, and its tooltip."""

from __future__ import annotations

import html
from collections.abc import Sequence

from minigrad.viz.drawing.labels import (
    GLYPH,
    LEADING,
    SLANT,
    SLOTS,
    Content,
    Line,
    printable,
    shape_text,
    text_width,
    title,
)
from minigrad.viz.record.model import Group, Kind, Node

__all__ = ["box", "escape", "heading", "inside", "outline", "sign", "text"]


def box(node: Node, left: int, top: int, drawn: str) -> str:
    """Draw a box.

    Args:
        node: What it stands for.
        left: Where its left edge is.
        top: Where its upper edge is.
        drawn: What `inside` drew.

    Returns:
        One element.
    """
    kinds = [node.kind, *["unrecorded"] * (not node.recorded), *["error"] * bool(node.error)]
    return (
        f'<g class="box {" ".join(kinds)}" data-id="{escape(node.id)}" role="img" '
        f'aria-label="{escape(_name(node))}" transform="translate({left} {top})">'
        f"<title>{escape(_tooltip(node))}</title>{drawn}</g>"
    )


def inside(
    node: Node, width: int, height: int, content: Content, slots: Sequence[tuple[int, str]] = ()
) -> str:
    """Draw the shape of a box and what stands in it, from its upper left corner.

    Args:
        node: What it stands for.
        width: Its width.
        height: Its height.
        content: What stands in it.
        slots: The names of its operands, and how far from the left they come in.

    Returns:
        Elements.
    """
    parts = outline(node.kind, width, height)
    if node.saved:
        parts.append(f'<rect class="saved" x="8" y="{height - 4}" width="10" height="7"/>')
    parts += [text(right, 11, Line(name, "small"), "slot") for right, name in slots]
    lines = sum(LEADING[line.style] for line in content.lines)
    base = (height - lines + SLOTS * bool(slots)) // 2
    for index, line in enumerate(content.lines):
        middle = width // 2
        foot = base + LEADING[line.style] - 4
        if index == 0 and content.glyph:
            left = middle - (GLYPH + int(0.9 * text_width(line.text, line.style))) // 2
            if content.glyph == "⊞":
                parts.append(sign(left, foot - 9))
            else:
                parts.append(text(left - 2, foot, Line(content.glyph, "bold"), "start glyph"))
            parts.append(text(left + GLYPH, foot, line, "start"))
        else:
            parts.append(text(middle, foot, line))
        base += LEADING[line.style]
    return "".join(parts)


def heading(group: Group) -> str:
    """Draw the title of an open group, from its upper left corner.

    Args:
        group: The group.

    Returns:
        Elements.
    """
    name, kind, size = title(group)
    spans = f'<tspan class="bold">{escape(name.text)}</tspan>'
    if kind.text:
        spans += f' <tspan class="small">{escape(kind.text)}</tspan>'
    return f'<text class="start" x="0" y="12">{spans}</text>{text(0, 25, size, "start")}'


def outline(kind: Kind, width: int, height: int) -> list[str]:
    """Draw the shape that says what kind of box it is.

    Args:
        kind: The kind.
        width: Its width.
        height: Its height.

    Returns:
        Elements that start at the origin.
    """
    if kind in ("input", "output"):
        points = f"{SLANT},0 {width},0 {width - SLANT},{height} 0,{height}"
        return [f'<polygon class="shape" points="{points}"/>']
    round_ = {"op": 7, "fused": 7, "parameter": height // 2, "buffer": height // 2}.get(kind, 1)
    size = f'width="{width}" height="{height}" rx="{round_}"'
    parts = [f'<rect class="shape" {size}/>']
    if kind == "module":
        inner = f'x="3" y="3" width="{width - 6}" height="{height - 6}"'
        parts.append(f'<rect class="inner" {inner}/>')
    return parts


def sign(x: int, y: int) -> str:
    """Draw a plus in a square: there is something inside. Not every font has it as a letter."""
    return f'<path class="sign" d="M{x}.5 {y}.5h9v9h-9zm2 4.5h5m-2.5 -2.5v5"/>'


def text(x: int, y: int, line: Line, kind: str = "") -> str:
    """Write a line of text.

    Args:
        x: Its middle, or its left end if `kind` has ``start``.
        y: Its foot.
        line: What it says, in which style.
        kind: More classes.

    Returns:
        One element, or nothing for an empty line.
    """
    classes = " ".join(name for name in (line.style, kind) if name and name != "name")
    named = f' class="{classes}"' if classes else ""
    return f'<text{named} x="{x}" y="{y}">{escape(line.text)}</text>' if line.text else ""


def escape(text: str) -> str:
    """Make a text safe within an element and an attribute; it stays one line, but for tooltips."""
    if not text.isprintable():
        text = "\n".join(printable(line) for line in text.split("\n"))
    return html.escape(text)


def _name(node: Node) -> str:
    return f"{node.kind} {printable(node.label)}, {shape_text(node.shape)}"


def _tooltip(node: Node) -> str:
    """All that is known of a node, one thing a line."""
    parts = [
        f"{node.kind} {printable(node.label)}".rstrip(),
        f"{shape_text(node.shape)} {node.dtype}".rstrip(),
        *map(printable, node.notes),
        printable(node.line),
        "" if node.recorded else "not recorded: no gradient passes here",
        *(
            f"keeps {printable(saved.name)} {shape_text(saved.shape)} {saved.dtype}, "
            f"{saved.nbytes:,} bytes"
            for saved in node.saved
        ),
        printable(node.error),
    ]
    return "\n".join(part for part in parts if part)
