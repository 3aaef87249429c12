"""What the explorer page knows: a graph, its layout, its steps and their reasons, as JSON."""

import base64
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any

from minigrad.viz.drawing.svg import heading, insides
from minigrad.viz.explanation.explanations import (
    argument_sources,
    explain_saved,
    source_lines,
    step_notes,
)
from minigrad.viz.explanation.held import held
from minigrad.viz.explanation.missing_gradients import missing_gradients
from minigrad.viz.explanation.worked import offered
from minigrad.viz.formula import formula_of
from minigrad.viz.layout import skeleton
from minigrad.viz.layout.labels import cost
from minigrad.viz.record.fold import all_boxes
from minigrad.viz.record.model import Diagram, Edge, Group, Node
from minigrad.viz.record.steps import SMALL, Step, Summary, with_inner

RAW = -15
"""The bits of the window of zlib; negative for a stream without a header, as the page reads it."""

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
    boxes, told = all_boxes(diagram), held(diagram)
    fused = {group.id for group in diagram.groups if group.op is not None and group.opened is None}
    every = replace(diagram, steps=(*diagram.steps, *rules.values()))
    described = _described(every, boxes)
    layout = skeleton(diagram)
    drawn = insides(diagram, layout, boxes.values())

    def box(node: Node) -> dict[str, Any]:
        op = node.kind in ("op", "fused") and node.group not in fused
        kept = explain_saved(node, steps.get(node.id)) if op else ()
        return _read(node) | {
            "drawn": drawn[node.id], "missing": missing.get(node.id, ""), "kept": kept,
            "held": told.get(node.id, ""), "cost": cost(node), "around": source_lines(node.line),
        }  # fmt: skip

    def about(group: Group) -> dict[str, Any]:
        rule = described(rules[group.id]) if group.id in rules else None
        more = {"heading": heading(group), "box": box(boxes[group.id]), "rule": rule}
        return _read(group) | more

    data = {
        "nodes": list(map(box, diagram.nodes)),
        "groups": list(map(about, diagram.groups)),
        "edges": list(map(_read, diagram.edges)),
        "steps": list(map(described, diagram.steps)),
        "skeleton": layout,
        "closed": sorted(closed),
        "born": [{"id": node.id, "what": node.born} for node in diagram.nodes if node.born],
    }
    return _compressed(data | more)


def _read(record: Node | Group | Edge) -> dict[str, Any]:
    """What the page reads of a record."""
    unread = ("primitive", "seconds", "flops", "output", "op", "operands", "grads")
    return {name: value for name, value in _fields(record).items() if name not in unread}


def _fields(record: Any) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}


def _described(diagram: Diagram, boxes: Mapping[str, Node]) -> Callable[[Step], dict[str, Any]]:
    """A function that adds to a step the notes and the formula of each part."""
    into: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for edge in diagram.edges:
        into[edge.target][edge.name] = edge.shape
    sources, left = argument_sources(diagram), count(WORKED, -1)

    def described(step: Step) -> dict[str, Any]:
        op, parts = boxes[step.node].primitive, []
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


def _compressed(data: Any) -> str:
    """Write data as JSON, deflated and in base64: graphs repeat themselves, so little is left."""
    arrays: dict[tuple[str, str], tuple[int, list[Any]]] = {}
    plain = _plain(data, arrays) | {"arrays": [entries for _, entries in arrays.values()]}
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), wbits=RAW)).decode()


def _plain(value: Any, arrays: dict[tuple[str, str], tuple[int, list[Any]]]) -> Any:
    """Data as JSON has it: records as objects, numbers with seven digits: float32 has no more.

    What is not finite is null. The elements of an array are written once, in `arrays`: the gradient
    that a step sends is the one that another step gets.
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
        return value if counts else [_plain(one, arrays) for one in value]
    if isinstance(value, Summary):
        unread = ("data", "dtype")
        held = {name: one for name, one in _fields(value).items() if name not in unread}
        key = value.dtype, value.data
        if key not in arrays:
            arrays[key] = len(arrays), _entries(value)
        return _plain(held | {"values": arrays[key][0]}, arrays)
    if is_dataclass(value):
        value = _fields(value)
    return {name: _plain(one, arrays) for name, one in value.items()}


def _entries(summary: Summary) -> list[Any]:
    """The elements that are known: of larger arrays with three digits, as the page shows them."""
    entries = summary.entries()
    if entries.dtype.kind != "f":
        return entries.astype(int).tolist()
    digits = 7 if entries.size <= SMALL else 3
    short = (float(f"{one:.{digits}g}") for one in entries.tolist())
    return [
        (int(one) if one.is_integer() and abs(one) < 1e6 else one)
        if math.isfinite(one)
        else str(one).replace("inf", "Infinity")
        for one in short
    ]
