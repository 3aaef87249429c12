"""What the explorer page knows: a graph, its layout, its steps and the reasons for them, as JSON.

Graphs repeat themselves: names, shapes, whole boxes. So a record becomes a row of fields, and what
is not a plain number stands once in a pool; the row has its position there.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from minigrad.viz.drawing.labels import cost
from minigrad.viz.drawing.svg import heading, insides
from minigrad.viz.explanation.explanations import explain_saved, source_lines, step_notes
from minigrad.viz.explanation.missing_gradients import missing_gradients
from minigrad.viz.explanation.report import formula_of
from minigrad.viz.formula import Formula
from minigrad.viz.layout import skeleton
from minigrad.viz.record.fold import closed_boxes
from minigrad.viz.record.model import Diagram, Group, Node
from minigrad.viz.record.steps import Step

__all__ = ["payload"]

FIELDS = {
    "summary": ["shape=", "dtype=", "norm", "low", "high", "mean", "nans", "infs", "values",
                "cancelled"],
    "saved": ["name=", "shape=", "dtype=", "nbytes", "numbers=summary"],
    "node": [
        "id", "kind=", "label=", "shape=", "dtype=", "group=", "notes=", "line=", "recorded",
        "saved=saved*", "error=", "drawn=", "missing=", "kept=", "cost=", "around=", "freed",
    ],
    "group": ["id", "name=", "path=", "module=", "parent=", "size", "call", "calls", "heading=",
              "box=node"],
    "edge": ["source", "target", "slot", "name=", "shape=", "dtype="],
    "part": ["target=", "slot", "name=", "sent=summary", "raw_shape=", "arrival", "arrivals",
             "check", "unchecked=", "total=summary", "equation=", "answers=", "formula"],
    "step": ["node", "op=", "cotangent=summary", "parts=part*"],
    "formula": ["mathml=", "notes=", "source=", "place=", "origin="],
}  # fmt: skip
"""The fields of each kind of row. ``=`` stands before what a pooled field holds: ``summary`` is a
row of its own, ``saved*`` a list of rows, and nothing is a value as it is."""


def payload(diagram: Diagram, closed: Collection[str], **more: Any) -> str:
    """Write all that the page needs, and `more` as it is, as JSON that can stand within HTML.

    `closed` are the ids of the groups that are closed at first. Equal graphs give equal texts.
    """
    pool = _Pool()
    steps = {step.node: step for step in diagram.steps}
    missing = missing_gradients(diagram)
    boxes = closed_boxes(diagram)
    fused = {group.id for group in diagram.groups if group.op is not None}
    layout = skeleton(diagram)
    drawn = insides(diagram, layout, [*diagram.nodes, *boxes.values()])

    formulas: list[Formula] = []

    def box(node: Node) -> dict[str, Any]:
        op = node.kind in ("op", "fused") and node.group not in fused
        kept = explain_saved(node, steps.get(node.id)) if op else ()
        return asdict(node) | {
            "drawn": drawn[node.id], "missing": missing.get(node.id, ""), "kept": kept,
            "cost": cost(node), "around": source_lines(node.line),
        }  # fmt: skip

    data = {
        "fields": FIELDS,
        "dtype": diagram.dtype,
        "nodes": pool.rows("node", map(box, diagram.nodes)),
        "groups": pool.rows("group", (_group(group, boxes, box) for group in diagram.groups)),
        "edges": pool.rows("edge", map(asdict, diagram.edges)),
        "steps": pool.rows("step", _steps(diagram, boxes, formulas)),
        "formulas": pool.rows("formula", map(asdict, formulas)),
        "pool": pool.values,
        "skeleton": asdict(layout),
        "closed": sorted(closed),
        **more,
    }
    text = json.dumps(_rounded(data), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _group(group: Group, boxes: Mapping[str, Node], box: Any) -> dict[str, Any]:
    return asdict(group) | {"heading": heading(group), "box": box(boxes[group.id])}


def _steps(
    diagram: Diagram, boxes: Mapping[str, Node], formulas: list[Formula]
) -> Iterable[dict[str, Any]]:
    """The steps, with the notes and the formula of each part; each formula is noted once."""
    nodes = {node.id: node for node in diagram.nodes}
    places: dict[int, int] = {}
    into: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for edge in diagram.edges:
        into[edge.target][edge.name] = edge.shape

    def place(step: Step, argument: str) -> int | None:
        found = formula_of((nodes.get(step.node) or boxes[step.node]).primitive, argument)
        if found is None:
            return None
        if id(found) not in places:
            places[id(found)] = len(formulas)
            formulas.append(found)
        return places[id(found)]

    for step in diagram.steps:
        node, shapes = nodes.get(step.node), into[step.node]
        parts = [
            asdict(part)
            | step_notes(step, part, node, shapes)._asdict()
            | {"formula": place(step, part.name)}
            for part in step.parts
        ]
        yield asdict(step) | {"parts": parts}


class _Pool:
    """Values that stand once, found by what they are as JSON."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[str, int] = {}

    def rows(self, kind: str, records: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
        """Make rows of records."""
        return [self._row(kind, record) for record in records]

    def _row(self, kind: str, record: Mapping[str, Any]) -> list[Any]:
        row = []
        for field in FIELDS[kind]:
            name, pooled, inner = field.partition("=")
            value = record[name]
            if pooled and value is not None:
                if inner.endswith("*"):
                    value = self.rows(inner[:-1], value)
                elif inner:
                    value = self._row(inner, value)
                value = self._place(value)
            row.append(value)
        return row

    def _place(self, value: Any) -> int:
        key = json.dumps(_rounded(value))
        place = self._places.setdefault(key, len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


def _rounded(value: Any) -> Any:
    """Write numbers with seven digits: float32 has no more."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.7g}")
        return int(short) if short.is_integer() and abs(short) < 1e6 else short
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(one) for one in value]
    return value
