"""What a step shows beside its numbers: an equation with indices, and answers to questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from minigrad.viz.explanation.explanations import (
    broadcast_reason,
    sum_reason,
    transpose_reason,
    worked,
)
from minigrad.viz.explanation.matrix_products import Product, Share, Term, product
from minigrad.viz.formula.mathml import mathml
from minigrad.viz.formula.notation import Infix, Level, Notation, Script, Symbol
from minigrad.viz.record.model import Node
from minigrad.viz.record.steps import Part, Step, Summary

__all__ = ["Answer", "Lesson", "lesson"]


class Answer(NamedTuple):
    """An answer.

    Attributes:
        question: The question that it answers.
        formula: A formula that it begins with, as MathML; may be empty.
        text: The answer.
    """

    question: str
    formula: str
    text: str


class Lesson(NamedTuple):
    """What there is to learn from what a step sends to one argument.

    Attributes:
        equation: For products, what is sent with its indices, as MathML; empty for others.
        answers: Why it is a sum, and where a transpose comes from.
    """

    equation: str
    answers: tuple[Answer, ...]


def lesson(
    step: Step, part: Part, node: Node | None, shapes: Mapping[str, tuple[int, ...]]
) -> Lesson:
    """Say what there is to learn from what a step sends to one argument.

    Args:
        step: The step.
        part: What it sends.
        node: The op; None if it is fused.
        shapes: The shapes of its arguments, by name.

    Returns:
        An equation and answers; both may be empty.
    """
    equation, answers = "", list[Answer]()
    found = product(step.op, shapes)
    share = None if found is None else found.share(part.name)
    if found is not None and share is not None and node is not None:
        saved = {one.name: one.numbers for one in node.saved}
        equation = mathml(_equation(share))
        answers = _answers(found, share, step.cotangent, saved.get(share.factors[1].name))
    broadcast = broadcast_reason(part.raw_shape, part.sent.shape)
    if broadcast:
        answers.append(Answer("Why a sum?", "", broadcast))
    return Lesson(equation, tuple(answers))


def _answers(product: Product, share: Share, g: Summary, other: Summary | None) -> list[Answer]:
    answers = [Answer("Why a sum?" if share.sums else "Why no sum?", "", sum_reason(share))]
    example = worked(share, g, other)
    if example:
        first = Term(share.target.name, "0" * len(share.target.indices))
        answers.append(Answer("In numbers:", mathml(_indexed(first, bar=True)), f"= {example}"))
    transpose = transpose_reason(product, share)
    if transpose:
        turned = any(turned for _, turned in share.matrices)
        question = "Why a transpose?" if turned else "Why no transpose?"
        answers.append(Answer(question, "", transpose))
    return answers


def _equation(share: Share) -> Notation:
    """The share with its indices: the sum of a product."""
    left, right = (_indexed(term, bar=term.name == "g") for term in share.factors)
    value = Infix((left, right), ("·",), Level.PRODUCT)
    if share.sums:
        over = Script(Symbol("∑", upright=True), None, Symbol(",".join(share.sums)))
        value = Infix((over, left, right), (" ", "·"), Level.PRODUCT)
    return Infix((_indexed(share.target, bar=True), value), ("=",), Level.RELATION)


def _indexed(term: Term, bar: bool) -> Notation:
    return Script(Symbol(term.name, bar=bar), None, Symbol(",".join(term.indices)))
