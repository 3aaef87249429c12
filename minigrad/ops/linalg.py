"""Products: matmul, linear and einsum."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import raw
from minigrad.ops.choices import where

if TYPE_CHECKING:
    from minigrad._tensor import Tensor

__all__ = ["einsum", "linear", "matmul"]


def _cannot_multiply(a: Any, b: Any) -> str | None:
    a, b = np.asarray(a), np.asarray(b)
    shown = f"{a.shape} @ {b.shape}"
    if not a.ndim or not b.ndim:
        return f"{shown}: both need at least one axis; write * to scale"
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        which = "second-last" if b.ndim > 1 else "only"
        return (
            f"{shown}: the last axis of a ({a.shape[-1]}) and the {which} of b ({inner}) must match"
        )
    return f"{shown}: the leading axes {a.shape[:-2]} and {b.shape[:-2]} do not broadcast"


@primitive(np.matmul, complain=_cannot_multiply)
def matmul(a: Any, b: Any) -> Any:
    """The matrix product, as ``a @ b`` in NumPy.

    Args:
        a: Shape (..., n, k), or (k,).
        b: Shape (..., k, m), or (k,). The leading axes broadcast.

    Returns:
        Shape (..., n, m), without the axis of a vector.

    Raises:
        ValueError: The inner lengths differ, or the leading axes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.matmul(minigrad.ones((2, 3)), minigrad.ones((3, 4))).shape
        (2, 4)
    """
    if b.ndim == 2 and a.ndim > 2 and a.size and a.flags.c_contiguous:
        # One product instead of a stack of them.
        return (a.reshape(-1, a.shape[-1]) @ b).reshape(*a.shape[:-1], b.shape[1])
    return np.matmul(a, b)


def _matmul_a(g: Any, a_shape: tuple[int, ...], b: Any) -> Any:
    if b.ndim == 1:
        return g[..., None] * b  # (..., n) x (k,) -> (..., n, k)
    if len(a_shape) == 1:
        return (b @ g[..., None])[..., 0]  # (..., k, m) @ (..., m, 1) -> (..., k)
    return g @ b.swapaxes(-1, -2)


def _matmul_b(g: Any, a: Any, b_shape: tuple[int, ...]) -> Any:
    if a.ndim == 1:
        if len(b_shape) == 1:
            return g * a
        return a[:, None] * g[..., None, :]  # (k, 1) x (..., 1, m) -> (..., k, m)
    if len(b_shape) == 1:
        return (a.swapaxes(-1, -2) @ g[..., None])[..., 0]  # (..., k, n) @ (..., n, 1)
    if len(b_shape) == 2 and a.ndim > 2:  # sum over the leading axes within the product
        rows = math.prod(a.shape[:-1])
        return a.reshape(rows, a.shape[-1]).swapaxes(0, 1) @ g.reshape(rows, g.shape[-1])
    return a.swapaxes(-1, -2) @ g


def _cannot_map(x: Any, weight: Any, bias: Any) -> str | None:
    if weight.ndim != 2:
        return f"the weight must have shape (out, in), got {weight.shape}"
    if not x.ndim or x.shape[-1] != weight.shape[1]:
        return (
            f"the input has shape {x.shape}, its last axis must be {weight.shape[1]} "
            f"for a weight of shape {weight.shape}"
        )
    return f"a bias of shape {bias.shape} does not fit {weight.shape[0]} outputs"


@primitive(arrays=3, promotes=("x", "weight", "bias"), complain=_cannot_map)
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """An affine map of the last axis: ``x @ weight.T + bias``.

    Args:
        x: Shape (..., in).
        weight: Shape (out, in).
        bias: Shape (out,), or None.

    Returns:
        Shape (..., out).

    Raises:
        ValueError: The shapes do not fit.

    Example:
        >>> import minigrad
        >>> minigrad.ops.linear(minigrad.ones((2, 3)), minigrad.ones((4, 3)), minigrad.ones(4))
        Tensor([[4., 4., 4., 4.],
                [4., 4., 4., 4.]], dtype=float32)
    """
    if weight.ndim != 2 or (bias is not None and bias.shape != weight.shape[:1]):
        raise ValueError("shapes")
    out = x.reshape(-1, x.shape[-1]) @ weight.T if x.ndim > 2 and x.size else x @ weight.T
    if bias is not None:
        out += bias
    return out.reshape(*x.shape[:-1], weight.shape[0])


def _linear_weight(g: Any, x: Any) -> Any:
    if x.ndim == 1:
        return g[:, None] * x
    rows = math.prod(x.shape[:-1])
    return g.reshape(rows, g.shape[-1]).swapaxes(0, 1) @ x.reshape(rows, x.shape[-1])


def einsum(subscripts: str, *operands: Any) -> Tensor:
    """Einstein summation, as in NumPy.

    Args:
        subscripts: Such as ``"bij,bjk->bik"``; an ellipsis stands for leading axes, a repeated
            label in one operand takes its diagonal.
        *operands: A tensor for each group of labels.

    Returns:
        The contraction.

    Raises:
        ValueError: The labels do not fit the operands.

    Example:
        >>> import minigrad
        >>> minigrad.einsum("ij,j->i", minigrad.ones((2, 3)), minigrad.ones(3))
        Tensor([3., 3.], dtype=float32)
    """
    inputs, output = _explicit(subscripts, operands)
    tensors: list[Any] = []
    terms: list[str] = []
    unused = iter(sorted(set(string.ascii_letters) - set("".join(inputs) + output)))
    for labels, operand in zip(inputs, operands, strict=True):
        # A diagonal is a sum with zeros beside it: then no rule meets a repeated label.
        for i, label in enumerate(labels):
            if label in labels[:i]:
                mask = _diagonal(np.shape(raw(operand)), labels.index(label), i)
                operand = where(mask, operand, 0)
                labels = labels[:i] + next(unused) + labels[i + 1 :]
        tensors.append(operand)
        terms.append(labels)
    return _einsum(*tensors, inputs=tuple(terms), output=output)


def _diagonal(shape: tuple[int, ...], axis1: int, axis2: int) -> np.ndarray:
    """Where the indices along two axes are equal, to be broadcast over the others."""
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
    ranks = [np.ndim(raw(operand)) for operand in operands]
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
                f"{np.shape(raw(operands[i]))}"
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


def _cannot_contract(operands: Any, inputs: Any, output: str) -> str | None:
    shown = ", ".join(f"{t}: {np.shape(o)}" for t, o in zip(inputs, operands, strict=True))
    return f"the lengths of a label differ: {shown}"


@primitive(complain=_cannot_contract)
def _einsum(*operands: Any, inputs: tuple[str, ...], output: str) -> Any:
    out = np.einsum(f"{','.join(inputs)}->{output}", *operands, optimize=len(operands) > 2)
    return out.copy() if out.base is not None else out  # np.einsum("ij->ji") is a view


@_einsum.defjoint("operands")
def _einsum_operands(
    g: Any,
    needed: tuple[bool, ...],
    operands: tuple[Any, ...],
    inputs: tuple[str, ...],
    output: str,
) -> list[Any]:
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
        # Along a label that was only summed, or that the others broadcast, it is constant.
        lengths = iter(part.shape)
        sizes = tuple(next(lengths) if label in seen else 1 for label in inputs[i])
        full = np.broadcast_shapes(sizes, operands[i].shape)
        if full != part.shape:
            part = np.broadcast_to(part.reshape(sizes), full)
        parts.append(part)
    return parts


matmul.defvjp(a=_matmul_a, b=_matmul_b)
linear.defvjp(
    x=lambda g, weight: g @ weight,
    weight=_linear_weight,
    bias=lambda g: g,
)
