"""The data of the explorer page: a graph, its layout, its steps and their reasons, as JSON."""

import json
import math
import zlib
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from minigrad.viz.drawing.svg import heading, insides
from minigrad.viz.explanation import explanations
from minigrad.viz.explanation.gradients import held, missing_gradients
from minigrad.viz.formula import Formula, formula_of
from minigrad.viz.layout import skeleton
from minigrad.viz.page.terms import written_arguments, written_forward, written_rule
from minigrad.viz.record.fold import all_boxes
from minigrad.viz.record.model import Diagram, Edge, Group, Node
from minigrad.viz.record.steps import SMALL, Step, Summary
from minigrad.viz.record.tracing import fused_ops

UNREAD: dict[type, tuple[str, ...]] = {
    Node: ("primitive", "given", "grads", "cause"),
    Edge: ("output",),
    Step: ("given",),
    Formula: ("latex", "text"),
    Summary: ("data", "dtype"),
}
"""The fields of a record that the page does not read."""

LEAVES = ("parameter", "input", "constant")
"""The kinds of boxes from whose values the page can compute the others."""

RAW = -15
"""The bits of the window of zlib; negative for a stream without a header, as the page reads it."""


def payload(diagram: Diagram, closed: Collection[str], **more: Any) -> str:
    """Write all that the page needs, and `more` as it is, as text that is valid within HTML.

    `closed` are the ids of the groups that are closed at first. Equal graphs give equal texts.
    """
    steps = {step.node: step for step in diagram.steps}
    missing = missing_gradients(diagram)
    boxes, told, kept = all_boxes(diagram), held(diagram), diagram.kept()
    fused, shared = {*fused_ops().values()}, dict[str, int]()
    described, computed = _described(diagram, boxes, shared)
    several = {e.source for e in diagram.edges if e.place and e.target in steps}
    layout = skeleton(diagram)
    drawn = insides(diagram, layout, boxes.values())

    def box(node: Node) -> dict[str, Any]:
        step = steps.get(node.id)
        reasons = [*explanations.explain_saved(node, step)]
        return _read(node) | computed(node, step) | {
            "drawn": drawn[node.id], "missing": missing.get(node.id, ""), "kept": reasons,
            "held": told.get(node.id, ""), "around": explanations.source_lines(node.line),
            "keeps": kept[node.id], "fused": node.primitive in fused, "several": node.id in several,
            "recorded": node.recorded,
        }  # fmt: skip

    def about(group: Group) -> dict[str, Any]:
        return _read(group) | {"heading": heading(group), "box": box(boxes[group.id])}

    data = {
        "nodes": list(map(box, diagram.nodes)),
        "groups": list(map(about, diagram.groups)),
        "edges": list(map(_read, diagram.edges)),
        "steps": list(map(described, diagram.steps)),
        "skeleton": layout,
        "closed": sorted(closed),
        "shared": [json.loads(text) for text in shared],
        "born": [{"id": node.id, "what": node.born} for node in diagram.nodes if node.born],
        "left": diagram.left,
    }
    targets = {(step.run, part.target) for step in diagram.steps for part in step.parts}
    begin = [step.cotangent for step in diagram.steps if (step.run, step.node) not in targets]
    leaves = [node.value for node in diagram.nodes if node.kind in LEAVES]
    return _compressed(data | more, {one.data for one in (*leaves, *begin) if one is not None})


def _read(record: Any) -> dict[str, Any]:
    """The fields of a record that the page reads."""
    unread = UNREAD.get(type(record), ())
    return {one.name: getattr(record, one.name) for one in fields(record) if one.name not in unread}


def _described(
    diagram: Diagram, boxes: Mapping[str, Node], shared: dict[str, int]
) -> tuple[Callable[[Step], dict[str, Any]], Callable[[Node, Step | None], dict[str, Any]]]:
    """A function that adds to a step the notes and the formula of each part.

    The other one tells of an op how it is computed: a term, the boxes of its arguments, and those
    arguments that come from none. What many have alike is written once, in `shared`; they have its
    number.
    """
    into: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    later: dict[str, set[str]] = defaultdict(set)  # the arguments that are no first output
    for edge in diagram.edges:
        into[edge.target][edge.name] = edge.shape
        if edge.place:
            later[edge.target].add(edge.name)
    sources = explanations.argument_sources(diagram)

    def once(value: Any) -> int:
        return shared.setdefault(json.dumps(value), len(shared))

    def described(step: Step) -> dict[str, Any]:
        op, parts, values = boxes[step.node].primitive, [], step.given or {}
        known = step.given is not None and not (op is not None and op.multiple_outputs)
        for part in step.parts:
            axes = explanations.summed_axes(part.raw_shape, part.sent.shape)
            formula = formula_of(op, part.name, values, axes)
            answers = explanations.step_notes(step, part, into[step.node])
            term = written_rule(op, part.name, values) if op and known else None
            shown = None if formula is None else _read(formula)
            more = {"answers": answers, "formula": shown, "term": term}
            parts.append(_read(part) | {name: once(value) for name, value in more.items()})
        return _read(step) | {"parts": parts}

    def computed(node: Node, step: Step | None) -> dict[str, Any]:
        op, values = node.primitive, node.given if step is None else step.given
        if node.kind != "op":
            return {}
        terms, given, read = {}, {}, sources[node.id]
        if op is not None and values is not None and not op.multiple_outputs:
            terms = written_forward(op, values)
            given = written_arguments(op, values, read.keys() - later[node.id])
        return {"terms": once(terms), "given": given, "arguments": list(read.items())}

    return described, computed


def _compressed(data: Any, exact: Collection[str]) -> str:
    """Write data as JSON, deflated and in base64: graphs repeat themselves, so little is left.

    Of the arrays with the data in `exact` all digits are written: the page computes from them.
    """
    arrays: dict[tuple[str, str], int] = {}
    plain = _plain(data, arrays)
    plain["arrays"] = [_entries(*array, array[1] in exact) for array in arrays]
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return b64encode(zlib.compress(text.encode(), 9, RAW)).decode()


def _plain(value: Any, arrays: dict[tuple[str, str], int]) -> Any:
    """Data as JSON has it: records as objects, numbers with seven digits: float32 has no more.

    NaN and infinities are null. The elements of an array are written once: `arrays` has its number.
    The gradient that a step sends is the one that another step gets.
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
        number = arrays.setdefault((value.dtype, value.data), len(arrays))
        return _plain(_read(value) | {"values": number}, arrays)
    if is_dataclass(value):
        value = _read(value)
    return {name: _plain(one, arrays) for name, one in value.items()}


def _entries(dtype: str, data: str, exact: bool) -> list[Any]:
    """The elements that are known: of large arrays with few digits, unless they are `exact`."""
    entries = np.frombuffer(b64decode(data), dtype)
    if entries.dtype.kind != "f":
        return entries.astype(int).tolist()
    digits = 9 if exact else 7 if entries.size <= SMALL else 3
    short = (float(f"{one:.{digits}g}") for one in entries.tolist())
    return [
        (int(one) if one.is_integer() and abs(one) < 1e6 else one)
        if math.isfinite(one)
        else str(one).replace("inf", "Infinity")
        for one in short
    ]
