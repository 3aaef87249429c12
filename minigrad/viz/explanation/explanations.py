"""Why a step of the backward pass is as it is, in words and numbers.

One thought is behind all of it: a value that was used several times gets a share of the gradient
from each use, and shares add up. Uses are the rows of a batch, the copies that broadcasting made,
or several ops that read the same tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from minigrad.autograd.primitive import Primitive
from minigrad.viz.drawing.labels import shape_text
from minigrad.viz.explanation.matrix_products import Product, Share, Term
from minigrad.viz.record.model import Node
from minigrad.viz.record.steps import Step, Summary

__all__ = ["broadcast_reason", "saved_reasons", "sum_reason", "transpose_reason", "worked"]

Shape = tuple[int, ...]

SUMMANDS = 8
"""A sum of more is not written out."""


def broadcast_reason(raw: Shape, shape: Shape) -> str:
    """Say why a cotangent is summed to the shape of the argument that it goes to.

    Args:
        raw: Its shape as the rule returned it.
        shape: The shape of the argument.

    Returns:
        One or two sentences; empty if the shapes are the same.

    Example:
        >>> from minigrad.viz.explanation.explanations import broadcast_reason
        >>> broadcast_reason((4, 3), (3,))
        'Broadcasting used each of its elements 4 times, for 4×3. Each use sends a share, and \
shares add up: the sum over axis 0 makes 3 of 4×3.'
    """
    if raw == shape:
        return ""
    added = len(raw) - len(shape)
    stretched = [a + added for a, length in enumerate(shape) if length == 1 != raw[a + added]]
    axes = [*range(added), *stretched]
    uses = 1
    for axis in axes:
        uses *= raw[axis]
    over = f"ax{'i' if len(axes) == 1 else 'e'}s {_listed(map(str, axes))}"
    return (
        f"Broadcasting used each of its elements {_times(uses)}, for {shape_text(raw)}. Each use "
        f"sends a share, and shares add up: the sum over {over} makes {shape_text(shape)} of "
        f"{shape_text(raw)}."
    )


def sum_reason(share: Share) -> str:
    """Say why a rule of a product sums.

    Args:
        share: What an argument gets.

    Returns:
        Two sentences.
    """
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


def transpose_reason(product: Product, share: Share) -> str:
    """Say where the transpose in a rule of a product comes from, or why there is none.

    Args:
        product: The product.
        share: What an argument gets.

    Returns:
        A few sentences; empty if the share is no product of matrices.
    """
    if not share.matrices:
        return ""
    written = " @ ".join(f"{_name(term)}{'ᵀ' * turned}" for term, turned in share.matrices)
    over = "".join(share.sums)
    index = over if len(over) == 1 else f"the rows ({', '.join(over)})"
    (left, left_turned), (right, right_turned) = share.matrices
    text = (
        f"As matrices: {written}. A product of matrices sums over the last axis of its left factor "
        "and the first of its right one. "
    )
    if left_turned or right_turned:
        wrong = [
            f"{'first' if term is left else 'last'} axis of {_name(term)}"
            for term, turned in share.matrices
            if turned
        ]
        turned = [_name(term) for term, turned in share.matrices if turned]
        text += (
            f"Here the sum is over {index}, the {_listed(wrong)}: so {_listed(turned)} is "
            "transposed."
        )
    else:
        text += (
            f"The sum is over {index}, which stands there already, so nothing is transposed. "
            f"The forward pass had the transpose: it read {right.name} as {right.name}ᵀ."
        )
    return text


def worked(share: Share, g: Summary, other: Summary | None) -> str:
    """Work the first element of a share out, where the numbers are known.

    Args:
        share: What an argument gets.
        g: The cotangent of the output.
        other: The other factor.

    Returns:
        The sum, such as ``"1 · 0.5 + 2 · 3 = 6.5"``; empty if it is too long, or the numbers are
        not known.
    """
    if other is None or g.values is None or other.values is None:
        return ""
    if not 1 < share.uses <= SUMMANDS:
        return ""
    terms = list(zip(share.factors, (g, other), strict=True))
    total, written = 0.0, []
    for at in _positions(share.sums):
        one, two = (_element(term, numbers, at) for term, numbers in terms)
        total += one * two
        written.append(f"{_factor(one)} · {_factor(two)}")
    return f"{' + '.join(written)} = {_number(total)}"


def saved_reasons(node: Node, step: Step | None) -> tuple[tuple[str, str], ...]:
    """Say what each array that an op saved is for, and why the others were not saved.

    Args:
        node: The op.
        step: Its step in the backward pass, if there was one.

    Returns:
        Pairs of the name of an array and what it is for; with ``""`` for a name, why something
        was not kept.
    """
    op = node.primitive
    if op is None:
        return ()
    saved = {one.name for one in node.saved}
    needs = _needs(op)
    active = {part.name for part in step.parts} if step is not None else set(needs)
    lines = []
    for one in node.saved:
        readers = [name for name, read in needs.items() if one.name in read and name in active]
        lines.append((one.name, _read_by(op, one.name, readers)))
    left = [name for name in (*op.params[: op.arrays], "out") if name not in saved]
    if op.variadic or not left:
        return tuple(lines)
    unread = [name for name in left if not any(name in read for read in needs.values())]
    if unread:
        lines.append(("", f"no rule reads {_listed(unread)}"))
    for name in left:
        readers = [argument for argument, read in needs.items() if name in read]
        if readers and not active & {*readers}:
            which = _listed(readers)
            lines.append(
                ("", f"only the rule for {which} reads {name}, and {which} needs no gradient")
            )
    return tuple(lines)


def _read_by(op: Primitive, name: str, readers: list[str]) -> str:
    if op.joint is not None and name in op.joint.needs:
        return "the joint rule reads it"
    if readers:
        return f"the rule for {_listed(readers)} reads it"
    return "kept for derivatives of higher order"


def _needs(op: Primitive) -> dict[str, tuple[str, ...]]:
    """What the rule of each argument reads."""
    if op.joint is not None:
        return {op.params[slot]: op.joint.needs for slot in op.joint_slots}
    return {name: rule.needs for name, rule in op.rules.items()}


def _positions(lengths: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Every choice of the indices."""
    if not lengths:
        yield {}
        return
    (index, length), *rest = lengths.items()
    for i in range(length):
        for others in _positions(dict(rest)):
            yield {index: i, **others}


def _element(term: Term, numbers: Summary, at: Mapping[str, int]) -> float:
    """The element of an array at a choice of indices; those that are not given are 0."""
    assert numbers.values is not None
    offset = 0
    for index, length in zip(term.indices, numbers.shape, strict=True):
        offset = offset * length + at.get(index, 0)
    return numbers.values[offset]


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _factor(value: float) -> str:
    return _number(value) if value >= 0 else f"({_number(value)})"


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
