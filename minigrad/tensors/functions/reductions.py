"""Functions that reduce axes: sums, extremes, spreads, norms."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

import numpy as np

from minigrad import ops
from minigrad.autograd.dtype_class import printed_as
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.ops import linalg
from minigrad.ops.argument_errors import checked
from minigrad.ops.sorting import ValuesAndIndices
from minigrad.tensors import return_types
from minigrad.tensors.functions.arguments import axes, computed, of_numbers, signed

__all__ = [
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "count_nonzero", "dist",
    "logsumexp", "max", "mean", "median", "min", "nanmean", "nanmedian", "nansum", "norm", "prod",
    "quantile", "std", "std_mean", "sum", "trace", "var", "var_mean",
]  # fmt: skip


@printed_as("aminmax")
class Extremes(NamedTuple):
    """The least and the largest elements."""

    min: Tensor
    max: Tensor


def _truth(x: Any, found: Tensor) -> Tensor:
    """Bools; of uint8, with which bools were written once, uint8."""
    bytes_given = isinstance(x, Variable) and x._data.dtype == np.uint8
    return ops.astype(found, np.uint8) if bytes_given else found


@checked
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Tell whether all elements are true, in all or along axes; along () each one alone.

    Example:
        >>> import minigrad
        >>> minigrad.all(minigrad.tensor([[True, False], [True, True]]), 1).tolist()
        [False, True]
    """
    return _truth(input, ops.all(input, dim and axes(dim), keepdim))


@checked
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Tell whether some element is true, of all or along axes; along () each one alone.

    Example:
        >>> import minigrad
        >>> minigrad.any(minigrad.tensor([[True, False], [False, False]]), 1).tolist()
        [True, False]
    """
    return _truth(input, ops.any(input, dim and axes(dim), keepdim))


@checked
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute the sum of all elements, or along axes.

    Example:
        >>> import minigrad
        >>> minigrad.sum(minigrad.tensor([[1, 2], [3, 4]]), dim=1).tolist()
        [3, 7]
    """
    return computed(ops.sum, dtype, signed(input), axes(dim), keepdim)


@checked
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute the sum without elements that are NaN.

    Example:
        >>> import minigrad
        >>> minigrad.nansum(minigrad.tensor([1.0, minigrad.nan])).item()
        1.0
    """
    return computed(ops.nansum, dtype, signed(input), axes(dim), keepdim)


@checked
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute the mean of all elements, or along axes.

    Example:
        >>> import minigrad
        >>> minigrad.mean(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), 0).tolist()
        [2.0, 3.0]
    """
    return computed(ops.mean, dtype, input, axes(dim), keepdim)


@checked
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute the mean without elements that are NaN.

    Example:
        >>> import minigrad
        >>> minigrad.nanmean(minigrad.tensor([1.0, minigrad.nan, 3.0])).item()
        2.0
    """
    return computed(ops.nanmean, dtype, input, axes(dim), keepdim)


@checked
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Compute the product of all elements, or along an axis.

    Example:
        >>> import minigrad
        >>> minigrad.prod(minigrad.tensor([2, 3, 4])).item()
        24
    """
    return computed(ops.prod, dtype, signed(input), axes(dim), keepdim)


@of_numbers
def logsumexp(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Compute log(sum(exp(input))) along axes, without overflow.

    Example:
        >>> import minigrad
        >>> minigrad.logsumexp(minigrad.tensor([1000.0, 1000.0]), 0).item() > 1000
        True
    """
    return ops.logsumexp(input, axes(dim), keepdim)


@checked
def count_nonzero(input: Any, dim: Any = None) -> Tensor:
    """Count the elements that are not 0.

    Example:
        >>> import minigrad
        >>> minigrad.count_nonzero(minigrad.tensor([0, 3, 0, 1])).item()
        2
    """
    return ops.count_nonzero(input, axes(dim))


# Extremes


def with_places(
    kind: type[ValuesAndIndices], input: Any, index: Any, dim: int, keepdim: bool
) -> ValuesAndIndices:
    """The elements at one place of each line along an axis, in a class of `return_types`."""
    values = ops.take_along_axis(input, index, dim)
    if not keepdim:
        values, index = ops.squeeze(values, dim), ops.squeeze(index, dim)
    return kind(values, index)


def _extreme(
    kind: type[ValuesAndIndices], of_two: Any, of_all: Any, place: Any, x: Any, dim: Any,
    keep: bool, other: Any,
) -> Any:  # fmt: skip
    """The results of `max` and `min`, by three ops."""
    other = dim if isinstance(dim, Variable) else other
    if other is not None:
        return of_two(x, other)
    return of_all(x) if dim is None else _extreme_along(x, dim, keep, kind, place)


@of_numbers
def _extreme_along(x: Any, dim: int, keep: bool, kind: type[ValuesAndIndices], place: Any) -> Any:
    return with_places(kind, x, place(x, dim, True), dim, keep)


@overload
def max(
    input: Any, dim: Tensor | None = None, keepdim: bool = False, *, other: Any = None
) -> Tensor: ...
@overload
def max(input: Any, dim: int, keepdim: bool = False) -> ValuesAndIndices: ...
@checked
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Find the largest element; along an axis with its place; or of two tensors the larger.

    Args:
        input: Tensor, array or number.
        dim: An axis; a tensor here is `other`.
        keepdim: Whether the axis stays, with length 1.
        other: A second tensor, which broadcasts: the larger of each pair is returned.

    Returns:
        The largest of all elements, between which the gradient is shared evenly; or a pair
        `values`, `indices` along an axis, where the gradient goes to the index.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1, 5], [7, 2]])
        >>> minigrad.max(x).item()
        7
        >>> values, indices = x.max(dim=1)
        >>> values.tolist(), indices.tolist()
        ([5, 7], [1, 0])
    """
    return _extreme(return_types.max, ops.maximum, ops.max, ops.argmax, input, dim, keepdim, other)


@overload
def min(
    input: Any, dim: Tensor | None = None, keepdim: bool = False, *, other: Any = None
) -> Tensor: ...
@overload
def min(input: Any, dim: int, keepdim: bool = False) -> ValuesAndIndices: ...
@checked
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Find the least element; along an axis with its place; or of two tensors the lesser.

    Arguments and results are those of `max`.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1, 5], [7, 2]])
        >>> x.min().item(), x.min(0).values.tolist()
        (1, [1, 2])
    """
    return _extreme(return_types.min, ops.minimum, ops.min, ops.argmin, input, dim, keepdim, other)


@checked
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Find the largest elements along axes; equal ones share the gradient evenly.

    Example:
        >>> import minigrad
        >>> minigrad.amax(minigrad.tensor([[1, 5], [7, 2]]), 1).tolist()
        [5, 7]
    """
    return ops.max(input, axes(dim), keepdim)


@checked
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Find the least elements along axes; equal ones share the gradient evenly.

    Example:
        >>> import minigrad
        >>> minigrad.amin(minigrad.tensor([[1, 5], [7, 2]]), 1).tolist()
        [1, 2]
    """
    return ops.min(input, axes(dim), keepdim)


@checked
def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> Extremes:
    """Find the least and the largest elements.

    Example:
        >>> import minigrad
        >>> minigrad.aminmax(minigrad.tensor([3, 1, 2])).max.item()
        3
    """
    return Extremes(ops.min(input, dim, keepdim), ops.max(input, dim, keepdim))


@checked
def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the place of the largest element; without an axis, among all of them.

    Example:
        >>> import minigrad
        >>> minigrad.argmax(minigrad.tensor([[1, 5], [7, 2]])).item()
        2
    """
    return ops.argmax(input, dim, keepdim)


@checked
def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the place of the least element; without an axis, among all of them.

    Example:
        >>> import minigrad
        >>> minigrad.argmin(minigrad.tensor([[1, 5], [7, 2]]), 0).tolist()
        [0, 1]
    """
    return ops.argmin(input, dim, keepdim)


@overload
def median(input: Any, dim: None = None, keepdim: bool = False) -> Tensor: ...
@overload
def median(input: Any, dim: int, keepdim: bool = False) -> ValuesAndIndices: ...
@of_numbers
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Find the median: of two middle elements the lower; along an axis with its place.

    Returns:
        The median of all elements; or a pair `values`, `indices` along an axis. NaN if one is.

    Example:
        >>> import minigrad
        >>> minigrad.median(minigrad.tensor([4.0, 1.0, 3.0, 2.0])).item()
        2.0
    """
    if dim is None and input.dtype.kind == "f":
        return ops.quantile(input, 0.5, method="lower") if np.size(input) else ops.mean(input)
    if dim is None:
        return median(ops.ravel(input), 0).values
    return with_places(return_types.median, input, _median_place(input, dim), dim, keepdim)


@overload
def nanmedian(input: Any, dim: None = None, keepdim: bool = False) -> Tensor: ...
@overload
def nanmedian(input: Any, dim: int, keepdim: bool = False) -> ValuesAndIndices: ...
@of_numbers
def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Find the median of what is not NaN; otherwise as `median`.

    Example:
        >>> import minigrad
        >>> minigrad.nanmedian(minigrad.tensor([3.0, float("nan"), 1.0])).item()
        1.0
    """
    if dim is None:
        known = ops.getitem(input, ~ops.isnan(input))
        return median(known if np.size(known) else input)
    middle = (ops.sum(~ops.isnan(input), dim, True) - 1).clip(0) // 2  # NaN is last
    place = ops.take_along_axis(ops.argsort(input, dim), middle, dim)
    return with_places(return_types.nanmedian, input, place, dim, keepdim)


def _median_place(input: Any, dim: int) -> Any:
    """The place of the lower of the two middle elements, or of the first NaN."""
    n, order = input.shape[dim], ops.argsort(input, dim)  # NaN is last
    nans = ops.sum(ops.isnan(input), dim, True)
    return ops.take_along_axis(order, ops.where(nans > 0, n - nans, (n - 1) // 2), dim)


@of_numbers
def quantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *,
    interpolation: str = "linear",
) -> Tensor:  # fmt: skip
    """Compute the q-th quantiles, of all elements or along an axis.

    Example:
        >>> import minigrad
        >>> minigrad.quantile(minigrad.tensor([0.0, 1.0, 2.0]), 0.25).item()
        0.5
    """
    return ops.quantile(input, q, dim, keepdim, interpolation)


# Spreads and norms


def _lost(dim: Any, unbiased: bool, correction: Any) -> tuple[Any, int]:
    """The axes, and how many degrees of freedom are lost; `dim` may be `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return axes(dim), int(unbiased) if correction is None else correction


@checked
def var(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: int | None = None,
) -> Tensor:  # fmt: skip
    """Compute the variance: the mean square distance from the mean, divided by n - correction.

    Args:
        input: Tensor, array or number.
        dim: An axis, several, or None for all elements.
        unbiased: Whether 1 degree of freedom is lost, if there is no `correction`.
        keepdim: Whether the axes stay, with length 1.
        correction: How many degrees of freedom are lost.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0, 3.0])
        >>> minigrad.var(x).item(), round(minigrad.var(x, correction=0).item(), 4)
        (1.0, 0.6667)
    """
    dims, lost = _lost(dim, unbiased, correction)
    return ops.var(input, dims, lost, keepdim)


@checked
def std(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: int | None = None,
) -> Tensor:  # fmt: skip
    """Compute the standard deviation, the root of the variance: see `var`.

    Example:
        >>> import minigrad
        >>> minigrad.std(minigrad.tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    dims, lost = _lost(dim, unbiased, correction)
    return ops.std(input, dims, lost, keepdim)


@checked
def var_mean(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Compute the variance and the mean.

    Example:
        >>> import minigrad
        >>> [part.item() for part in minigrad.var_mean(minigrad.tensor([1.0, 2.0, 3.0]))]
        [1.0, 2.0]
    """
    dims, lost = _lost(dim, unbiased, correction)
    return ops.var(input, dims, lost, keepdim), ops.mean(input, dims, keepdim)


@checked
def std_mean(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Compute the standard deviation and the mean.

    Example:
        >>> import minigrad
        >>> [part.item() for part in minigrad.std_mean(minigrad.tensor([1.0, 2.0, 3.0]))]
        [1.0, 2.0]
    """
    dims, lost = _lost(dim, unbiased, correction)
    return ops.std(input, dims, lost, keepdim), ops.mean(input, dims, keepdim)


@checked
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """Compute the norm of vectors, or of all elements; "nuc" is a norm of matrices.

    Example:
        >>> import minigrad
        >>> minigrad.norm(minigrad.tensor([3.0, 4.0])).item()
        5.0
    """
    x = input if dtype is None else ops.astype(input, dtype)
    if p == "nuc":
        matrices = x if dim is None else ops.moveaxis(x, axes(dim), (-2, -1))
        return linalg.matrix_norm(matrices, keepdims=keepdim, ord="nuc")
    return ops.norm(x, 2 if p in ("fro", None) else p, axes(dim), keepdim)


def dist(input: Any, other: Any, p: float = 2) -> Tensor:
    """Compute the norm of the difference of two tensors.

    Example:
        >>> import minigrad
        >>> minigrad.dist(minigrad.tensor([3.0, 0.0]), minigrad.tensor([0.0, 4.0])).item()
        5.0
    """
    return ops.norm(ops.subtract(input, other), p)


def trace(input: Any) -> Tensor:
    """Compute the sum of the diagonal of a matrix, or of each of a stack along the last axes.

    Example:
        >>> import minigrad
        >>> minigrad.trace(minigrad.tensor([[1, 2], [3, 4]])).item()
        5
    """
    return ops.trace(signed(input))
