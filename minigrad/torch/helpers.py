"""What the lines of the table compute with, where one of minigrad's functions is not enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from minigrad import ops

__all__ = [
    "as_dtype", "axes", "block_diagonal", "chunks_of", "correlation", "covariance", "deviation",
    "histogram_of", "joined", "of_axes", "of_floats", "part", "put_at", "quotient", "refused",
    "running", "scaled", "transposed",
]  # fmt: skip


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
