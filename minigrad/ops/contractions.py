"""Contractions over several axes: einsum and tensordot."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import shape_of
from minigrad.ops.selection import where

__all__ = ["einsum", "tensordot"]


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sum products by Einstein's convention, as in NumPy.

    Args:
        equation: Such as ``"bij,bjk->bik"``; an ellipsis means leading axes, a repeated
            label in one operand takes its diagonal.
        *operands: A tensor for each group of labels.

    Raises:
        TypeError: The subscripts are not a string; lists of axes are not supported.
        ValueError: The labels do not fit the operands.

    Example:
        >>> import minigrad
        >>> minigrad.einsum("ij,j->i", minigrad.ones((2, 3)), minigrad.ones(3))
        tensor([3., 3.])
    """
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum: text such as 'ij,j->i' comes first, got {type(equation).__name__}"
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])  # the operands in a list, as in PyTorch
    inputs, output = _explicit(equation, operands)
    tensors: list[Any] = []
    terms: list[str] = []
    unused = iter(sorted(set(string.ascii_letters) - set("".join(inputs) + output)))
    for labels, operand in zip(inputs, operands, strict=True):
        # A repeated label becomes a masked sum, so no rule needs to handle it.
        for i, label in enumerate(labels):
            if label in labels[:i]:
                mask = _diagonal(shape_of(operand), labels.index(label), i)
                operand = where(mask, operand, 0)
                labels = labels[:i] + next(unused) + labels[i + 1 :]
        tensors.append(operand)
        terms.append(labels)
    return _einsum(*tensors, inputs=tuple(terms), output=output)


def _diagonal(shape: tuple[int, ...], axis1: int, axis2: int) -> np.ndarray:
    """A mask of equal indices along two axes, which broadcasts over the others."""
    if shape[axis1] != shape[axis2]:
        raise ValueError(
            f"einsum: a repeated label needs axes of one length, axes {axis1} and {axis2} of "
            f"shape {shape} differ"
        )
    lengths = [n if axis in (axis1, axis2) else 1 for axis, n in enumerate(shape)]
    return np.eye(shape[axis1], dtype=bool).reshape(lengths)


def _explicit(subscripts: str, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """Labels for each operand and the output, without ellipsis and with the output spelled out."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    ranks = [len(shape_of(operand)) for operand in operands]
    if len(inputs) != len(operands):
        raise ValueError(f"einsum: {subscripts!r} names {len(inputs)} operands, got {len(ranks)}")
    letters = text.replace("...", "").replace("->", "").replace(",", "")
    if not all(c in string.ascii_letters for c in letters):
        raise ValueError(f"einsum: labels are letters, got {subscripts!r}")
    spare = [c for c in string.ascii_letters if c not in letters]
    hidden = [
        rank - len(term.replace("...", "")) if "..." in term else 0
        for term, rank in zip(inputs, ranks, strict=True)
    ]
    for i, (term, rank, extra) in enumerate(zip(inputs, ranks, hidden, strict=True)):
        if extra < 0 or (extra == 0 and "..." not in term and len(term) != rank):
            raise ValueError(
                f"einsum: {term!r} in {subscripts!r} does not fit operand {i} of shape "
                f"{shape_of(operands[i])}"
            )
    dots = "".join(spare[: max(hidden, default=0)])
    inputs = [
        term.replace("...", dots[len(dots) - extra :])
        for term, extra in zip(inputs, hidden, strict=True)
    ]
    if arrow:
        output = output.replace("...", dots)
    else:
        counts = "".join(inputs)
        output = dots + "".join(sorted(c for c in set(counts) - set(dots) if counts.count(c) == 1))
    if not set(output) <= set("".join(inputs)) or len(set(output)) != len(output):
        raise ValueError(f"einsum: the output of {subscripts!r} repeats or invents a label")
    return inputs, output


@primitive
def _einsum(*operands: Any, inputs: tuple[str, ...], output: str) -> Any:
    out = np.einsum(f"{','.join(inputs)}->{output}", *operands, optimize=len(operands) > 2)
    return out.copy() if out.base is not None else out  # np.einsum("ij->ji") is a view


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


@primitive(promote=("a", "b"), arrays=2)
def _tensordot(a: Any, b: Any, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
    return np.tensordot(a, b, axes)


def tensordot(
    a: Any, b: Any, axes: int | tuple[int | Sequence[int], int | Sequence[int]] = 2
) -> Tensor:
    """Sum products over pairs of axes, as in NumPy.

    Args:
        a: Tensor or array.
        b: Tensor or array.
        axes: The number of last axes of `a` and first axes of `b` to sum over; or an axis or a
            sequence of axes of `a`, and the matching ones of `b`.

    Returns:
        The remaining axes of `a`, then those of `b`.

    Raises:
        ValueError: An axis does not exist or is repeated, or matching axes differ in length.

    Example:
        >>> import minigrad
        >>> a, b = minigrad.ones((2, 3, 4)), minigrad.ones((4, 3, 5))
        >>> minigrad.tensordot(a, b, ([1, 2], [1, 0])).shape
        minigrad.Size([2, 5])
    """
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(left, right):
            raise ValueError(
                f"tensordot: {axes} axes are to meet, the operands have {left} and {right}"
            )
        return _tensordot(a, b, (tuple(range(left - int(axes), left)), tuple(range(int(axes)))))
    if len(axes) != 2:
        raise ValueError(f"tensordot: axes must be a number or a pair, got {axes!r}")
    pair = (
        normalize_axis_tuple(axes[0], left, "tensordot: axes of a"),
        normalize_axis_tuple(axes[1], right, "tensordot: axes of b"),
    )
    if len(pair[0]) != len(pair[1]):
        raise ValueError(f"tensordot: as many axes of a as of b must meet, got {axes!r}")
    return _tensordot(a, b, pair)


def _tensordot_a(g: Any, a_shape: tuple[int, ...], b: Any, axes: Any) -> Any:
    kept = [axis for axis in range(len(a_shape)) if axis not in axes[0]]
    others = [axis for axis in range(b.ndim) if axis not in axes[1]]
    part = np.tensordot(g, b, (range(len(kept), g.ndim), others))
    order = [*kept, *(axes[0][i] for i in np.argsort(axes[1]))]  # in the order of b's axes
    return np.transpose(part, np.argsort(order).tolist())


def _tensordot_b(g: Any, a: Any, b_shape: tuple[int, ...], axes: Any) -> Any:
    kept = [axis for axis in range(len(b_shape)) if axis not in axes[1]]
    others = [axis for axis in range(a.ndim) if axis not in axes[0]]
    part = np.tensordot(a, g, (others, range(len(others))))
    order = [*(axes[1][i] for i in np.argsort(axes[0])), *kept]
    return np.transpose(part, np.argsort(order).tolist())


_tensordot.defvjp(a=_tensordot_a, b=_tensordot_b)
