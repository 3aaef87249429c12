"""Reductions over axes: sum, prod, max, min, norm, logsumexp, argmax and their kin; distances."""

import math
from contextlib import nullcontext
from typing import Any

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import (
    Axis,
    add_up,
    attains,
    constant,
    extent,
    formula,
    inf_where_zero,
    kept_shape,
    reduced_axes,
    root_of_squares,
    stopped,
    times_sign,
    total,
    undo_reduction,
    zero_gradient,
    zero_safe,
    zeroed,
)
from minigrad.ops.casting import floating
from minigrad.ops.logic import isnan
from minigrad.ops.scans import products_of_others
from minigrad.ops.selection import where
from minigrad.ops.shapes import expand_dims

__all__ = ["argmax", "argmin", "cdist", "logsumexp", "max", "min", "nansum", "norm", "prod", "sum"]


@primitive(numpy=np.sum, arrays=1, casts=True, axes=("axis",))
def sum(x: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """Sum over axes.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to sum over; all of them if None.
        keepdims: Keep the reduced axes with length 1.
        dtype: The dtype in which to add, and of the result: `x` is cast to it first.

    Returns:
        The sum, in the dtype of `x` (float16 is accumulated in float32); without a dtype, bools
        are counted, and small integers become 64-bit integers.

    Raises:
        TypeError: Tensors cannot have the dtype.
        ValueError: An axis does not exist.
    """
    out = add_up(x, axis, keepdims)
    return out.astype(np.float16) if x.dtype == np.float16 else out


def nansum(x: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum as `sum` does, where NaN counts as 0 and has gradient 0."""
    return where(isnan(x), False, x).sum(axis, keepdims, dtype=dtype)


@primitive(numpy=np.prod, arrays=1, casts=True, float16_in=np.float32, axes=("axis",))
def prod(x: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """Multiply over axes; derivatives of every order are correct with any number of zeros.

    Arguments and errors are as for `sum`. The product has the dtype of `x` (float16 is multiplied
    in float32; bools and small integers become 64-bit integers); that of an empty axis is 1.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([2.0, 0.0, 4.0], requires_grad=True)
        >>> minigrad.prod(x).backward()
        >>> x.grad
        tensor([0., 8., 0.])
    """
    return x.prod(axis=axis, keepdims=keepdims)


@primitive(numpy=np.max, arrays=1, axes=("axis",))
def max(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Find the maximum over axes; equal maxima share the gradient evenly. See also `argmax`.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Raises:
        ValueError: An axis does not exist or is empty.

    Example:
        >>> import minigrad
        >>> minigrad.ops.max(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        tensor([2., 4.])
    """
    return x.max(axis=axis, keepdims=keepdims)


@primitive(numpy=np.min, arrays=1, axes=("axis",))
def min(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Find the minimum over axes, as for `max`; equal minima share the gradient evenly.

    Example:
        >>> import minigrad
        >>> minigrad.ops.min(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        tensor([1., 3.])
    """
    return x.min(axis=axis, keepdims=keepdims)


@primitive(numpy=np.argmax, arrays=1, axes=("axis",))
def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Find the index (int64) of the maximum; the first of equal ones. Not differentiable.

    Args:
        x: Tensor, array or number.
        axis: The axis to search along; the flattened tensor if None.
        keepdims: Keep the reduced axis with length 1.

    Raises:
        ValueError: The axis does not exist or is empty.
    """
    return x.argmax(axis=axis, keepdims=keepdims)


@primitive(numpy=np.argmin, arrays=1, axes=("axis",))
def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Find the index of the minimum, as for `argmax`."""
    return x.argmin(axis=axis, keepdims=keepdims)


@primitive(float_inputs=True, float16_in=np.float32, axes=("axis",))
def norm(x: Any, ord: float = 2, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the vector norm over axes: the ord-th root of the sum of the ord-th powers.

    Args:
        x: Tensor, array or number. Over two axes, 2 is the Frobenius norm.
        ord: Any number; inf and -inf for the largest and the smallest absolute value, 0 for the
            number of nonzero elements, whose gradient is 0.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The norm, also where the powers would overflow or underflow. Its gradient is 0 where the
        norm is 0, and for orders below 1 where the element is 0.

    Raises:
        ValueError: `ord` is not a number, or an axis does not exist.
    """
    if not isinstance(ord, (int, float, np.integer, np.floating)) or np.isnan(ord):
        raise ValueError(f"ord must be a number, got {ord!r}")
    out = _norm(x, float(ord), axis)
    return out if keepdims else out.squeeze(axis)


def _norm(x: Any, ord: float, axis: Axis) -> Any:
    """The norm, with reduced axes of length 1."""
    if ord == 2:
        return root_of_squares(x, axis)
    if ord in (0, 1):
        return total(np.absolute(x) if ord else (x != 0).astype(x.dtype), axis)
    size = np.absolute(x)
    if ord > 0:
        extreme = size.max(axis=axis, keepdims=True, initial=0)
    else:
        start = {} if ord == -np.inf else {"initial": np.inf}
        extreme = size.min(axis=axis, keepdims=True, **start)
    if abs(ord) == np.inf:
        return extreme
    scale = extent(extreme)  # so that powers neither overflow nor underflow
    with np.errstate(divide="ignore") if ord < 0 else nullcontext():
        return total((size / scale) ** ord, axis) ** (1 / ord) * scale


@primitive(float_inputs=True, float16_in=np.float32, axes=("axis",))
def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the logarithm of the sum of exponentials over axes, without overflow.

    Arguments and errors are as for `sum`. Where all elements are -inf, it is -inf with gradient 0.
    """
    top = x.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        out = np.log(total(np.exp(x - top), axis)) + top
    return out if keepdims else out.squeeze(axis)


@formula(
    """
    out = np.prod(x, axis, keepdims=True)  #
    spread(g, x.shape, axis) * out / x  # computed without a division, so x may be 0
    """
)
def _prod_x(g: Any, x: Any, axis: Axis) -> Any:
    """The cotangent times the product of all other elements, without a division."""
    gone = reduced_axes(x.ndim, axis)
    order = (*(a for a in range(x.ndim) if a not in gone), *sorted(gone))
    moved = np.transpose(x, order)  # (*kept, *reduced)
    kept = moved.shape[: x.ndim - len(gone)]
    rows = moved.reshape((*kept, math.prod(moved.shape[len(kept) :])))  # (*kept, n)
    others = products_of_others(rows).reshape(moved.shape)
    others = np.transpose(others, np.argsort(order).tolist())
    g = undo_reduction(g, x.shape, axis)
    return g * zero_safe(others, g)


def _extreme(g: Any, x: Any, out: Any, axis: Axis) -> Any:
    """The cotangent of max and min, shared evenly among equal extreme elements."""
    attained = attains(constant(x), constant(out).reshape(kept_shape(x.shape, axis)))
    share = 1 / np.sum(attained, axis=axis, keepdims=True)
    return zeroed(undo_reduction(g, x.shape, axis), ~attained) * share.astype(x.dtype)


def _norm_x(g: Any, x: Any, out: Any, ord: float, axis: Axis) -> Any:
    g = stopped(g, out)
    if ord == np.inf or ord == -np.inf:
        return times_sign(_extreme(g, np.absolute(x), out, axis), x)
    if ord == 0:
        return zero_gradient(undo_reduction(g, x.shape, axis))
    top = out.reshape(kept_shape(x.shape, axis))
    if ord < 1:  # powers of 0 are infinite
        g = zeroed(g, constant(out) == 0)
        size = np.where(constant(x) == 0, 1, np.absolute(x))
        slope = np.sign(x) * (size / np.where(constant(top) == 0, 1, top)) ** (ord - 1)
        return undo_reduction(g, x.shape, axis) * slope
    top = inf_where_zero(top)
    if ord == 2:
        return undo_reduction(g, x.shape, axis) * (x / top)
    if ord == 1:
        return times_sign(undo_reduction(g, x.shape, axis), x)
    return undo_reduction(g, x.shape, axis) * (np.sign(x) * (np.absolute(x) / top) ** (ord - 1))


@formula(
    """
    out = out.reshape(kept_shape(x.shape, axis))  #
    spread(g, x.shape, axis) * exp(x - out)  # 0 where y is −∞
    """
)
def _logsumexp_x(g: Any, x: Any, out: Any, axis: Axis) -> Any:
    top = out.reshape(kept_shape(x.shape, axis))
    top = np.where(constant(top) == -np.inf, 0, top)
    return undo_reduction(g, x.shape, axis) * np.exp(x - top)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """Compute the distance between each point of one set and each of another.

    The differences are taken one by one, so it needs the memory of (..., n, m, d) numbers.

    Args:
        x1: Points, shape (..., n, d).
        x2: Points, shape (..., m, d). The leading axes broadcast.
        p: The order of the norm, at least 0; inf for the greatest difference.
        compute_mode: PyTorch's, without an effect.

    Returns:
        Shape (..., n, m). Equal points have distance 0, with gradient 0 for `p` of at least 1.

    Raises:
        ValueError: The shapes do not fit, or `p` is negative.

    Example:
        >>> import minigrad
        >>> minigrad.cdist(minigrad.zeros(1, 2), minigrad.tensor([[3.0, 4.0]])).tolist()
        [[5.0]]
    """
    a, b = floating(x1), floating(x2)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        raise value_error(
            f"cdist: points of shapes (..., n, d) and (..., m, d) expected, got {a.shape} and "
            f"{b.shape}"
        )
    if not p >= 0:
        raise value_error(f"cdist: p must be at least 0, got {p}")
    return norm(expand_dims(a, -2) - expand_dims(b, -3), p, -1)


sum.defvjp(x=lambda g, x_shape, axis: undo_reduction(g, x_shape, axis))
sum.defformula(out="np.sum(x, axis, keepdims=keepdims)")
prod.defvjp(x=_prod_x)
max.defvjp(x=_extreme)
min.defvjp(x=_extreme)
norm.defvjp(x=_norm_x)
logsumexp.defvjp(x=_logsumexp_x)
logsumexp.defformula(out="log(np.sum(exp(x), axis, keepdims=keepdims))")
