"""Elementwise selection: extremes, clip, where, masks, and NaN replaced."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from minigrad.autograd.errors import type_error
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import constant, formula, values_of, zeroed
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import getitem
from minigrad.ops.shapes import broadcast_shape, broadcast_to
from minigrad.ops.sorting import nonzero
from minigrad.support.checks import fitted

__all__ = [
    "clip", "fmax", "fmin", "masked_fill", "masked_select", "maximum", "minimum", "nan_to_num",
    "where",
]  # fmt: skip


@of_numpy(np.maximum)
def maximum(a: Any, b: Any) -> Any:
    """Compute the elementwise maximum, NaN where either is NaN.

    Arguments and errors are as for `add`. Equal elements share the gradient evenly.

    Example:
        >>> import minigrad
        >>> minigrad.maximum(minigrad.tensor([1.0, 5.0]), 3)
        tensor([3., 5.])
    """


@of_numpy(np.minimum)
def minimum(a: Any, b: Any) -> Any:
    """Compute the elementwise minimum, NaN where either is NaN.

    Arguments and errors are as for `add`. Equal elements share the gradient evenly.

    Example:
        >>> import minigrad
        >>> minigrad.minimum(minigrad.tensor([1.0, 5.0]), 3)
        tensor([1., 3.])
    """


@of_numpy(np.fmax)
def fmax(a: Any, b: Any) -> Any:
    """Compute the elementwise maximum, where NaN counts as missing.

    Arguments and errors are as for `add`. Of equal elements, `a` receives the gradient.

    Example:
        >>> import minigrad
        >>> minigrad.fmax(minigrad.tensor([1.0, float("nan")]), 3)
        tensor([3., 3.])
    """


@of_numpy(np.fmin)
def fmin(a: Any, b: Any) -> Any:
    """Compute the elementwise minimum, where NaN counts as missing.

    Arguments and errors are as for `add`. Of equal elements, `a` receives the gradient.

    Example:
        >>> import minigrad
        >>> minigrad.fmin(minigrad.tensor([1.0, float("nan")]), 3)
        tensor([1., 3.])
    """


@primitive(numpy=np.nan_to_num, arrays=1)
def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
    neginf: float | None = None,
) -> Any:  # fmt: skip
    """Replace NaN and the infinities by numbers, in the dtype of `x`; the derivative is 0 there.

    Args:
        x: Tensor, array or number.
        copy: Only True: the result is always new.
        nan: The replacement of NaN.
        posinf: The replacement of inf; the greatest number of the dtype if None.
        neginf: The replacement of -inf; the least number of the dtype if None.

    Raises:
        ValueError: `copy` is something else than True.

    Example:
        >>> import minigrad
        >>> minigrad.nan_to_num(minigrad.tensor([1.0, float("nan"), float("inf")]), posinf=9)
        tensor([1., 0., 9.])
    """
    if copy is not True:
        raise ValueError(
            f"copy must be True, got {copy!r}: x is not written to; the number that replaces "
            f"NaN is named, nan={copy!r}"
        )
    return np.nan_to_num(x, True, nan, posinf, neginf)


@primitive(numpy=np.clip, arrays=3, promote=("x", "low", "high"))
def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    # NumPy 2.0 does not accept clip without bounds.
    return x.copy() if low is None and high is None else np.clip(x, low, high)


def clip(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """Limit each element to the range from `min` to `max`; the slope at the bounds is 1.

    None means no bound. Arguments and errors are as for `add`.

    Example:
        >>> import minigrad
        >>> minigrad.clip(minigrad.tensor([-1.0, 0.5, 7.0]), 0, 1)
        tensor([0.0000, 0.5000, 1.0000])
    """
    return _clip(input, min, max)


@primitive(promote=("a", "b"))
def _where(condition: Any, a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if one.__class__ is int:  # NumPy would overflow
            fitted(np.asarray(one), other.dtype, "where")
    return np.where(condition, a, b)


@overload
def where(condition: Any) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Any, input: Any, other: Any) -> Tensor: ...
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Take from `input` where the condition holds, from `other` elsewhere.

    Args:
        condition: Bools.
        input: Tensor, array or number.
        other: The same; the three shapes broadcast together. Without both, returns the indices
            where the condition holds, as `nonzero`.

    Raises:
        TypeError: Only one of the two is given.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([-1.0, 2.0])
        >>> minigrad.where(x > 0, x, 10 * x)
        tensor([-10.,   2.])
    """
    if input is None and other is None:
        return nonzero(condition)
    if input is None or other is None:
        raise type_error("where: both input and other expected, or neither, got one of them")
    return _where(condition, input, other)


@primitive(arrays=3)
def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"the mask must hold bools, got {mask.dtype}; write mask != 0")
    if np.size(value) != 1:
        raise ValueError(f"value must be one number, got shape {np.shape(value)}; use where")
    return np.where(mask, fitted(np.asarray(value), x.dtype, "masked_fill").reshape(()), x)


def masked_fill(input: Any, mask: Any, value: Any) -> Tensor:
    """Replace elements by a value where the mask is True, in the dtype of `input`.

    Args:
        input: Tensor, array or number.
        mask: Bools of a shape that broadcasts with `input`.
        value: A number, or a tensor with one element.

    Raises:
        TypeError: The mask does not hold bools.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.masked_fill(minigrad.ones(3), minigrad.tensor([True, False, True]), -1)
        tensor([-1.,  1., -1.])
    """
    x = as_tensor(input)
    if isinstance(value, float) or (isinstance(value, int) and x.dtype.kind == "f"):
        value = np.float64(value)  # a Python number has no dtype: take that of `x`
    return _masked_fill(x, mask, value)


def masked_select(input: Any, mask: Any) -> Tensor:
    """Return the elements where the mask is True, in a row: shape (n,).

    Args:
        input: Tensor or array.
        mask: Bools of a shape that broadcasts with `input`.

    Raises:
        TypeError: The mask does not hold bools.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minigrad
        >>> minigrad.masked_select(minigrad.tensor([1.0, 2.0, 3.0]), [True, False, True])
        tensor([1., 3.])
    """
    x, where_true = as_tensor(input), np.asarray(values_of(mask))
    if where_true.dtype != np.bool_:
        raise type_error(
            f"masked_select: the mask must hold bools, got {where_true.dtype}; write mask != 0"
        )
    shape = broadcast_shape("masked_select", x.shape, where_true.shape)
    wide = x if x.shape == shape else broadcast_to(x, shape)
    return getitem(wide, np.broadcast_to(where_true, shape))


@formula(
    """
    low = -np.inf if low is None else low  # −∞ where there is none
    high = np.inf if high is None else high  # ∞ where there is none
    where((low <= x) & (x <= high), g, 0)
    """
)
def _clip_x(g: Any, x: Any, low: Any, high: Any) -> Any:
    inside: Any = np.True_ if low is None else constant(x) >= constant(low)
    return zeroed(g, ~(inside if high is None else inside & (constant(x) <= constant(high))))


@formula(
    """
    high = np.inf if high is None else high  # ∞ where there is none
    where((x < low) & (low <= high), g, 0)
    """
)
def _clip_low(g: Any, x: Any, low: Any, high: Any) -> Any:
    chosen = constant(x) < constant(low)
    return zeroed(g, ~(chosen if high is None else chosen & (constant(low) <= constant(high))))


@formula(
    """
    low = -np.inf if low is None else low  # −∞ where there is none
    where(max(x, low) > high, g, 0)
    """
)
def _clip_high(g: Any, x: Any, low: Any, high: Any) -> Any:
    limited = constant(x) if low is None else np.maximum(constant(x), constant(low))
    return zeroed(g, ~(limited > constant(high)))  # the upper bound wins if low > high


@formula("where(condition, g, 0)")
def _chosen(g: Any, condition: Any) -> Any:
    """`g` where the condition holds, exactly 0 elsewhere."""
    return zeroed(g, np.logical_not(condition))


@formula("(a >= b) | isnan(b)")
def _takes_first(a: Any, b: Any) -> Any:
    """Where `fmax` takes `a`: it is at least `b`, or `b` is NaN."""
    return (constant(a) >= constant(b)) | np.isnan(constant(b))


@formula("g * (a > b) + 0.5 * g * (a == b)")
def _if_greater(g: Any, a: Any, b: Any) -> Any:
    """The cotangent where `a` is greater than `b`, half of it where they are equal.

    With NaN it is the full cotangent, as in PyTorch.
    """
    g, equal = zeroed(g, constant(a) < constant(b)), constant(a) == constant(b)
    known = not isinstance(equal, Variable)
    return g if known and not np.count_nonzero(equal) else np.where(equal, 0.5 * g, g)


# The table.
_clip.defvjp(x=_clip_x, low=_clip_low, high=_clip_high)
_masked_fill.defvjp(x=lambda g, mask: zeroed(g, mask), value=lambda g, mask: _chosen(g, mask))
maximum.defvjp(a=lambda g, a, b: _if_greater(g, a, b), b=lambda g, a, b: _if_greater(g, b, a))
minimum.defvjp(a=lambda g, a, b: _if_greater(g, b, a), b=lambda g, a, b: _if_greater(g, a, b))
# fmin(a, b) is -fmax(-a, -b).
fmax.defvjp(a=lambda g, a, b: zeroed(g, ~_takes_first(a, b)))
fmax.defvjp(b=lambda g, a, b: zeroed(g, _takes_first(a, b)))
fmin.defvjp(a=lambda g, a, b: zeroed(g, ~_takes_first(-a, -b)))
fmin.defvjp(b=lambda g, a, b: zeroed(g, _takes_first(-a, -b)))
nan_to_num.defvjp(x=lambda g, x: zeroed(g, ~np.isfinite(constant(x))))
_where.defvjp(a=lambda g, condition: _chosen(g, condition))
_where.defvjp(b=lambda g, condition: zeroed(g, ~np.logical_not(condition)))
_where.defformula(out="where(condition, a, b)")
_masked_fill.defformula(out="where(mask, value, x)")
