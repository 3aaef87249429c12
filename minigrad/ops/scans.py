"""Scans: cumulative sums, products and extremes along an axis, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad.autograd.errors import value_error
from minigrad.autograd.primitives import of_numpy, primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import constant, formula, within_rule, zero_safe
from minigrad.ops.elementwise import add, subtract
from minigrad.ops.gathering import take_along_axis
from minigrad.ops.joining import along
from minigrad.ops.logic import not_equal
from minigrad.ops.sorting import ValuesAndIndices

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "diff", "logcumsumexp"]


@of_numpy(np.cumsum, arrays=1, casts=True, float16_in=np.float32, axes=("axis",))
def cumsum(x: Any, axis: int | None = None, *, dtype: Any = None) -> Any:
    """Compute the cumulative sum along an axis: the sum of each element and all before it.

    Args:
        x: Tensor, array or number.
        axis: The axis; the tensor is flattened if None.
        dtype: The dtype in which to add, and of the result: `x` is cast to it first.

    Returns:
        A tensor of the shape of `x`, or with one axis; in the dtype of `x` (float16 is accumulated
        in float32; bools and small integers become 64-bit integers).

    Raises:
        TypeError: Tensors cannot have the dtype.
        ValueError: The axis does not exist.

    Example:
        >>> import minigrad
        >>> minigrad.ops.cumsum(minigrad.tensor([1.0, 2.0, 3.0]))
        tensor([1., 3., 6.])
    """


@of_numpy(np.cumprod, arrays=1, casts=True, float16_in=np.float32, axes=("axis",))
def cumprod(x: Any, axis: int | None = None, *, dtype: Any = None) -> Any:
    """Compute the cumulative product along an axis: the product of each element and all before it.

    Derivatives of every order are correct with any number of zeros, because there is no division. A
    backward pass over n elements takes log2(n) steps, each over the whole tensor. Arguments,
    dtypes and errors are as for `cumsum`.

    Source: The backward pass is a parallel scan: Hillis and Steele 1986, "Data parallel
    algorithms".
    """


@primitive(arrays=1, float_inputs=True, float16_in=np.float32, axes=("axis",))
def logcumsumexp(x: Any, axis: int) -> Any:
    """Compute the logarithm of the cumulative sum of exponentials along an axis, without overflow.

    Args:
        x: Tensor or array.
        axis: The axis.

    Returns:
        A tensor of the shape of `x`. Where all so far is -inf, the gradient is 0.

    Raises:
        ValueError: The axis does not exist.
    """
    return np.logaddexp.accumulate(x, normalize_axis_index(axis, x.ndim))


@primitive(arrays=1, axes=("axis",))
def _running_places(x: Any, axis: int, largest: bool) -> Any:
    """Where the largest or smallest element so far is: the last of equal ones, or a NaN."""
    best = (np.maximum if largest else np.minimum).accumulate(x, axis)
    numbers = np.arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - axis - 1))
    return np.maximum.accumulate(np.where((x == best) | (x != x), numbers, 0), axis)


def cummax(x: Any, axis: int) -> ValuesAndIndices:
    """Find the largest element so far along an axis, and its index.

    Args:
        x: Tensor or array.
        axis: The axis.

    Returns:
        The values and their indices, int64, both of the shape of `x`; of equal elements the last
        one counts, for indices and for gradients. NaN is larger than any number.

    Raises:
        ValueError: The axis does not exist.
    """
    return _extremes_so_far("cummax", x, axis, largest=True)


def cummin(x: Any, axis: int) -> ValuesAndIndices:
    """Find the smallest element so far along an axis, and its index; otherwise as `cummax`.

    NaN is smaller than any number.
    """
    return _extremes_so_far("cummin", x, axis, largest=False)


def _extremes_so_far(name: str, x: Any, axis: int, largest: bool) -> ValuesAndIndices:
    x, axis, _ = along(name, x, axis)
    indices = _running_places(x, axis, largest)
    return ValuesAndIndices(take_along_axis(x, indices, axis), indices)


def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Compute the difference of each element and the one before it along an axis.

    Args:
        x: Tensor or array.
        n: How many times to take differences.
        axis: The axis.
        prepend: Added before `x` first: a number, or a tensor whose other axes fit.
        append: Added after `x` first, likewise.

    Returns:
        A tensor shorter by `n` along the axis; for bools, whether neighbours differ. For ``n = 0``
        it is `x` itself, with nothing added, as in NumPy.

    Raises:
        ValueError: The axis does not exist, `n` is negative, or `prepend` or `append` does not fit.
    """
    if n < 0:
        raise value_error(f"diff: n must not be negative, got {n}")
    x, axis, _ = along("diff", x, axis)
    if not n:
        return x
    x = _extended(x, axis, prepend, append)
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = (not_equal if x.dtype == np.bool_ else subtract)(later, earlier)
    return x


def _extended(x: Tensor, axis: int, prepend: Any, append: Any) -> Tensor:
    """`x` with `prepend` and `append`; numbers are repeated along the other axes."""
    if prepend is None and append is None:
        return x
    edge = np.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    parts = [part for part in (prepend, x, append) if part is not None]
    parts = [part if np.ndim(part) else add(edge, part) for part in parts]
    extended: Any = np.concatenate(parts, axis=axis)
    return extended


def products_of_others(x: Any) -> Any:
    """The product of all other elements along the last axis, for each one; without a division."""
    return products_before(x) * products_before(x[..., ::-1])[..., ::-1]


def products_before(x: Any) -> Any:
    """The product of all elements before each one along the last axis; 1 for the first."""
    if not x.shape[-1]:
        return x
    shifted = np.concatenate([np.ones((*x.shape[:-1], 1), x.dtype), x[..., :-1]], axis=-1)
    return within_rule(cumprod, shifted, -1)


def _carried_back(g: Any, x: Any) -> Any:
    """Solve ``s[k] = g[k] + x[k + 1] * s[k + 1]`` along the last axis.

    Before the step of width w, ``s[k]`` holds the terms of g[k] to g[k + w - 1], and ``lead[k]``
    the product that leads from s[k + w] to s[k]. A step doubles w.
    """
    s, lead, w = g, x[..., 1:], 1  # (..., n), (..., n - w)
    while w < x.shape[-1]:
        later = s[..., w:]
        s = np.concatenate([s[..., :-w] + later * zero_safe(lead, later), s[..., -w:]], axis=-1)
        lead = lead[..., :-w] * lead[..., w:]
        w *= 2
    return s


@formula("flip(cumsum(flip(g, axis), axis), axis)")
def _cumsum_x(g: Any, x_shape: tuple[int, ...], axis: int | None) -> Any:
    """The cumulative sum of `g` from the end: an element is in its own sum and all after it."""
    along = -1 if axis is None else axis
    from_the_end = g.swapaxes(along, -1)[..., ::-1]
    sums = within_rule(cumsum, from_the_end, -1)[..., ::-1]
    return sums.swapaxes(along, -1).reshape(x_shape)


@formula(
    """
    x = x.reshape(-1) if axis is None else x  #
    # computed without a division, so x may be 0
    flip(cumsum(flip(g * out, axis), axis), axis) / x
    """
)
def _cumprod_x(g: Any, x: Any, axis: int | None) -> Any:
    """The derivative of each product: the elements before times the elements after."""
    flat = axis is None or x.ndim == 0
    rows = x.reshape(-1) if flat else x.swapaxes(axis, -1)
    after = _carried_back(g if flat else g.swapaxes(axis, -1), rows)
    cotangent = after * zero_safe(products_before(rows), after)
    return cotangent.reshape(x.shape) if flat else cotangent.swapaxes(axis, -1)


@formula("a - b  # -inf where both are infinite")
def _lead(a: Any, b: Any) -> Any:
    """The difference of logarithms, of which the first is not the larger one."""
    return a - np.where(constant(b) == -np.inf, np.inf, b)


@formula("exp(x) * flip(cumsum(flip(g * exp(-out), axis), axis), axis)  # without overflow")
def _logcumsumexp_x(g: Any, x: Any, out: Any, axis: int) -> Any:
    """The share of each element in its own sum and all after it."""
    g, x, out = (a.swapaxes(axis, -1) for a in (g, x, out))
    grown = np.exp(_lead(out[..., :-1], out[..., 1:]))  # at most 1
    first = np.ones((*out.shape[:-1], 1), out.dtype)
    shares = np.concatenate([first, grown], axis=-1)
    cotangent = _carried_back(g, shares) * np.exp(_lead(x, out))
    return cotangent.swapaxes(axis, -1)


# The table.
cumsum.defvjp(x=_cumsum_x)
cumprod.defvjp(x=_cumprod_x)
logcumsumexp.defvjp(x=_logcumsumexp_x)
