"""Statistics over axes: mean, var, std."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import (
    Axis,
    add_up,
    flat_at_zero,
    formula,
    kept_shape,
    reduced_size,
    stopped,
    undo_reduction,
    widened,
)

__all__ = ["mean", "std", "var"]


def _degrees(n: int, ddof: int) -> int:
    """The divisor of the variance: at least 0, where the variance is NaN."""
    return n - ddof if n > ddof else 0


def _variance(x: Any, axis: Axis, ddof: int, keepdims: bool) -> Any:
    if isinstance(ddof, bool):
        raise TypeError(f"ddof: a number expected, got {ddof}")
    """The variance; float16 is accumulated in float32."""
    wide = widened(x)
    n = reduced_size(x.shape, axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = wide - add_up(wide, axis, True) / n
        centred -= add_up(centred, axis, True) / n  # the rounding error of the mean
        return add_up(centred * centred, axis, keepdims) / _degrees(n, ddof)


@primitive(np.mean, float_inputs=True)
def mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Average over axes.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to average over; all of them if None.
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The mean, in the dtype of `x`; NaN for an empty axis.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.mean(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
        Tensor([2., 3.], dtype=float32)
    """
    with np.errstate(invalid="ignore"):
        average = add_up(x, axis, keepdims) / reduced_size(x.shape, axis)
    return average.astype(x.dtype, copy=False)


@primitive(np.var, float_inputs=True)
def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The variance over axes, accurate also if the mean is large.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        ddof: The divisor is the number of elements minus `ddof` (0 as in NumPy; 1 for PyTorch's).
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
    return _variance(x, axis, ddof, keepdims).astype(x.dtype, copy=False)


@primitive(np.std, float_inputs=True)
def std(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The standard deviation over axes; of a constant it is 0, with gradient 0.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        ddof: The divisor is the number of elements minus `ddof` (0 as in NumPy; 1 for PyTorch's).
        keepdims: Keep the reduced axes with length 1.

    Returns:
        The root of the variance, in the dtype of `x`.

    Raises:
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.std(minigrad.tensor([1.0, 2.0, 3.0]), ddof=1)
        Tensor(1., dtype=float32)
    """
    return np.sqrt(_variance(x, axis, ddof, keepdims)).astype(x.dtype, copy=False)


def _centred(x: Any, axis: Axis) -> Any:
    """`x` minus its mean, as in the forward pass."""
    centred = x - x.mean(axis=axis, keepdims=True)
    return centred - centred.mean(axis=axis, keepdims=True)


@formula(
    """
    n = float(reduced_size(x.shape, axis))  # how many elements are reduced to one
    spread(g, x.shape, axis) * (2 * (x - mean(x, axis))) / (n - ddof)
    """
)
def _var_x(g: Any, x: Any, axis: Axis, ddof: int) -> Any:
    left = _degrees(reduced_size(x.shape, axis), ddof)
    return undo_reduction(g, x.shape, axis) * (_centred(x, axis) * (2 / left if left else np.inf))


@formula(
    """
    n = float(reduced_size(x.shape, axis))  # how many elements are reduced to one
    out = out.reshape(kept_shape(x.shape, axis))  #
    spread(g, x.shape, axis) * (x - mean(x, axis)) / ((n - ddof) * out)  # 0 where y is 0
    """
)
def _std_x(g: Any, x: Any, out: Any, axis: Axis, ddof: int) -> Any:
    left = _degrees(reduced_size(x.shape, axis), ddof)
    part = 1 / left if left else np.inf  # a factor: float16 cannot hold a large count
    deviation = flat_at_zero(out.reshape(kept_shape(x.shape, axis)))
    return undo_reduction(stopped(g, out), x.shape, axis) * (_centred(x, axis) / deviation * part)


@formula("1 / reduced_size(shape, axis)")
def _part(shape: tuple[int, ...], axis: Axis) -> float:
    """1 / count, the weight of an element in a mean: float16 cannot hold a large count."""
    n = reduced_size(shape, axis)
    return 1 / n if n else np.inf


mean.defvjp(x=lambda g, x_shape, axis: undo_reduction(g * _part(x_shape, axis), x_shape, axis))
var.defvjp(x=_var_x)
std.defvjp(x=_std_x)
