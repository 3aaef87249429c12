"""The explorer: a graph and its backward pass as one HTML file that needs nothing else.

The file holds a picture and a table, which show without a script, and the graph as data, from which
the script draws whatever is opened and walks through the steps. Nothing is loaded: a policy in the
file forbids it. Whatever a user named is escaped, here and again where the script writes it.
"""

import html
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from minigrad.debugging.memory import readable
from minigrad.viz.drawing import heatmap as grids
from minigrad.viz.drawing.colour_scale import BROKEN, Colour, dark, diverging
from minigrad.viz.drawing.style import DARK, LIGHT, STYLE
from minigrad.viz.drawing.svg import draw, legend_entries
from minigrad.viz.page.payload import payload
from minigrad.viz.page.walk import Stop, places
from minigrad.viz.record.fold import all_boxes, close, view
from minigrad.viz.record.heatmap import Heatmap
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.roles import residuals
from minigrad.viz.record.selection import Choice
from minigrad.viz.record.steps import Summary, final_gradients
from minigrad.viz.record.writing import counted, number_text, printable, size_text

SCRIPTS = (
    "data", "player", "pack", "elements", "draw", "visible", "gradients", "arrays", "values",
    "forward", "numbers", "worked", "whatif", "step", "box", "walk", "camera", "address", "search",
    "save", "listen", "explore",
)  # fmt: skip
"""In their order in the page: they share one scope."""

ACROSS = 2
"""The number of grids of a heatmap side by side."""

SHADES = 65
"""Of the scale of an array's heatmap."""

LARGE = 500
"""Of a graph with more ops, the picture and the table are read only where no script runs."""


def write_page(
    graph: Diagram,
    depth: int | None,
    title: str,
    start: str = "",
    open: Choice = (),
    walk: Sequence[Stop] = (),
) -> str:
    """Write the page of a graph; equal arguments give equal texts.

    `start` says where the backward pass begins, or why there is none; it is found out if empty. The
    other arguments are those of `explore`.
    """
    diagram, closed = view(graph, depth, open)
    if not start:
        first = next((f"the output of {step.op}" for step in graph.steps), "")
        start = first or "No backward pass was traced."
    still = "<noscript>{}</noscript>".format if len(graph.nodes) > LARGE else str
    fields = {
        "title": _text(title),
        "style": colours()
        + (STYLE + grids.STYLE).replace("@media", "@media screen and")
        + static("mathml.css")
        + static("explore.css"),
        "facts": _text(_facts(graph)),
        "picture": still(draw(close(diagram, closed)).replace(f"<style>{STYLE}</style>", "")),
        "guide": _guide(diagram, start),
        "table": still(_table(graph)),
        "data": payload(
            diagram,
            closed,
            residuals=sorted(residuals(diagram)),
            start=start,
            walk=places(diagram, walk),
            heatmaps=[*map(_heatmap, diagram.heatmaps)],
            scale=[*map(_hexadecimal, diverging(SHADES))],
            dark=[*map(dark, diverging(SHADES))],
            broken=_hexadecimal(BROKEN),
        ),
        "script": _script(),
    }
    # One pass over the template: a field that looks like another stays as it is.
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], static("page.html"))


@cache
def static(name: str) -> str:
    """The text of a file of the page."""
    return files("minigrad.viz").joinpath("page", "static", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The scripts as they are written, but for indentation and comments: 15 KB."""
    text = "\n".join(static(f"{name}.js") for name in SCRIPTS)
    parts = re.sub(r"^ *(//.*\n|/\*\*(?s:.*?)\*/\n|\n)|^ +", "", text, flags=re.M)
    return f'(async () => {{\n"use strict";\n{parts}}})();'


def colours(scope: str = ":root") -> str:
    """The colours of the picture as variables, on light and on dark ground; paper is light."""
    light, dark = (
        "".join(f"--{name.replace(' ', '-')}: {colour}; " for name, colour in palette.items())
        for palette in (LIGHT, DARK)
    )
    asked = "@media screen and (prefers-color-scheme: dark)"
    return f"{scope} {{ {light}}}\n{asked} {{ {scope} {{ {dark}}} }}\n"


def _hexadecimal(colour: Colour) -> str:
    """A colour as CSS has it."""
    return f"#{bytes(colour).hex()}"


def _heatmap(heatmap: Heatmap) -> dict[str, str | None]:
    """The pictures of a heatmap, for the box of its softmax."""

    def picture(gradients: bool) -> str:
        drawn = grids.draw_heatmap(heatmap, gradients, ACROSS)
        return drawn.replace(f"<style>{grids.STYLE}</style>", "")

    return {
        "node": heatmap.node,
        "weights": picture(False),
        "gradients": picture(True) if heatmap.gradients else None,
    }


def _facts(graph: Diagram) -> str:
    """The content of the graph, in a line."""
    counts = graph.counts()
    owned = [node for node in graph.nodes if node.kind == "parameter" and not node.again]
    size = sum(math.prod(node.shape) for node in owned)
    scalars = [
        f"{node.label} = {node.value.entries().item():.7g}"
        for node in graph.nodes
        if node.kind == "output" and node.value is not None and math.prod(node.shape) == 1
    ]
    parts = [
        *([text for text in scalars if "loss" in text] or scalars),
        counted(counts["op"], "op"),
        f"{counted(counts['parameter'], 'parameter')} of {counted(size, 'value')}" if size else "",
        counted(len(graph.steps), "backward step") if graph.steps else "no backward pass",
        f"{readable(kept)} kept for it" if (kept := graph.kept()[""]) else "",
    ]
    return " · ".join(part for part in parts if part)


def _guide(diagram: Diagram, start: str) -> str:
    """How to read the page, with the kinds of boxes that occur."""
    boxes = [*all_boxes(diagram).values()]
    samples = "".join(
        f'<svg class="minigrad-graph" width="27" height="15" viewBox="-.5 -.5 27 15" '
        f'aria-hidden="true">{sample}</svg><span>{name}</span>'
        for sample, name in legend_entries(boxes, bool(residuals(diagram)))
    )
    begins = f"It begins at {start}." if diagram.steps else start
    done = (
        f"The forward pass is done: {counted(diagram.counts()['op'], 'op')} ran, from the top down."
    )
    button = '<p><button class="primary" data-move="on">Take the first step →</button></p>'
    now = f"<p>{done} The backward pass begins.</p>{button}" if diagram.steps else f"<p>{done}</p>"
    fields = {"legend": samples, "start": _text(begins), "now": now}
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], static("guide.html"))


def _table(graph: Diagram) -> str:
    """Every box in a row: the same as the picture, for whoever does not see it."""
    groups = {group.id: group for group in graph.groups}
    labels = {node.id: node.label for node in graph.nodes}
    into = graph.into()
    came = final_gradients(graph.steps)
    gradients = {box: _size(gradient) for box, gradient in came.items()}
    rows = ""
    for node in graph.nodes:
        group = groups.get(node.group or "")
        cells = (
            node.kind, "" if group is None else group.place, size_text(node),
            ", ".join(dict.fromkeys(labels[edge.source] for edge in into[node.id])),
            gradients.get(node.id, ""),
        )  # fmt: skip
        rest = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        name = f'<th scope="row">{_text(node.label)}</th>'
        rows += f'<tr data-id="{_text(node.id)}">{name}{rest}</tr>'
    head = ("box", "kind", "in", "shape", "reads", "gradient")
    names = "".join(f'<th scope="col">{name}</th>' for name in head)
    return (
        "<table><caption>Every box, in the order of the forward pass.</caption>"
        f"<thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _size(gradient: Summary) -> str:
    """The norm of a gradient, or the number that it is."""
    number = gradient.scalar()
    size = f"{gradient.norm:.3g}" if number is None else number_text(number)
    return ", ".join([size, *gradient.remarks()])


def _text(text: str) -> str:
    return html.escape(printable(text))
