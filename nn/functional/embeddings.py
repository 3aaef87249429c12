"""Embeddings: one-hot vectors, the rows of a table, and the sums of bags of rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, value_error
from minigrad.autograd.events import effect, reading
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import array_of, values_of
from minigrad.ops.argument_errors import checked
from minigrad.ops.indexing import integers
from minigrad.support.checks import check_choice, check_number
from minigrad.tensors.creation import asarray
from minigrad.tensors.inplace import written
from minigrad.tensors.tensor import Tensor

__all__ = ["embedding", "embedding_bag", "one_hot"]


@checked
def embedding(
    input: Any, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Look up rows of an embedding table: integers get an axis of its width at the end.

    Args:
        input: Integers of any shape, from 0 to the number of rows less 1.
        weight: The table, of shape (rows, width).
        padding_idx: A row that gets no gradient; negative values count from the end.
        max_norm: Looked-up rows with a larger norm are scaled to this norm, in `weight` itself.
        norm_type: The p of the p-norm.
        scale_grad_by_freq: Whether the gradient of a row is divided by how often it is looked up.
        sparse: If `weight` is a leaf, its gradient is `SparseRows`: for large tables.

    Raises:
        IndexError: An integer is outside the table; nothing was changed.
        TypeError: `input` does not hold integers.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.embedding([1, 0], tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[3.0, 4.0], [1.0, 2.0]]
    """
    check_padding_idx("embedding", padding_idx, len(weight))
    if max_norm is not None:
        check_number("embedding", "max_norm", max_norm, above=0.0)
        check_number("embedding", "norm_type", norm_type, above=0.0, infinite=True)
        _shorten(input, weight, max_norm, norm_type)
    found = ops.embedding(input, weight, padding_idx, sparse)
    if not scale_grad_by_freq:
        return found
    rate = _rates(input, len(weight)).astype(found.dtype)[..., None]
    fixed = found.detach()
    return fixed + (found - fixed) * rate  # the same numbers, with another gradient


@reading
def _rates(input: Any, rows: int) -> np.ndarray:
    """One over how often each row was looked up, for each integer."""
    ids = np.asarray(array_of(input))
    return 1 / np.bincount(ids.ravel(), minlength=rows)[ids]


def check_padding_idx(owner: str, padding_idx: int | None, rows: int) -> None:
    """Raise if the padding row is outside the table."""
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise value_error(f"{owner}: padding_idx {padding_idx} is outside the {rows} rows")


@effect
def _shorten(input: Any, weight: Tensor, max_norm: float, norm_type: float) -> None:
    ids = np.asarray(array_of(input))
    rows = values_of(ops.embedding(ids, weight.detach()))
    lengths = values_of(ops.norm(rows, norm_type, axis=-1))
    long = lengths > max_norm
    if long.any():
        factors = max_norm / (lengths[long] + 1e-7)
        values_of(weight)[ids[long]] = rows[long] * factors[:, None]
        written(weight)


@framed
def one_hot(input: Any, num_classes: int = -1, dtype: Any = None) -> Tensor:
    """Encode integers as one-hot vectors, along a new axis of size `num_classes` at the end.

    Args:
        input: Integers of any shape, not negative.
        num_classes: The size of the vectors; -1 for one more than the largest integer.
        dtype: The dtype of the result, int64 by default.

    Example:
        >>> from minigrad.nn import functional as F
        >>> F.one_hot([2, 0]).tolist()
        [[0, 0, 1], [1, 0, 0]]
    """
    if num_classes == -1:
        num_classes = int(np.max(values_of(input), initial=-1)) + 1
    ids = asarray(input)
    _check_classes(ids, num_classes)
    found = ops.equal(ids[..., None], np.arange(num_classes))
    return found.astype(np.int64 if dtype is None else dtype)


@reading
def _check_classes(ids: Tensor, count: int) -> None:
    array = ids._data
    refuse_dtypes(array.dtype.kind not in "iu", "one_hot", "integers", array)
    least, largest = array.min(initial=0), array.max(initial=-1)
    if least < 0 or largest >= count:
        raise value_error(f"one_hot: classes from 0 to {count - 1}, got {least} to {largest}")


BagMode = Literal["sum", "mean", "max"]


@framed
def embedding_bag(
    input: Any, weight: Tensor, offsets: Any = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: BagMode = "mean",
    sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Look up rows of an embedding table, and add up those of each bag.

    Args:
        input: Integers: of shape (B, L), a bag in each row, or (n,), one bag after the other.
        weight: The table, of shape (rows, width).
        offsets: Where the bags begin, of shape (B,), the first at 0; for an input of shape (n,).
        max_norm: As for `embedding`, and `norm_type`, `scale_grad_by_freq` and `sparse`.
        norm_type: The p of the p-norm.
        scale_grad_by_freq: Whether gradients are divided by frequencies; not for "max".
        mode: "sum", "mean", or "max" of each element of the vectors.
        sparse: Whether the gradient is `SparseRows`.
        per_sample_weights: Factors of the shape of `input`, for "sum".
        include_last_offset: Whether `offsets` ends with n, where the last bag ends.
        padding_idx: A row that belongs to no bag, wherever it is.

    Returns:
        Shape (B, width); zeros for an empty bag.

    Raises:
        IndexError: An integer is outside the table.
        TypeError: `input` or `offsets` does not hold integers.
        ValueError: The shapes, the offsets or the options do not fit together.

    Example:
        >>> from minigrad import nn, tensor
        >>> table = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> nn.functional.embedding_bag([0, 1, 2, 2], table, [0, 3]).tolist()
        [[3.0, 4.0], [5.0, 6.0]]
    """
    check_choice("embedding_bag", "mode", mode, ("sum", "mean", "max"))
    if scale_grad_by_freq and mode == "max":
        raise value_error('embedding_bag: scale_grad_by_freq=True is not for mode="max"')
    ids = integers(input)
    bags, count = _bags(ids, offsets, include_last_offset)
    if per_sample_weights is not None:
        wrong = mode != "sum" or np.shape(per_sample_weights) != ids.shape
        wanted = f"per_sample_weights of the shape of the input and mode='sum' (it is {mode!r})"
        refuse_shapes(wrong, "embedding_bag", wanted, per_sample_weights, ids)
        per_sample_weights = ops.reshape(per_sample_weights, -1)
    ids = ids.ravel()
    check_padding_idx("embedding_bag", padding_idx, len(weight))
    if padding_idx is not None:
        (kept,) = np.nonzero(ids != padding_idx % len(weight))
        ids, bags = ids[kept], bags[kept]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[kept]
    found = embedding(ids, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    zeros = np.zeros((count, weight.shape[1]), weight.dtype)
    if mode == "max":
        places = np.broadcast_to(bags[:, None], found.shape)
        return ops.scatter_reduce(zeros, 0, places, found, "amax", include_self=False)
    if per_sample_weights is not None:
        found = found * per_sample_weights[:, None]
    sums = ops.index_add(zeros, 0, bags, found)
    if mode == "sum":
        return sums
    lengths = np.maximum(np.bincount(bags, minlength=count), 1)
    return sums / lengths[:, None].astype(sums.dtype)


def _bags(ids: np.ndarray, offsets: Any, include_last_offset: bool) -> tuple[np.ndarray, int]:
    """The number of the bag of each integer, and how many bags there are."""
    if ids.ndim == 2 and offsets is None:
        return np.arange(len(ids)).repeat(ids.shape[1]), len(ids)
    wanted = "an input of shape (B, L) without offsets, or (n,) with them,"
    refuse_shapes(ids.ndim != 1 or offsets is None, "embedding_bag", wanted, ids)
    starts = integers(offsets, "the offsets")
    if not include_last_offset:
        starts = np.append(starts, ids.size)
    lengths = np.diff(starts)
    if starts.ndim != 1 or starts[0] != 0 or starts[-1] != ids.size or (lengths < 0).any():
        wanted = f"offsets that grow from 0 to at most {ids.size}, the number of integers,"
        raise value_error(f"embedding_bag: {wanted} expected, got {integers(offsets).tolist()}")
    return np.arange(lengths.size).repeat(lengths), lengths.size
