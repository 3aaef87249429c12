"""What the explorer page knows: a graph, its layout, its steps and their reasons, as JSON."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from minigrad.viz.drawing.labels import cost
from minigrad.viz.drawing.svg import heading, insides
from minigrad.viz.explanation.explanations import (
    argument_sources,
    explain_saved,
    source_lines,
    step_notes,
)
from minigrad.viz.explanation.missing_gradients import missing_gradients
from minigrad.viz.explanation.worked import offered
from minigrad.viz.formula import formula_of
from minigrad.viz.layout import skeleton
from minigrad.viz.record.fold import closed_boxes
from minigrad.viz.record.model import Diagram, Edge, Group, Node
from minigrad.viz.record.steps import Step, Summary, with_inner

__all__ = ["born", "payload"]

RAW = -15
"""The bits of the window of zlib; negative for a stream without a header, as the page reads it."""

ROUNDING = 1000
"""How many times the precision of its dtype two ways to compute an array may differ."""

WORKED = 500
"""Of how many gradients entries are worked out; the page says how to see others."""


def payload(diagram: Diagram, closed: Collection[str], **more: Any) -> str:
    """Write all that the page needs, and `more` as it is, as text that can stand within HTML.

    `closed` are the ids of the groups that are closed at first. Equal graphs give equal texts.
    """
    rules = {step.node: step for step in diagram.steps if step.inner}
    diagram = replace(diagram, steps=with_inner(diagram.steps))
    steps = {step.node: step for step in diagram.steps} | rules
    missing = missing_gradients(diagram)
    boxes = closed_boxes(diagram)
    fused = {group.id for group in diagram.groups if group.op is not None and group.opened is None}
    every = replace(diagram, steps=(*diagram.steps, *rules.values()))
    described = _described(every, boxes)
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
        rule = described(rules[group.id]) if group.id in rules else None
        more = {"heading": heading(group), "box": box(boxes[group.id]), "rule": rule}
        return _read(group) | more | {"opened": _opened(group)}

    data = {
        "nodes": list(map(box, diagram.nodes)),
        "groups": list(map(about, diagram.groups)),
        "edges": list(map(_read, diagram.edges)),
        "steps": list(map(described, diagram.steps)),
        "skeleton": layout,
        "closed": sorted(closed),
        "born": [{"id": node.id, "what": node.born} for node in born(diagram)],
    }
    return _compressed(data | more)


def born(diagram: Diagram) -> list[Node]:
    """The boxes where a NaN or an infinity came into the forward pass, the first one first."""
    fused = {group.id: group.op for group in diagram.groups if group.op is not None}
    found: dict[str, Node] = {}
    for node in diagram.nodes:
        op = fused.get(node.group or "")
        if op is not None and op.born and not node.born:
            found.setdefault(op.id, op)
        elif node.born:
            found[node.id] = node
        elif node.kind in ("input", "parameter", "buffer") and node.value and node.value.nans:
            found[node.id] = replace(node, born="NaN")
    return list(found.values())


def _read(record: Node | Group | Edge) -> dict[str, Any]:
    """What the page reads of a record."""
    unread = ("primitive", "seconds", "flops", "output", "op", "operands")
    return {name: value for name, value in _fields(record).items() if name not in unread}


def _fields(record: Any) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}


def _described(diagram: Diagram, boxes: Mapping[str, Node]) -> Callable[[Step], dict[str, Any]]:
    """A function that adds to a step the notes and the formula of each part."""
    nodes = {node.id: node for node in diagram.nodes}
    into: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for edge in diagram.edges:
        into[edge.target][edge.name] = edge.shape
    sources, left = argument_sources(diagram), count(WORKED, -1)

    def described(step: Step) -> dict[str, Any]:
        node, parts = nodes.get(step.node), []
        op = (node or boxes[step.node]).primitive
        for part in step.parts:
            values = step.given.values if step.given is not None else {}
            formula = formula_of(op, part.name, values)
            worked = offered(op, part.name, step.given) if next(left) > 0 else []
            answers = step_notes(step, part, into[step.node])
            parts.append(_fields(part) | {"answers": answers, "formula": formula, "worked": worked})
        arguments = list(sources[step.node].items())
        more = {"parts": parts, "arguments": arguments, "given": None, "inner": ()}
        return _fields(step) | more

    return described


def _opened(group: Group) -> dict[str, Any] | None:
    """How the ops inside of an opened op compare with it, and whether that is rounding alone."""
    if group.op is None or group.opened is None:
        return None
    limit = min(ROUNDING * float(np.finfo(group.op.dtype).eps), 0.05)
    return {"difference": group.opened, "agrees": group.opened <= limit}


def _compressed(data: Any) -> str:
    """Write data as JSON, deflated and in base64: graphs repeat themselves, so little is left."""
    text = json.dumps(_plain(data), separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), wbits=RAW)).decode()


def _plain(value: Any) -> Any:
    """Data as JSON has it: records as objects, numbers with seven digits: float32 has no more.

    What is not finite is null.
    """
    if value is None or isinstance(value, str | int):  # most values: asked first
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.7g}")
        return int(short) if short.is_integer() and abs(short) < 1e6 else short
    if isinstance(value, list | tuple):
        counts = value and isinstance(value[0], int)  # shapes and places: nothing to round
        return value if counts else [_plain(one) for one in value]
    if isinstance(value, Summary):
        unread = ("data", "dtype")
        held = {name: one for name, one in _fields(value).items() if name not in unread}
        return _plain(held | {"values": _entries(value)})
    if is_dataclass(value):
        value = _fields(value)
    return {name: _plain(one) for name, one in value.items()}


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
    return f"{exponent} {base64.b64encode(half.tobytes()).decode('ascii')}"
