"""Products of vectors and matrices: matmul and linear, and NumPy's dot and its kin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import shape_of, within_rule
from minigrad.ops._parallel import PRODUCTS_PER_NS, for_rows, shared, worthwhile
from minigrad.ops.elementwise import multiply
from minigrad.ops.shapes import moveaxis, reshape, transpose

__all__ = ["cross", "dot", "inner", "kron", "matmul", "outer", "tensordot", "vdot", "vecdot"]


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


@primitive(numpy=np.matmul, explain_error=_cannot_multiply)
def matmul(a: Any, b: Any) -> Any:
    """Compute the matrix product, as ``a @ b`` in NumPy.

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
        minigrad.Size([2, 4])
    """
    if a.ndim > 2 and b.ndim == 2 and a.size and a.flags.c_contiguous:
        # One product instead of a stack of products.
        return _product(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[1])
    return _product(a, b)


SMALL = 1000
"""Below this number of elements, products are not examined further."""
BLOCK = 512
"""The maximum number of rows of a product that a thread computes at a time."""


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b``; threads share the rows of large matrices, or the matrices of stacks."""
    large = a.size >= SMALL and a.ndim == b.ndim > 1 and a.dtype.kind == "f"
    effort = a.size * b.shape[-1] / PRODUCTS_PER_NS if large else 0
    fits = a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2] if large else False
    if not fits or not worthwhile(effort):  # for two matrices `dot` has half the overhead
        return a.dot(b) if a.ndim == 2 == b.ndim else np.matmul(a, b)
    out = np.empty((*a.shape[:-1], b.shape[-1]), np.result_type(a, b))

    def work(i: int, j: int) -> None:
        np.matmul(a[i:j], b if a.ndim == 2 else b[i:j], out=out[i:j])

    for_rows(len(a), shared(len(a), BLOCK, effort), effort, work)
    return out


def _matmul_a(g: Any, a_shape: tuple[int, ...], b: Any) -> Any:
    if b.ndim == 1:
        return g[..., None] * b  # (..., n) x (k,) -> (..., n, k)
    if len(a_shape) == 1:
        return (b @ g[..., None])[..., 0]  # (..., k, m) @ (..., m, 1) -> (..., k)
    return within_rule(matmul, g, b.swapaxes(-1, -2))


def _matmul_b(g: Any, a: Any, b_shape: tuple[int, ...]) -> Any:
    if a.ndim == 1:
        if len(b_shape) == 1:
            return g * a
        return a[:, None] * g[..., None, :]  # (k, 1) x (..., 1, m) -> (..., k, m)
    if len(b_shape) == 1:
        return (a.swapaxes(-1, -2) @ g[..., None])[..., 0]  # (..., k, n) @ (..., n, 1)
    if len(b_shape) == 2 and a.ndim > 2:  # sum over the leading axes within the product
        a, g = _rows(a), _rows(g)
    return within_rule(matmul, a.swapaxes(-1, -2), g)


@primitive(arrays=3, promote=("x", "weight", "bias"))
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """Apply an affine map to the last axis: ``x @ weight.T + bias``.

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
        tensor([[4., 4., 4., 4.],
                [4., 4., 4., 4.]])
    """
    if weight.ndim != 2:
        raise ArgumentError(f"the weight must have shape (out, in), got {weight.shape}")
    if x.shape[-1:] != weight.shape[1:]:
        raise ArgumentError(
            f"the input has shape {x.shape}, its last axis must be {weight.shape[1]} "
            f"for a weight of shape {weight.shape}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ArgumentError(f"a bias of shape {bias.shape} does not fit {weight.shape[0]} outputs")
    rows = _rows(x)
    out = np.empty((*x.shape[:-1], len(weight)), x.dtype)
    flat = _rows(out)
    effort = x.size * len(weight) / PRODUCTS_PER_NS
    if worthwhile(effort):

        def work(start: int, stop: int) -> None:
            np.matmul(rows[start:stop], weight.T, out=flat[start:stop])
            if bias is not None:
                flat[start:stop] += bias  # while it is in the cache

        for_rows(len(rows), shared(len(rows), BLOCK, effort), effort, work)
    else:
        np.dot(rows, weight.T, out=flat)
        if bias is not None:
            flat += bias
    return out


def _rows(x: Any) -> Any:
    """All axes but the last as one: (..., n) -> (R, n)."""
    if x.ndim == 2:
        return x
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _linear_weight(g: Any, x: Any) -> Any:
    if x.ndim == 1:
        return g[:, None] * x
    return within_rule(matmul, _rows(g).swapaxes(0, 1), _rows(x))


def dot(a: Any, b: Any) -> Tensor:
    """Compute the dot product, as in NumPy: of vectors the inner, of matrices the matrix product.

    Args:
        a: Shape (..., k), or a number.
        b: Shape (k,) or (..., k, m), or a number.

    Returns:
        Sums over the last axis of `a` and the second-last (the only) of `b`; the remaining axes of
        `a` come first, then those of `b`. With a number, the elementwise product. The leading axes
        do not broadcast: for stacks of matrices use `matmul`.

    Raises:
        ValueError: The lengths of the two axes differ.
    """
    left, right = shape_of(a), shape_of(b)
    if not left or not right:
        return multiply(a, b)
    if len(left) == 1 or len(right) <= 2:
        return matmul(a, b)
    return tensordot(a, b, ((-1,), (-2,)))


def inner(input: Any, other: Any) -> Tensor:
    """Sum products over the last axes, as in NumPy; with a number, multiply element by element.

    Returns:
        The leading axes of `input`, then those of `other`.

    Raises:
        ValueError: The last axes differ in length.

    Example:
        >>> import minigrad
        >>> minigrad.inner(minigrad.ones((2, 3)), minigrad.ones((4, 3))).shape
        minigrad.Size([2, 4])
    """
    if not shape_of(input) or not shape_of(other):
        return multiply(input, other)
    return tensordot(input, other, ((-1,), (-1,)))


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
    """
    left, right = shape_of(a), shape_of(b)
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(len(left), len(right)):
            raise ValueError(f"tensordot: {axes} axes of {len(left)} and {len(right)} are to meet")
        axes = range(len(left) - int(axes), len(left)), range(int(axes))
    if len(axes) != 2:
        raise ValueError(f"tensordot: axes must be a number or a pair, got {axes!r}")
    of_a = normalize_axis_tuple(axes[0], len(left), "tensordot: axes of a")
    of_b = normalize_axis_tuple(axes[1], len(right), "tensordot: axes of b")
    if [left[axis] for axis in of_a] != [right[axis] for axis in of_b]:
        raise ValueError(
            f"tensordot: axes {of_a} of a {left} and {of_b} of b {right} must match in number and "
            f"length"
        )
    rows = [axis for axis in range(len(left)) if axis not in of_a]
    columns = [axis for axis in range(len(right)) if axis not in of_b]
    shape = *(left[axis] for axis in rows), *(right[axis] for axis in columns)
    size = math.prod(left[axis] for axis in of_a)
    a = reshape(_in_order(a, (*rows, *of_a)), (math.prod(shape[: len(rows)]), size))
    b = reshape(_in_order(b, (*of_b, *columns)), (size, math.prod(shape[len(rows) :])))
    return reshape(matmul(a, b), shape)


def _in_order(x: Any, axes: tuple[int, ...]) -> Any:
    """The transpose; of axes in order it is `x` itself."""
    return x if axes == tuple(range(len(axes))) else transpose(x, axes)


def outer(a: Any, b: Any) -> Tensor:
    """Compute the outer product of the flattened tensors, as in NumPy: shape (a.size, b.size)."""
    return multiply(reshape(a, (-1, 1)), reshape(b, (1, -1)))


def vdot(input: Any, other: Any) -> Tensor:
    """Sum the products of all corresponding elements, as in NumPy; both tensors are flattened.

    Raises:
        ValueError: The numbers of elements differ.

    Example:
        >>> import minigrad
        >>> minigrad.vdot(minigrad.ones((2, 3)), minigrad.ones((3, 2)))
        tensor(6.)
    """
    return matmul(reshape(input, -1), reshape(other, -1))


@primitive
def _vecdot(a: Any, b: Any) -> Any:
    return np.vecdot(a, b)


def vecdot(a: Any, b: Any, axis: int = -1) -> Tensor:
    """Compute the dot products of stacks of vectors, with broadcasting.

    Args:
        a: Tensor or array with at least one axis.
        b: The same. The other axes broadcast.
        axis: The axis of the vectors, in both.

    Returns:
        The broadcast shape without the axis of the vectors.

    Raises:
        ValueError: The vectors differ in length, or the other axes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.vecdot(minigrad.ones((4, 3)), minigrad.ones(3)).tolist()
        [3.0, 3.0, 3.0, 3.0]
    """
    return _vecdot(*_along_last(a, b, axis))


@primitive
def _cross(a: Any, b: Any) -> Any:
    if not np.shape(a)[-1:] == np.shape(b)[-1:] == (3,):
        raise ArgumentError(
            f"vectors of length 3 expected along the axis, got shapes {np.shape(a)} and "
            f"{np.shape(b)} (the axis of the vectors moved to the end)"
        )
    return np.cross(a, b)


def cross(a: Any, b: Any, *, axis: int = -1) -> Tensor:
    """Compute the cross products of 3-d vectors, with broadcasting; arguments as for `vecdot`.

    They are along the same axis of the result, at right angles to the vectors of `a` and `b`.

    Raises:
        ValueError: The vectors are not of length 3, or the other axes do not broadcast.
    """
    out = _cross(*_along_last(a, b, axis))
    return out if axis == -1 else moveaxis(out, -1, axis)


def _along_last(a: Any, b: Any, axis: int) -> tuple[Any, Any]:
    """Both operands with the vectors along the last axis."""
    return (a, b) if axis == -1 else (moveaxis(a, axis, -1), moveaxis(b, axis, -1))


def kron(input: Any, other: Any) -> Tensor:
    """Compute the Kronecker product, as in NumPy: each element of `input` times all of `other`.

    Its shape is (input.shape[0] * other.shape[0], ...); the shorter one gets leading axes.

    Example:
        >>> import minigrad
        >>> minigrad.kron(minigrad.tensor([1.0, 10.0]), minigrad.tensor([1.0, 2.0])).tolist()
        [1.0, 2.0, 10.0, 20.0]
    """
    left, right = shape_of(input), shape_of(other)
    ndim = max(len(left), len(right))
    left = (1,) * (ndim - len(left)) + left
    right = (1,) * (ndim - len(right)) + right
    blocks = reshape(input, tuple(length for n in left for length in (n, 1)))  # (n0, 1, n1, 1, ...)
    block = reshape(other, tuple(length for n in right for length in (1, n)))  # (1, m0, 1, m1, ...)
    shape = tuple(n * m for n, m in zip(left, right, strict=True))
    return reshape(multiply(blocks, block), shape)


matmul.defvjp(a=_matmul_a, b=_matmul_b)
linear.defvjp(x=lambda g, weight: within_rule(matmul, g, weight))
linear.defvjp(weight=_linear_weight, bias=lambda g: g)
_vecdot.defvjp(a=lambda g, b: g[..., None] * b, b=lambda g, a: g[..., None] * a)
_cross.defvjp(a=lambda g, b: np.cross(b, g), b=lambda g, a: np.cross(g, a))
matmul.defformula(
    """
    g = g[..., None] if b.ndim == 1 else g  #
    g = g[..., None, :] if a.ndim == 1 else g  #
    a = a[None] if a.ndim == 1 else a  # a vector counts as a row
    b = b[:, None] if b.ndim == 1 else b  # a vector counts as a column
    """,
    a="g @ b.mT",
    b="""
    g = _rows(g) if len(b_shape) == 2 < a.ndim else g  #
    a = _rows(a) if len(b_shape) == 2 < a.ndim else a  # a vector, and leading axes, count as rows
    a.mT @ g
    """,
)
linear.defformula(
    """
    g = _rows(np.atleast_2d(g))  #
    x = _rows(np.atleast_2d(x))  # the leading axes count as one
    """,
    weight="g.mT @ x",
)
linear.defformula(out="x @ weight.mT if bias is None else x @ weight.mT + bias")
matmul.defformula(out="a @ b")
