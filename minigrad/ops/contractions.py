"""Sums of products by labels: einsum."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import shape_of
from minigrad.ops.casting import astype
from minigrad.ops.diagonals import diagonal
from minigrad.ops.shapes import transpose

__all__ = ["einsum"]


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sum products by Einstein's convention, as in NumPy.

    Args:
        equation: Such as ``"bij,bjk->bik"``; an ellipsis means leading axes, a repeated
            label in one operand takes its diagonal. Or the first operand, if lists of numbers
            follow each, such as ``x, [0, 1], y, [1, 2], [0, 2]``.
        *operands: A tensor for each group of labels.

    Raises:
        TypeError: The subscripts are neither text nor lists of numbers.
        ValueError: The labels do not fit the operands.

    Example:
        >>> import minigrad
        >>> minigrad.einsum("ij,j->i", minigrad.ones((2, 3)), minigrad.ones(3))
        tensor([3., 3.])
    """
    if operands and isinstance(operands[0], (list, tuple)) and not isinstance(equation, str):
        equation, operands = _of_lists([equation, *operands])
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum: text such as 'ij,j->i' comes first, got {type(equation).__name__}"
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])  # the operands in a list, as in PyTorch
    inputs, output = _explicit(equation, operands)
    tensors: list[Any] = []
    terms: list[str] = []
    for labels, operand in zip(inputs, operands, strict=True):
        for label in sorted(set(labels)):
            while labels.count(label) > 1:  # its diagonal, so no rule needs to handle it
                one = labels.index(label)
                other = labels.index(label, one + 1)
                operand = _diagonal(operand, one, other)
                labels = labels[:one] + labels[one + 1 : other] + labels[other + 1 :] + label
        tensors.append(operand)
        terms.append(labels)
    if len(terms) == 1 and sorted(terms[0]) == sorted(output) and (output.isalpha() or not output):
        return transpose(tensors[0], [terms[0].index(label) for label in output])  # a view
    if len(terms) == 1 and tensors[0].dtype.kind in "iu":
        tensors = [astype(tensors[0], np.int64)]  # as a sum
    return _einsum(*tensors, inputs=tuple(terms), output=output)


def _of_lists(given: list[Any]) -> tuple[str, tuple[Any, ...]]:
    """The equation that tensors, each followed by the numbers of its axes, and a result mean."""
    terms = [
        "".join(["..." if label is ... else string.ascii_letters[label] for label in labels])
        for labels in (given[1::2] if len(given) % 2 == 0 else [*given[1::2], given[-1]])
    ]
    inputs, result = (terms, []) if len(given) % 2 == 0 else (terms[:-1], terms[-1:])
    return "->".join([",".join(inputs), *result]), tuple(given[: 2 * len(inputs) : 2])


def _diagonal(x: Any, axis1: int, axis2: int) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    shape = shape_of(x)
    if shape[axis1] != shape[axis2]:
        raise ValueError(
            f"einsum: a repeated label needs axes of one length, axes {axis1} and {axis2} of "
            f"shape {shape} differ"
        )
    return diagonal(x, 0, axis1, axis2)


def _explicit(subscripts: str, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """Labels for each operand and the output, without ellipsis and with the output spelled out."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands):
        raise ValueError(
            f"einsum: {subscripts!r} names {len(inputs)} operands, got {len(operands)}"
        )
    spare = [c for c in string.ascii_letters if c not in text]
    hidden = []  # the number of axes of each ellipsis
    for i, (term, operand) in enumerate(zip(inputs, operands, strict=True)):
        shape = shape_of(operand)
        hidden.append(len(shape) - len(term.replace("...", "")))
        if hidden[i] < 0 or (hidden[i] and "..." not in term):
            raise ValueError(
                f"einsum: {term!r} in {subscripts!r} does not fit operand {i} of shape {shape}"
            )
    dots = "".join(spare[: max(hidden, default=0)])
    for i, extra in enumerate(hidden):
        inputs[i] = inputs[i].replace("...", dots[len(dots) - extra :])
    if arrow:
        output = output.replace("...", dots)
    else:
        counts = "".join(inputs)
        output = dots + "".join(sorted(c for c in set(counts) - set(dots) if counts.count(c) == 1))
    return inputs, output


@primitive
def _einsum(*operands: Any, inputs: tuple[str, ...], output: str) -> Any:
    return np.einsum(f"{','.join(inputs)}->{output}", *operands, optimize=len(operands) > 2)


@_einsum.defjoint("operands")
def _einsum_operands(
    g: Any, needed: tuple[bool, ...], operands: tuple[Any, ...], inputs: tuple[str, ...],
    output: str,
) -> list[Any]:  # fmt: skip
    parts: list[Any] = []
    for i, want in enumerate(needed):
        if not want:
            parts.append(None)
            continue
        others = [j for j in range(len(operands)) if j != i]
        terms = [output, *(inputs[j] for j in others)]
        seen = "".join(terms)
        found = "".join(c for c in inputs[i] if c in seen)
        part = np.einsum(f"{','.join(terms)}->{found}", g, *(operands[j] for j in others))
        # The gradient is constant along a label that was only summed or broadcast.
        lengths = iter(part.shape)
        sizes = tuple(next(lengths) if label in seen else 1 for label in inputs[i])
        full = np.broadcast_shapes(sizes, operands[i].shape)
        if full != part.shape:
            part = np.broadcast_to(part.reshape(sizes), full)
        parts.append(part)
    return parts
