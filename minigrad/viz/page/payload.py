"""What the explorer page knows: a graph, its layout, its steps and their reasons, as JSON."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from minigrad.viz.drawing.labels import cost
from minigrad.viz.drawing.svg import heading, insides
from minigrad.viz.explanation.explanations import explain_saved, source_lines, step_notes
from minigrad.viz.explanation.missing_gradients import missing_gradients
from minigrad.viz.formula import formula_of
from minigrad.viz.layout import skeleton
from minigrad.viz.record.fold import closed_boxes
from minigrad.viz.record.model import Diagram, Edge, Group, Node

__all__ = ["payload"]

RAW = -15
"""The bits of the window of zlib; negative for a stream without a header, as the page reads it."""


def payload(diagram: Diagram, closed: Collection[str], **more: Any) -> str:
    """Write all that the page needs, and `more` as it is, as text that can stand within HTML.

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
        "skeleton": asdict(layout),
        "closed": sorted(closed),
    }
    return _compressed(data | more)


def _read(record: Node | Group | Edge) -> dict[str, Any]:
    """What the page reads of a record."""
    unread = ("primitive", "seconds", "flops", "output", "op")
    return {name: value for name, value in asdict(record).items() if name not in unread}


def _steps(diagram: Diagram, boxes: Mapping[str, Node]) -> Iterator[dict[str, Any]]:
    """The steps, with the notes and the formula of each part."""
    nodes = {node.id: node for node in diagram.nodes}
    into: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for edge in diagram.edges:
        into[edge.target][edge.name] = edge.shape
    for step in diagram.steps:
        node, parts = nodes.get(step.node), []
        for part in step.parts:
            values = step.given.values if step.given is not None else {}
            formula = formula_of((node or boxes[step.node]).primitive, part.name, values)
            notes = step_notes(step, part, node, into[step.node])._asdict()
            written = None if formula is None else asdict(formula)
            parts.append(asdict(part) | notes | {"formula": written})
        told = {"node": step.node, "op": step.op, "cotangent": asdict(step.cotangent)}
        yield told | {"parts": parts}


def _compressed(data: Any) -> str:
    """Write data as JSON, deflated and in base64: graphs repeat themselves, so little is left."""
    text = json.dumps(_rounded(data), separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), wbits=RAW)).decode()


def _rounded(value: Any) -> Any:
    """Write numbers with seven digits: float32 has no more. What is not finite is null."""
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.7g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short
