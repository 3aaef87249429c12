"""What the explorer page knows: a graph, its layout, its steps and the reasons for them, as JSON.

Graphs repeat themselves: names, shapes, whole boxes. So each value stands once.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from minigrad.viz.drawing.labels import cost
from minigrad.viz.drawing.svg import heading, insides
from minigrad.viz.explanation.explanations import explain_saved, source_lines, step_notes
from minigrad.viz.explanation.missing_gradients import missing_gradients
from minigrad.viz.explanation.report import formula_of
from minigrad.viz.layout import skeleton
from minigrad.viz.record.fold import closed_boxes
from minigrad.viz.record.model import Diagram, Edge, Group, Node
from minigrad.viz.record.steps import Summary

__all__ = ["payload"]


def payload(diagram: Diagram, closed: Collection[str], **more: Any) -> str:
    """Write all that the page needs, and `more` as it is, as JSON that can stand within HTML.

    `closed` are the ids of the groups that are closed at first. Equal graphs give equal texts.
    """
    steps = {step.node: step for step in diagram.steps}
    missing = missing_gradients(diagram)
    boxes = closed_boxes(diagram)
    fused = {group.id for group in diagram.groups if group.op is not None}
    layout = skeleton(diagram)
    drawn = insides(diagram, layout, [*diagram.nodes, *boxes.values()])

    def box(node: Node) -> dict[str, Any]:
        op = node.kind in ("op", "fused") and node.group not in fused
        kept = explain_saved(node, steps.get(node.id)) if op else ()
        return _read(node) | {
            "drawn": drawn[node.id], "missing": missing.get(node.id, ""), "kept": kept,
            "cost": cost(node), "around": source_lines(node.line),
        }  # fmt: skip

    def about(group: Group) -> dict[str, Any]:
        return _read(group) | {"heading": heading(group), "box": box(boxes[group.id])}

    data = {
        "nodes": list(map(box, diagram.nodes)),
        "groups": list(map(about, diagram.groups)),
        "edges": list(map(_read, diagram.edges)),
        "steps": list(_steps(diagram, boxes)),
        "skeleton": _plain(layout),
        "closed": sorted(closed),
    }
    return _pooled(data | more)


def _read(record: Node | Group | Edge) -> dict[str, Any]:
    """What the page reads of a record."""
    unread = ("primitive", "seconds", "flops", "output", "op")
    return {name: value for name, value in _plain(record).items() if name not in unread}


def _plain(record: Any) -> Any:
    """A record, and what is in it, as dicts."""
    if isinstance(record, tuple | list):
        return [_plain(one) for one in record]
    if isinstance(record, Mapping):
        return {name: _plain(value) for name, value in record.items()}
    if not is_dataclass(record):
        return record
    plain = {one.name: _plain(getattr(record, one.name)) for one in fields(record)}
    if isinstance(record, Summary):
        del plain["data"], plain["dtype"]
        plain["values"] = _entries(record)
    return plain


def _entries(summary: Summary) -> tuple[float, ...] | str | None:
    """The elements that are known: as numbers if they are few or integers, or as text.

    The text is an exponent, a space, and in base64 each element over two to this power in float16:
    three digits, which is what the page shows.
    """
    entries = summary.entries()
    if not entries.size:
        return None
    if summary.values is not None or entries.dtype.kind != "f":
        return tuple(entries.astype(np.float64 if entries.dtype.kind == "f" else int).tolist())
    finite = np.abs(entries[np.isfinite(entries)], dtype=np.float64)
    exponent = math.frexp(finite.max(initial=0.0))[1] - 15
    half = np.ldexp(entries.astype(np.float64), -exponent).astype("<f2")
    return f"{exponent} {b64encode(half.tobytes()).decode('ascii')}"


def _steps(diagram: Diagram, boxes: Mapping[str, Node]) -> Iterator[dict[str, Any]]:
    """The steps, with the notes and the formula of each part."""
    nodes = {node.id: node for node in diagram.nodes}
    into: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for edge in diagram.edges:
        into[edge.target][edge.name] = edge.shape
    for step in diagram.steps:
        node, parts = nodes.get(step.node), []
        for part in step.parts:
            formula = formula_of((node or boxes[step.node]).primitive, part.name)
            notes = step_notes(step, part, node, into[step.node])._asdict()
            written = _plain(formula)
            parts.append(_plain(part) | notes | {"formula": written})
        yield _plain(step) | {"parts": parts}


def _pooled(data: Any) -> str:
    """Write data as JSON in which every value stands once: in one list, the inner ones first.

    Where a value holds others, their places in the list stand: a list of places is a list, and
    ``{names: values}`` an object, by the places of its names and of its values. A list of numbers
    is kept whole, in another list.
    """
    places: dict[str, int] = {}  # by the JSON of each value
    encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode

    def place(value: Any) -> int:
        if isinstance(value, Mapping):
            value = {place(list(value)): [place(one) for one in value.values()]}
        elif isinstance(value, list | tuple):
            whole = all(isinstance(one, int | float | None) for one in value)
            value = [list(map(_rounded, value))] if whole else [place(one) for one in value]
        text = encode(_rounded(value))
        return places.setdefault(text, len(places))

    place(data)
    return f"[{','.join(places)}]".replace("<", "\\u003c")


def _rounded(value: Any) -> Any:
    """Write a number with seven digits: float32 has no more. What is not finite is null."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.7g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short
