"""Vectors for integers: embedding lookup and one-hot encoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import type_error, value_error
from minigrad.autograd.events import effect, reading
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import array_of, values_of
from minigrad.support.checks import check_number
from minigrad.tensors.creation import asarray
from minigrad.tensors.inplace import written
from minigrad.tensors.tensor import Tensor

__all__ = ["embedding", "one_hot"]


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
    if array.dtype.kind not in "iu":
        raise type_error(f"one_hot: integers expected, got {array.dtype.name}")
    least, largest = array.min(initial=0), array.max(initial=-1)
    if least < 0 or largest >= count:
        raise value_error(
            f"one_hot: classes from 0 to {count - 1} expected, got {least} to {largest}"
        )
