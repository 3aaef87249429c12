"""The helpers of the lines of the table, where one of minigrad's functions is not enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate as running_sums
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import get_default_dtype

__all__ = [
    "Extremes", "NoDtype", "as_dtype", "assert_close", "axes", "block_diagonal", "chosen",
    "chunks_of", "correlation", "cosines", "covariance", "deviation", "flipped_svd",
    "histogram_of", "integers", "joined", "of_axes", "of_floats", "of_numpy", "pairs_of",
    "part", "promoted", "put_at", "put_over", "quotient", "refused", "renormed", "running",
    "running_sums", "scaled", "scattered", "several", "summed_to", "transposed", "trapezoids",
    "unravelled",
]  # fmt: skip


class NoDtype:
    """A dtype that can be named and compared; a TypeError says why nothing has it."""

    itemsize, is_floating_point = 2, True

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def dtype(self) -> NoReturn:
        """The array that NumPy asks for."""
        raise TypeError(f"{self!r} is not a dtype of NumPy's: use torch.float32")

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class Svd(NamedTuple):
    """The factors of a singular value decomposition."""

    U: Any
    S: Any
    V: Any


class Extremes(NamedTuple):
    """The least and the largest elements."""

    min: Any
    max: Any


def refused(name: str, why: str) -> NoReturn:
    """An error for what stays out."""
    raise NotImplementedError(f"torch.{name}: {why}")


def axes(dim: Any) -> Any:
    """The axes of a reduction as a tuple; no axes mean all."""
    return (tuple(dim) or None) if isinstance(dim, (tuple, list)) else dim


def as_dtype(x: Any, dtype: Any) -> Any:
    """The tensor in a dtype, if one is given."""
    return x if dtype is None else ops.astype(x, dtype)


def of_axes(x: Any, count: int, name: str) -> Any:
    """The tensor, which must have so many axes."""
    if x.ndim != count:
        raise RuntimeError(f"{name}: {count} axes expected, got shape {tuple(x.shape)}")
    return x


def of_floats(x: Any, dtype: Any) -> Any:
    """The tensor, whose mean is refused if it holds integers, as PyTorch does."""
    if dtype is None and x.dtype.kind != "f":
        raise RuntimeError(f"mean: a floating-point dtype expected, got {x.dtype}; pass dtype=")
    return x


def scaled(x: Any, by: float) -> Any:
    """A term of a sum; none if it is multiplied by 0, whatever it holds."""
    return x if by == 1 else 0 if by == 0 else x * by


def transposed(x: Any) -> Any:
    """The transpose of a matrix; a vector stays."""
    if x.ndim > 2:
        raise RuntimeError(f"t: at most 2 axes expected, got shape {tuple(x.shape)}; see .mT")
    return ops.transpose(x)


def part(x: Any, dim: int, index: Any) -> Any:
    """Index along one axis."""
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"dim {dim} of a tensor with {x.ndim} axes")
    return ops.getitem(x, (slice(None),) * (dim % x.ndim) + (index,))


def put_at(x: Any, dim: int, index: Any, value: Any) -> Any:
    """The same with other values at some places of an axis."""
    filled = ops.clone(ops.reshape(x, x.shape or (1,)))
    filled[(slice(None),) * (dim % filled.ndim) + (index,)] = value
    return ops.reshape(filled, x.shape)


def joined(tensors: Any, dim: int) -> Any:
    """Tensors one after the other; empty ones of one axis are left out, as PyTorch does."""
    given = list(tensors)
    kept = [x for x in given if tuple(x.shape) != (0,)]
    return ops.concatenate(kept if kept and len(kept) < len(given) else given, dim)


def chunks_of(x: Any, chunks: int, dim: int) -> tuple[Any, ...]:
    """At most `chunks` pieces of one size; the last may be smaller."""
    return pieces(x, max(-(-x.shape[dim] // chunks), 1), dim)


def pieces(x: Any, size: int, dim: int) -> tuple[Any, ...]:
    """Pieces of one size; the last may be smaller."""
    return tuple(ops.split(x, list(range(size, x.shape[dim], size)), dim))


def deviation(
    function: Callable[..., Any], x: Any, dim: Any, unbiased: bool, keepdim: bool, correction: Any
) -> Any:
    """`std` or `var`; `correction` is how many degrees of freedom are lost."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    lost = int(unbiased) if correction is None else correction
    return function(x, axes(dim), lost, keepdim)


def quotient(x: Any, other: Any, rounding_mode: str | None) -> Any:
    """A quotient, perhaps rounded."""
    if rounding_mode is None:
        return ops.divide(x, other)
    if rounding_mode == "floor":
        return ops.floor_divide(x, other)
    if rounding_mode != "trunc":
        raise RuntimeError(f'div: rounding_mode None, "floor" or "trunc", got {rounding_mode!r}')
    floor = ops.floor_divide(x, other)
    if floor.dtype.kind == "f":
        return ops.trunc(ops.divide(x, other))
    return floor + ((floor < 0) & (floor * other != x))


def histogram_of(x: Any, bins: int, low: float, high: float) -> Any:
    """The counts between two bounds, as floats; both 0 mean the least and the largest element."""
    bounds = None if low == high == 0 else (low, high)
    counts = ops.histogram(x, bins, bounds)[0]
    return ops.astype(counts, x.dtype)


def running(function: Callable[..., Any], x: Any, dim: int, dtype: Any) -> Any:
    """`cumsum` or `cumprod`; of a number, the number."""
    found = function(ops.reshape(x, x.shape or (1,)), dim, dtype=dtype)
    return ops.reshape(found, x.shape)


def covariance(x: Any, correction: int) -> Any:
    """The covariance of rows; a number for one row."""
    rows = ops.reshape(x, (1, -1)) if x.ndim < 2 else x
    centred = rows - ops.mean(rows, -1, True)
    joint = ops.matmul(centred, ops.swapaxes(centred, -1, -2)) / (rows.shape[-1] - correction)
    return ops.reshape(joint, ()) if len(rows) == 1 else joint


def correlation(x: Any) -> Any:
    """The correlation of rows."""
    joint = covariance(x, 1)
    if not joint.ndim:
        return joint / joint
    spread = ops.sqrt(ops.diagonal(joint))
    return joint / ops.outer(spread, spread)


def block_diagonal(tensors: Sequence[Any]) -> Any:
    """Matrices along a diagonal, zeros elsewhere."""
    blocks = [ops.reshape(x, (1,) * (2 - x.ndim) + tuple(x.shape)) for x in tensors]
    width = sum(block.shape[1] for block in blocks)
    rows, start = [], 0
    for block in blocks:
        after = width - start - block.shape[1]
        rows.append(ops.pad(block, ((0, 0), (start, after))))
        start += block.shape[1]
    return ops.concatenate(rows)


def several(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors that are given one by one, or as one sequence."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


def integers(x: Any, short: bool) -> Any:
    """Indices as int64, or int32."""
    return ops.astype(x, "int32" if short else "int64")


def of_numpy(name: str, *tensors: Any) -> Any:
    """The result of a function of NumPy's, which has no derivative."""
    found = getattr(np, name)(*[x._data for x in tensors])
    return tuple(map(wrap, found)) if isinstance(found, tuple) else wrap(np.asarray(found))


def chosen(count: int, r: int, again: bool) -> Any:
    """All choices of r of `count` places."""
    choices = combinations_with_replacement if again else combinations
    return np.array([*choices(range(count), r)], np.int64).reshape(-1, r)


def pairs_of(count: int) -> Any:
    """The indices of the pairs of `count` rows."""
    return np.triu_indices(count, 1)


def put_over(x: Any, index: tuple[Any, ...], values: Any, add: bool) -> Any:
    """The tensor with other values at some places, or with values added there."""
    filled = ops.clone(x)
    if not add:
        filled[index] = values
        return filled
    places = np.arange(x._data.size).reshape(x.shape)[tuple([i._data for i in index])]
    source = ops.reshape(ops.broadcast_to(values, places.shape), (-1,))
    return ops.reshape(ops.index_add(ops.ravel(x), 0, places.ravel(), source), x.shape)


def scattered(x: Any, mask: Any, source: Any) -> Any:
    """The tensor with the first elements of a source where a mask holds."""
    chosen = np.broadcast_to(mask._data, x.shape)
    return put_over(x, (chosen,), ops.getitem(ops.ravel(source), slice(int(chosen.sum()))), False)


def flipped_svd(found: Any) -> Any:
    """A decomposition whose last factor is not transposed."""
    u, s, vt = found
    return Svd(u, s, ops.swapaxes(vt, -1, -2))


def trapezoids(y: Any, x: Any, dx: float, dim: int) -> Any:
    """The areas between neighbours along an axis."""
    n = y.shape[dim]
    both = part(y, dim, slice(1, n)) + part(y, dim, slice(0, n - 1))
    if x is None:
        return both * (dx / 2)
    width = ops.diff(x, 1, dim if x.ndim > 1 else -1)
    if x.ndim == 1:
        width = ops.reshape(width, (-1,) + (1,) * (y.ndim - 1 - dim % y.ndim))
    return both * width / 2


def summed_to(x: Any, size: tuple[Any, ...]) -> Any:
    """The sum along the axes that a shape, which broadcasts to this one, does not have."""
    shape = several(size)
    given = (1,) * (x.ndim - len(shape)) + tuple(shape)
    short = tuple(i for i, n in enumerate(given) if n == 1 and x.shape[i] != 1)
    return ops.reshape(ops.sum(x, short, True) if short else x, shape)


def unravelled(indices: Any, shape: Any) -> Any:
    """Indices of all elements as one for each axis."""
    return tuple(map(wrap, np.unravel_index(indices._data, shape)))


def promoted(one: Any, other: Any) -> Any:
    """The dtype of a result of tensors of two dtypes."""
    one, other = np.dtype(one), np.dtype(other)
    if "f" in (one.kind, other.kind) and one.kind != other.kind:
        return one if one.kind == "f" else other
    return np.promote_types(one, other)


def cosines(length: int, periodic: bool, mean: float, *weights: float) -> Any:
    """A window that is a sum of cosines."""
    turns = ops.clip(np.arange(length, dtype=np.float64) / max(length - (not periodic), 1), 0)
    signs = [(-1) ** k * weight for k, weight in enumerate(weights, 1)]
    waves = [ops.cos(2 * np.pi * k * turns) * weight for k, weight in enumerate(signs, 1)]
    return ops.astype(mean + sum(waves), get_default_dtype())


def renormed(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """The tensor whose parts along an axis have at most a norm."""
    norms = ops.norm(ops.reshape(ops.moveaxis(x, dim, 0), (x.shape[dim], -1)), p, 1)
    norms = ops.reshape(norms, (-1,) + (1,) * (x.ndim - 1 - dim % x.ndim))
    return x * ops.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


def assert_close(actual: Any, expected: Any, rtol: Any, atol: Any, nan: bool, dtypes: bool) -> None:
    """An AssertionError unless two tensors, or structures of them, are nearly equal."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), f"keys {[*actual]} and {[*expected]} differ"
        actual, expected = actual.values(), expected.values()
    if isinstance(expected, (tuple, list, type({}.values()))):
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, rtol, atol, nan, dtypes)
        return
    one, other = (np.asarray(getattr(x, "_data", x)) for x in (actual, expected))
    assert one.shape == other.shape, f"shapes {one.shape} and {other.shape} differ"
    assert not dtypes or one.dtype == other.dtype, f"dtypes {one.dtype} and {other.dtype} differ"
    near = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
    usual = near.get(one.dtype.name, (0, 0))
    given: Any = [u if g is None else g for u, g in zip(usual, (rtol, atol), strict=True)]
    np.testing.assert_allclose(one, other, given[0], given[1], equal_nan=nan)
