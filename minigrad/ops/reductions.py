"""Reductions over axes: sum, mean, var, max, min, norm, logsumexp, argmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import Axis, kept_shape, raw, spread, total

__all__ = ["argmax", "logsumexp", "max", "mean", "min", "norm", "sum", "var"]


def _count(shape: tuple[int, ...], axis: Axis) -> int:
    """How many elements a reduction over `axis` puts into one."""
    kept = kept_shape(shape, axis)
    n = 1
    for size, left in zip(shape, kept, strict=True):
        n *= size if left == 1 else 1
    return n


def _degrees(n: int, ddof: int) -> int:
    """What the squares are divided by: not less than 0, where the variance is NaN."""
    return n - ddof if n > ddof else 0


_sum: Any = np.add.reduce


def _add_up(x: Any, axis: Axis, keepdims: bool) -> Any:
    if x.dtype == np.float16:  # accumulate in float32
        return _sum(x, axis, np.float32, None, keepdims)
    if x.dtype.kind == "f":
        return _sum(x, axis, None, None, keepdims)
    return x.sum(axis=axis, keepdims=keepdims)


@primitive(np.sum, arrays=1)
def sum(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Sum over axes.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to sum over; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The sum, in the dtype of `x` (float16 is accumulated in float32; bools are counted).

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.sum(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
        Tensor([4., 6.], dtype=float32)
    """
    out = _add_up(x, axis, keepdims)
    return out.astype(np.float16) if x.dtype == np.float16 else out


@primitive(np.mean, floating=True)
def mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Average over axes.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to average over; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The mean, in the dtype of `x`; NaN of nothing.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.mean(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
        Tensor([2., 3.], dtype=float32)
    """
    with np.errstate(invalid="ignore"):
        average = _add_up(x, axis, keepdims) / _count(x.shape, axis)
    return average.astype(x.dtype, copy=False)


@primitive(np.var, floating=True)
def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The variance over axes, exact to rounding also far from zero.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        ddof: The divisor is the number of elements less `ddof` (0 as in NumPy; 1 for PyTorch's).
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The variance, in the dtype of `x`.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.var(minigrad.tensor([1.0, 2.0, 3.0]), ddof=1)
        Tensor(1., dtype=float32)
    """
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    n = _count(x.shape, axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = wide - _add_up(wide, axis, True) / n
        centred -= _add_up(centred, axis, True) / n  # what rounding the mean left behind
        squares = _add_up(centred * centred, axis, keepdims)
        return (squares / _degrees(n, ddof)).astype(x.dtype, copy=False)


@primitive(np.max, arrays=1)
def max(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The greatest element over axes; equal ones share the gradient evenly.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The values only, in the dtype of `x`; `argmax` tells where they stand.

    Raises:
        ValueError: An axis does not exist, or there is nothing to choose from.

    Example:
        >>> import minigrad
        >>> minigrad.max(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        Tensor([2., 4.], dtype=float32)
    """
    return x.max(axis=axis, keepdims=keepdims)


@primitive(np.min, arrays=1)
def min(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The least element over axes; equal ones share the gradient evenly.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The values only, in the dtype of `x`.

    Raises:
        ValueError: An axis does not exist, or there is nothing to choose from.

    Example:
        >>> import minigrad
        >>> minigrad.min(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        Tensor([1., 3.], dtype=float32)
    """
    return x.min(axis=axis, keepdims=keepdims)


@primitive(np.argmax, arrays=1)
def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Where the greatest element stands; the first of equal ones. It records nothing.

    Args:
        x: Tensor, array or number.
        axis: The axis to search along; the flattened tensor if None.
        keepdims: Keep the reduced axis with length 1.

    Returns:
        Indices, int64.

    Raises:
        ValueError: The axis does not exist, or there is nothing to choose from.

    Example:
        >>> import minigrad
        >>> minigrad.argmax(minigrad.tensor([[1.0, 2.0], [4.0, 3.0]]), axis=1)
        Tensor([1, 0], dtype=int64)
    """
    return x.argmax(axis=axis, keepdims=keepdims)


@primitive(np.linalg.norm, floating=True)
def norm(x: Any, ord: float = 2, axis: Axis = None, keepdims: bool = False) -> Any:
    """The vector norm over axes: the ord-th root of the sum of the ord-th powers.

    Args:
        x: Tensor, array or number. Over two axes, 2 is the Frobenius norm.
        ord: At least 1; ``float("inf")`` for the greatest absolute value.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The norm; its gradient at 0 is 0.

    Raises:
        ValueError: `ord` is less than 1 or no number, or an axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.norm(minigrad.tensor([3.0, 4.0]))
        Tensor(5., dtype=float32)
    """
    if not isinstance(ord, (int, float)) or not ord >= 1:
        raise ValueError(f"ord must be a number of at least 1, got {ord!r}")
    size = np.absolute(x)
    scale = size.max(axis=axis, keepdims=True, initial=0)
    if ord == np.inf:
        return scale.reshape(_reduced_shape(x, axis, keepdims))
    # Scaled by the greatest, so that neither squares overflow nor small ones vanish.
    safe = np.where((scale == 0) | ~np.isfinite(scale), 1, scale).astype(x.dtype)
    out = total((size / safe) ** ord, axis) ** (1 / ord) * safe
    return out.astype(x.dtype, copy=False).reshape(_reduced_shape(x, axis, keepdims))


@primitive(floating=True)
def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials over axes, without overflow.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The logarithm; -inf, with gradient 0, where all elements are -inf.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.logsumexp(minigrad.tensor([1000.0, 1000.0]))
        Tensor(1000.6931, dtype=float32)
    """
    top = x.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        out = np.log(total(np.exp(x - top), axis)) + top
    return out.astype(x.dtype, copy=False).reshape(_reduced_shape(x, axis, keepdims))


def _reduced_shape(x: np.ndarray, axis: Axis, keepdims: bool) -> tuple[int, ...]:
    shape: tuple[int, ...] = np.any(x, axis=axis, keepdims=keepdims).shape
    return shape


def _extreme(g: Any, x: Any, out: Any, axis: Axis) -> Any:
    """The cotangent of max and min: shared evenly among the elements that attain them."""
    attained = raw(x) == raw(out).reshape(kept_shape(x.shape, axis))
    share = attained / attained.sum(axis=axis, keepdims=True)
    return spread(g, x.shape, axis) * share.astype(x.dtype)


def _norm_x(g: Any, x: Any, out: Any, ord: float, axis: Axis) -> Any:
    if ord == np.inf:
        return _extreme(g, np.absolute(x), out, axis) * np.sign(x)
    top = out.reshape(kept_shape(x.shape, axis))
    top = np.where(raw(top) == 0, 1, top)
    if ord == 2:
        return spread(g, x.shape, axis) * (x / top)
    if ord == 1:
        return spread(g, x.shape, axis) * np.sign(x)
    return spread(g, x.shape, axis) * (np.sign(x) * (np.absolute(x) / top) ** (ord - 1))


def _logsumexp_x(g: Any, x: Any, out: Any, axis: Axis) -> Any:
    top = out.reshape(kept_shape(x.shape, axis))
    top = np.where(raw(top) == -np.inf, 0, top)
    return spread(g, x.shape, axis) * np.exp(x - top)


def _var_x(g: Any, x: Any, axis: Axis, ddof: int) -> Any:
    centred = x - x.mean(axis=axis, keepdims=True)
    centred = centred - centred.mean(axis=axis, keepdims=True)  # as in the forward
    left = _degrees(_count(x.shape, axis), ddof)
    return spread(g, x.shape, axis) * (centred * (2 / left if left else np.inf))


def _part(shape: tuple[int, ...], axis: Axis) -> float:
    """What one element counts in a mean: a factor, since float16 holds no large count."""
    n = _count(shape, axis)
    return 1 / n if n else np.inf


sum.defvjp(x=lambda g, x_shape, axis: spread(g, x_shape, axis))
mean.defvjp(x=lambda g, x_shape, axis: spread(g * _part(x_shape, axis), x_shape, axis))
var.defvjp(x=_var_x)
max.defvjp(x=_extreme)
min.defvjp(x=_extreme)
norm.defvjp(x=_norm_x)
logsumexp.defvjp(x=_logsumexp_x)
