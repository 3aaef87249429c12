"""The text of a step of the backward pass: an equation, and answers to "why?".

A value that was used several times gets a share of the gradient from each use, and shares add up.
Uses are the rows of a batch, the copies that broadcasting made, or ops that read the same tensor.
"""

import linecache
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from minigrad.viz.explanation.matrix_products import Share, Term, share_of
from minigrad.viz.record.model import Diagram, Node
from minigrad.viz.record.steps import Part, Step
from minigrad.viz.record.writing import shape_text

Shape = tuple[int, ...]

LONGEST = 120
"""The most characters that are shown of a line of a program."""


Answer = tuple[str, str]
"""A question and its answer."""


def step_notes(step: Step, part: Part, shapes: Mapping[str, Shape]) -> list[Answer]:
    """Answer questions on what a step sends to one argument.

    `shapes` are those of the arguments of the op, by name.
    """
    answers = []
    share = share_of(step.op, part.name, shapes)
    if share is not None:
        answers.append(("Why a sum?" if share.sums else "Why no sum?", explain_sum(share)))
        if transpose := explain_transpose(share):
            turned = any(turned for _, turned in share.matrices)
            answers.append(("Why a transpose?" if turned else "Why no transpose?", transpose))
    if broadcast := explain_broadcast(part.raw_shape, part.sent.shape):
        answers.append(("Why a sum?", broadcast))
    return answers


def argument_sources(diagram: Diagram) -> dict[str, dict[str, str]]:
    """The arguments of the ops, each with the id of the box that it came from."""
    found = {node.id: dict[str, str]() for node in diagram.nodes if node.kind == "op"}
    for edge in diagram.edges:
        if edge.target in found and edge.name:  # what a composed op ran is no argument of it
            found[edge.target][edge.name] = edge.source
    for step in diagram.steps:
        if step.rank is None:  # what a collective reads is called by its rank
            found[step.node] |= {part.name: part.target for part in step.parts}
    return found


# Sums and transposes ----------------------------------------------------------------------------


def summed_axes(raw: Shape, shape: Shape) -> list[int]:
    """The axes of `raw` that are summed to undo broadcasting from `shape`."""
    shape = shape[max(len(shape) - len(raw), 0) :]  # more axes than that have length 1
    added = len(raw) - len(shape)
    stretched = [a + added for a, length in enumerate(shape) if length == 1 != raw[a + added]]
    return [*range(added), *stretched]


def explain_broadcast(raw: Shape, shape: Shape) -> str:
    """Say why a cotangent of shape `raw` is summed to the shape of its argument, if it is."""
    if raw == shape:
        return ""
    axes = summed_axes(raw, shape)
    uses = math.prod(raw[axis] for axis in axes)
    over = f"ax{'i' if len(axes) == 1 else 'e'}s {_listed(map(str, axes))}"
    return (
        f"Broadcasting used each of its elements {_times(uses)}, for {shape_text(raw)}. Each use "
        f"sends a share, and shares add up: the sum over {over} makes {shape_text(shape)} of "
        f"{shape_text(raw)}."
    )


def explain_sum(share: Share) -> str:
    """Say why a rule of a product sums, or why it does not."""
    target = _term(share.target)
    if not share.sums:
        return f"The forward pass used {target} once, so there is one share and no sum."
    each = _listed(f"{index} (0 … {length - 1})" for index, length in share.sums.items())
    shares = " · ".join(_term(term) for term in share.factors)
    return (
        f"The forward pass used {target} {_times(share.uses)}: once for each {each}. Each use "
        f"sends back a share, {shares}, and shares add up: hence the sum over "
        f"{_listed(share.sums)}."
    )


def explain_transpose(share: Share) -> str:
    """Say where the transpose in a rule of a product comes from, or why there is none.

    Empty if the share is not a product of matrices.
    """
    if not share.matrices:
        return ""
    written = " @ ".join(f"{_name(term)}{'ᵀ' * turned}" for term, turned in share.matrices)
    over = "".join(share.sums)
    index = over if len(over) == 1 else f"the rows ({', '.join(over)})"
    text = (
        f"As matrices: {written}. A product of matrices sums over the last axis of its left factor "
        "and the first of its right one. "
    )
    left, right = (term for term, _ in share.matrices)
    turned = [term for term, turned in share.matrices if turned]
    if turned:
        axes = [f"{'first' if term is left else 'last'} axis of {_name(term)}" for term in turned]
        return text + (
            f"Here the sum is over {index}, the {_listed(axes)}: so {_listed(map(_name, turned))} "
            "is transposed."
        )
    return text + (
        f"The sum is over {index}, which is there already, so nothing is transposed. "
        f"The forward pass had the transpose: it read {right.name} as {right.name}ᵀ."
    )


def _name(term: Term) -> str:
    return "ḡ" if term.name == "g" else term.name


def _term(term: Term) -> str:
    return f"{_name(term)}[{', '.join(term.indices)}]"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _listed(words: Iterable[str]) -> str:
    """Join words: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


# Saved arrays, and where the program made them --------------------------------------------------


def explain_saved(node: Node, step: Step | None) -> Iterator[tuple[str, str]]:
    """Say which rule reads each array that an op saved; with ``""``, why others were not saved."""
    if (op := node.primitive) is None:
        return
    needs = {name: op.rule(name).needs for name in op.ruled}
    joint = op.joint.needs if op.joint is not None else ()
    active = {part.name for part in step.parts} if step is not None else set(needs)
    saved = {one.name: one.name.partition("[")[0] for one in node.saved}  # "mean[0]": "mean"
    for shown, name in saved.items():
        readers = [argument for argument in needs if name in needs[argument] and argument in active]
        if name in joint:
            yield shown, "the joint rule reads it"
        elif readers:
            yield shown, f"the rule for {_listed(readers)} reads it"
        else:
            yield shown, "kept for derivatives of higher order"
    left = [name for name in (*op.params[: op.arrays], "out") if name not in saved.values()]
    if op.variadic:
        return
    readers_of = {name: [a for a in needs if name in needs[a]] for name in left}
    if unread := [name for name in left if not readers_of[name]]:
        yield "", f"no rule reads {_listed(unread)}"
    for name, readers in readers_of.items():
        if readers and not active & {*readers}:
            which = _listed(readers)
            yield "", f"only the rule for {which} reads {name}, and {which} needs no gradient"


def source_lines(line: str) -> tuple[str, str, str] | None:
    """Find a line of a program, ``"train.py:31: loss = model(x).sum()"``, and the lines beside it.

    Common indentation is removed. None if the file does not have that line any more, or nothing
    beside it.
    """
    match = re.fullmatch(r"(?P<path>.*?):(?P<number>\d+): (?P<text>.*)", line, re.DOTALL)
    if match is None:
        return None
    path, number = match["path"], int(match["number"])
    lines = [linecache.getline(path, at).rstrip() for at in (number - 1, number, number + 1)]
    if lines[1].strip() != match["text"] or not (lines[0].strip() or lines[2].strip()):
        return None
    before, own, after = textwrap.dedent("\n".join(lines)).split("\n")
    return before[:LONGEST], own, after[:LONGEST]
