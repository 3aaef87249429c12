"""Statistics: mean, variance and deviation over axes, counts and histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import located
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import (
    Axis,
    add_up,
    array_of,
    constant,
    formula,
    inf_where_zero,
    kept_shape,
    reduced_axes,
    reduced_size,
    root_of_squares,
    shape_of,
    stopped,
    undo_reduction,
    zeroed,
)
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import getitem, index_of, integers
from minigrad.ops.shapes import reshape

__all__ = ["bincount", "histogram", "mean", "nanmean", "std", "var"]


def _degrees(n: int, ddof: int) -> int:
    """The divisor of the variance: at least 0, where the variance is NaN."""
    return n - ddof if n > ddof else 0


def _deviations(x: np.ndarray, axis: Axis, ddof: int) -> tuple[np.ndarray, int]:
    """The distance of each element from the mean, and the divisor of the variance."""
    if isinstance(ddof, bool):
        raise TypeError(f"ddof: a number expected, got {ddof}")
    n = reduced_size(x.shape, axis)
    centred = x - add_up(x, axis, True) / n
    centred -= add_up(centred, axis, True) / n  # the rounding error of the mean
    return centred, _degrees(n, ddof)


@primitive(numpy=np.mean, arrays=1, float_inputs=True, casts=True, axes=("axis",))
def mean(x: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """Average over axes, in the dtype of `x`; arguments and errors as for `sum`.

    A `dtype` must be a float. The mean of an empty axis is NaN.
    """
    with np.errstate(invalid="ignore"):
        average = add_up(x, axis, keepdims) / reduced_size(x.shape, axis)
    return average.astype(x.dtype, copy=False)


@primitive(numpy=np.nanmean, arrays=1, float_inputs=True, casts=True, axes=("axis",))
def nanmean(x: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """Average as `mean` does, but without NaN, which has gradient 0; NaN where all is NaN."""
    gone = np.isnan(x)
    total = add_up(np.where(gone, x.dtype.type(0), x), axis, keepdims)
    with np.errstate(invalid="ignore"):
        average = total / (~gone).sum(axis=axis, keepdims=keepdims)
    return average.astype(x.dtype, copy=False)


@primitive(
    numpy=np.var, arrays=1, float_inputs=True, casts=True, float16_in=np.float32, axes=("axis",)
)
def var(
    x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False, *, dtype: Any = None
) -> Any:
    """Compute the variance over axes, in the dtype of `x`, accurate also if the mean is large.

    Args:
        x: Tensor, array or number.
        axis: The axis or axes to reduce; all of them if None.
        ddof: The divisor is the number of elements minus `ddof` (0 as in NumPy; 1 for PyTorch's).
        keepdims: Keep the reduced axes with length 1.
        dtype: The float dtype in which to compute, and of the result: `x` is cast to it first.

    Raises:
        TypeError: The dtype is not a float.
        ValueError: An axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.ops.var(minigrad.tensor([1.0, 2.0, 3.0]), ddof=1)
        tensor(1.)
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        centred, left = _deviations(x, axis, ddof)
        variance = add_up(centred * centred, axis, keepdims) / left
        if math.isfinite(np.vdot(variance, variance)):
            return variance
        # The sum may be infinite where the mean is not.
        return np.square(root_of_squares(centred, axis, left)).reshape(variance.shape)


@primitive(
    numpy=np.std, arrays=1, float_inputs=True, casts=True, float16_in=np.float32, axes=("axis",)
)
def std(
    x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False, *, dtype: Any = None
) -> Any:
    """Compute the standard deviation over axes, the root of `var`; 0 with gradient 0 of a constant.

    Example:
        >>> import minigrad
        >>> minigrad.ops.std(minigrad.tensor([1.0, 2.0, 3.0]), ddof=1)
        tensor(1.)
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        centred, left = _deviations(x, axis, ddof)
        deviation = root_of_squares(centred, axis, left)
    return deviation if keepdims else deviation.squeeze(axis)


@primitive(numpy=np.bincount, arrays=2)
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Count how often each integer occurs, or the sum of the weights beside it.

    Args:
        x: Integers of at least 0, shape (n,).
        weights: Shape (n,); it receives a gradient.
        minlength: The least length of the result.

    Returns:
        A count for each number from 0 to the greatest of `x`, int64; sums in the dtype of the
        weights, which integers have as floats.

    Raises:
        TypeError: `x` does not hold integers.
        ValueError: An integer is negative, or the shapes do not fit.
    """
    places = integers(x, "the input")
    if weights is None:
        return np.bincount(places, minlength=minlength)
    dtype = weights.dtype if weights.dtype.kind == "f" else get_default_dtype()
    return np.bincount(places, weights, minlength).astype(dtype)


def histogram(
    x: Any, bins: Any = 10, range: tuple[float, float] | None = None, density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Count the elements that fall into each of a row of intervals. Not differentiable in `x`.

    Args:
        x: Tensor or array of any shape.
        bins: The number of intervals, which have one width, or their edges, in ascending order.
        range: The lower and the upper end of all intervals; the extremes of `x` if None. What lies
            outside is not counted.
        density: Divide by the width of the interval and by the sum of all.
        weights: Numbers of the shape of `x`, to add up in place of 1; they receive a gradient.

    Returns:
        The counts (int64) or sums, shape (n,), and the edges, shape (n + 1,). Only the last
        interval contains its upper edge.

    Raises:
        ValueError: The edges descend, the range is not finite, or the weights have another shape.

    Example:
        >>> import minigrad
        >>> counts, edges = minigrad.ops.histogram(minigrad.tensor([1.0, 2.0, 1.0, 4.0]), bins=3)
        >>> counts.tolist(), edges.tolist()
        ([2, 1, 1], [1.0, 2.0, 3.0, 4.0])
    """
    values = np.asarray(array_of(x)).ravel()
    try:
        edges = np.histogram_bin_edges(values, array_of(bins), range)
    except (TypeError, ValueError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            located(f"histogram: {error}; got bins {bins!r}, range {range}")
        ) from None
    n = len(edges) - 1
    if not (edges[:-1] <= edges[1:]).all():  # NaN, which NumPy lets pass
        raise value_error(f"histogram: edges must ascend, got {edges.tolist()}")
    places = np.searchsorted(edges, values, "right") - 1
    places[values == edges[-1]] = n - 1
    inside = (places >= 0) & (places < n)
    if weights is not None:
        weights = as_tensor(weights)
        if weights.shape != shape_of(x):
            raise value_error(
                f"histogram: weights of the shape {shape_of(x)} of x expected, got {weights.shape}"
            )
        weights = getitem(reshape(weights, -1), inside)
    counts = bincount(places[inside], weights, n)
    dtype = values.dtype if values.dtype.kind == "f" else get_default_dtype()
    borders = as_tensor(edges.astype(dtype))
    if density:
        widths = np.diff(edges).astype(dtype if weights is None else counts.dtype)
        counts = counts / widths / counts.sum()
    return counts, borders


def _centred(x: Any, axis: Axis) -> Any:
    """`x` minus its mean, as in the forward pass."""
    axes = tuple(reduced_axes(x.ndim, axis))  # none of a number, which NumPy's mean refuses one
    centred = x - np.mean(x, axis=axes, keepdims=True)
    return centred - np.mean(centred, axis=axes, keepdims=True)


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
    deviation = inf_where_zero(out.reshape(kept_shape(x.shape, axis)))
    return undo_reduction(stopped(g, out), x.shape, axis) * (_centred(x, axis) / deviation * part)


@formula("1 / reduced_size(shape, axis)")
def _part(shape: tuple[int, ...], axis: Axis) -> float:
    """1 / count, the weight of an element in a mean: float16 cannot hold a large count."""
    n = reduced_size(shape, axis)
    return 1 / n if n else np.inf


@formula(
    """
    n = np.sum(~np.isnan(x), axis, keepdims=True)  # how many elements are not NaN
    where(isnan(x), 0, spread(g, x.shape, axis) / n)
    """
)
def _nanmean_x(g: Any, x: Any, axis: Axis) -> Any:
    gone = np.isnan(constant(x))
    n = np.sum(~gone, axis=axis, dtype=np.float64)  # float16 cannot hold a large count
    share = (1 / np.maximum(n, 1)).astype(x.dtype)
    return zeroed(undo_reduction(g * share.reshape(g.shape), x.shape, axis), gone)


nanmean.defvjp(x=_nanmean_x)
bincount.defvjp(weights=lambda g, x: np.take(g, index_of(x)))
mean.defvjp(x=lambda g, x_shape, axis: undo_reduction(g * _part(x_shape, axis), x_shape, axis))
var.defvjp(x=_var_x)
std.defvjp(x=_std_x)
mean.defformula(out="np.mean(x, axis, keepdims=keepdims)")
for _one, _formula in ((var, "{}"), (std, "sqrt({})")):
    _one.defformula(
        "n = float(reduced_size(x.shape, axis) - ddof)  # how many numbers there are, less ddof",
        out=_formula.format("np.sum((x - mean(x, axis)) ** 2, axis, keepdims=keepdims) / n"),
    )
