"""What the formulas that are written by hand say in a word, where NumPy has none for it.

Each is a function of arrays that does what it says, plainly and slowly. How it is set stands in
vocabulary.py.
"""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from minigrad.ops.dropout import dropout_factor

__all__ = [
    "class_axis", "class_count", "class_sum", "class_weights", "column", "column_as",
    "contracted", "copies_added", "diag", "dropout_mask", "each_target", "eigenvectors",
    "einsum_rest", "gaps", "high_bound", "kept_targets", "left_vectors", "loss_divisor",
    "low_bound", "lower_factor", "lower_half", "lower_median", "may_attend", "mirrored",
    "one_hot", "one_or", "own", "own_part", "padded_places", "placed", "placed_along", "places",
    "product_of_others", "right_vectors", "row_matrix", "scale_or_default", "several_rows",
    "shaped_as_product", "softmax_of_classes", "sums_from_the_end", "upper_median", "zero_or",
]  # fmt: skip


# Matrices -----------------------------------------------------------------------------------------


def row_matrix(a: Any) -> Any:
    """A vector as a matrix of one row; matrices as they are."""
    return a[None] if a.ndim == 1 else a


def column(b: Any) -> Any:
    """A vector as a matrix of one column; matrices as they are."""
    return b[:, None] if b.ndim == 1 else b


def column_as(x: Any, b: Any) -> Any:
    """A matrix of one column where `b` is a vector."""
    return x[..., None] if b.ndim == 1 else x


def shaped_as_product(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a @ b`` with the axes that vectors do not have."""
    g = g[..., None] if b.ndim == 1 else g
    return g[..., None, :] if a.ndim == 1 else g


def several_rows(x: Any) -> Any:
    """All leading axes as one."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def diag(v: Any) -> Any:
    """The matrix with a vector on its diagonal, or a stack of them."""
    return v[..., None] * np.eye(v.shape[-1], dtype=v.dtype)


def eigenvectors(x: Any) -> Any:
    """The eigenvectors of a symmetric matrix, one a column."""
    return np.linalg.eigh(x).eigenvectors


def left_vectors(x: Any) -> Any:
    """The left singular vectors, one a column."""
    return np.linalg.svd(x, full_matrices=False).U


def right_vectors(x: Any) -> Any:
    """The right singular vectors, one a column."""
    return np.linalg.svd(x, full_matrices=False).Vh.mT


def gaps(v: Any) -> Any:
    """``v[j] - v[i]`` at (i, j), but infinite on the diagonal: a quotient is 0 there."""
    differences = v[..., None, :] - v[..., :, None]
    return np.where(np.eye(v.shape[-1], dtype=bool), np.inf, differences)


def lower_factor(x: Any, upper: bool) -> Any:
    """The lower of two triangles that are each other's transposes."""
    return x.mT if upper else x


def lower_half(x: Any) -> Any:
    """The lower triangle, with half of the diagonal."""
    return np.tril(x) - diag(np.diagonal(x, axis1=-2, axis2=-1)) / 2


def mirrored(x: Any) -> Any:
    """The symmetric matrix with the lower triangle of another."""
    return np.tril(x) + np.tril(x, -1).swapaxes(-1, -2)


# Along an axis ------------------------------------------------------------------------------------


def sums_from_the_end(v: Any, axis: int | None) -> Any:
    """The sum of each element and all after it; they stand in a row if there is no axis."""
    along = -1 if axis is None else axis
    return np.flip(np.cumsum(np.flip(v, along), along), along)


def own(x: Any, axis: int | None) -> Any:
    """The element that a formula is about; they stand in a row if there is no axis."""
    return x.reshape(-1) if axis is None else x


def product_of_others(x: Any, axis: Any) -> Any:
    """For each element the product of all others that `np.prod` puts into one with it."""
    flat, others = x.reshape(-1), np.empty_like(x)
    numbers = places(x.shape)
    for i in range(x.size):
        changed = flat.copy()
        changed[i] = 1
        products = changed.reshape(x.shape).prod(axis=axis, keepdims=True)
        others.reshape(-1)[i] = np.broadcast_to(products, x.shape)[numbers == i].item()
    return others


def lower_median(x: Any, axis: Any) -> Any:
    """The lower of the two middle elements, the axis kept."""
    return np.quantile(x, 0.5, axis, method="lower", keepdims=True)


def upper_median(x: Any, axis: Any) -> Any:
    """The higher of the two middle elements, the axis kept."""
    return np.quantile(x, 0.5, axis, method="higher", keepdims=True)


# Bounds that may be missing ----------------------------------------------------------------------


def low_bound(low: Any) -> Any:
    """A bound below, infinite if there is none."""
    return -np.inf if low is None else low


def high_bound(high: Any) -> Any:
    """A bound above, infinite if there is none."""
    return np.inf if high is None else high


# Elements that move -------------------------------------------------------------------------------


def places(shape: tuple[int, ...]) -> np.ndarray:
    """The number of each element, as the last axis runs fastest."""
    return np.arange(math.prod(shape)).reshape(shape)


def padded_places(shape: tuple[int, ...], pad_width: Any, mode: str) -> np.ndarray:
    """Which element each place of a padded array holds; -1 for a constant border."""
    if not shape:
        return places(shape)
    if mode == "constant":
        return np.pad(places(shape), pad_width, constant_values=-1)
    return np.pad(places(shape), pad_width, mode)  # type: ignore[call-overload]


def copies_added(g: Any, came_from: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """For each element the sum over its copies; -1 came from nowhere."""
    out = np.zeros(math.prod(shape), g.dtype)
    real = np.broadcast_to(came_from, g.shape) >= 0
    np.add.at(out, np.broadcast_to(came_from, g.shape)[real], g[real])
    return out.reshape(shape)


def placed(g: Any, indices: Any, axis: int | None, mode: str, shape: tuple[int, ...]) -> Any:
    """The cotangent of `np.take`."""
    return copies_added(g, np.take(places(shape), indices, axis, mode=mode), shape)  # type: ignore[call-overload]


def placed_along(g: Any, indices: Any, axis: int | None, shape: tuple[int, ...]) -> Any:
    """The cotangent of `np.take_along_axis`."""
    return copies_added(g, np.take_along_axis(places(shape), indices, axis), shape)


# Several tensors ----------------------------------------------------------------------------------


def own_part(g: Any, i: int, shapes: tuple[tuple[int, ...], ...], axis: int) -> Any:
    """What came of tensor `i` in a concatenation."""
    ends = np.cumsum([shape[axis] for shape in shapes])
    return np.split(g, ends[:-1], axis)[i]


def contracted(
    g: Any, other: Any, axes: tuple[tuple[int, ...], tuple[int, ...]], second: bool
) -> Any:
    """The cotangent of one operand of `np.tensordot`, the second or the first."""
    met, meets = axes[second], axes[not second]
    ndim = g.ndim - other.ndim + 2 * len(met)
    mine, others = string.ascii_lowercase[:ndim], [*string.ascii_uppercase[: other.ndim]]
    for axis, opposite in zip(met, meets, strict=True):
        others[opposite] = mine[axis]
    left = "".join(mine[axis] for axis in range(ndim) if axis not in met)
    right = "".join(label for label in others if label.isupper())
    output = right + left if second else left + right
    return np.einsum(f"{output},{''.join(others)}->{mine}", g, other)


def einsum_rest(g: Any, operands: Any, i: int, inputs: tuple[str, ...], output: str) -> Any:
    """``g`` times all the other operands, summed over the labels that operand `i` lacks."""
    terms = [(g, output)]
    terms += [pair for j, pair in enumerate(zip(operands, inputs, strict=True)) if j != i]
    alone = (np.ones(operands[i].shape), inputs[i])  # for labels that no other has
    arrays, labels = zip(*terms, alone, strict=True)
    return np.einsum(f"{','.join(labels)}->{inputs[i]}", *arrays)


# Attention and cross-entropy ----------------------------------------------------------------------


def scale_or_default(query: Any, scale: float | None) -> float:
    """The factor of the scores."""
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def zero_or(bias: Any) -> Any:
    """What is added, if anything is."""
    return 0 if bias is None else bias


def one_or(weight: Any) -> Any:
    """What is multiplied by, if anything is."""
    return 1 if weight is None else weight


def may_attend(keep: Any, causal: bool, query: Any, key: Any) -> Any:
    """Which key each query may attend."""
    length, count = query.shape[-2], key.shape[-2]
    past = np.tri(length, count, dtype=bool) if causal else np.ones((length, count), bool)
    return past if keep is None else past & keep


def dropout_mask(key: int | None, like: Any, p: float) -> Any:
    """What dropout multiplies by."""
    return dropout_factor(key, like.shape, p, like.dtype) if p else 1


def class_axis(logits: Any) -> int:
    """The axis of the classes."""
    return min(1, logits.ndim - 1)


def softmax_of_classes(logits: Any) -> Any:
    """The probability of each class."""
    powers = np.exp(logits - logits.max(axis=class_axis(logits), keepdims=True))
    return powers / powers.sum(axis=class_axis(logits), keepdims=True)


def class_sum(x: Any) -> Any:
    """The sum over the classes, the axis kept."""
    return x.sum(axis=class_axis(x), keepdims=True)


def class_count(logits: Any) -> int:
    """How many classes there are."""
    return logits.shape[class_axis(logits)]


def class_weights(weight: Any, logits: Any) -> Any:
    """The weight of each class along the axis of the classes."""
    if weight is None:
        return 1
    return weight.reshape([-1 if a == class_axis(logits) else 1 for a in range(logits.ndim)])


def one_hot(target: Any, logits: Any) -> Any:
    """1 for the class of each target, 0 for the others."""
    numbers = class_weights(np.arange(class_count(logits)), logits)
    return (np.expand_dims(target, class_axis(logits)) == numbers).astype(logits.dtype)


def kept_targets(target: Any, ignore_index: int | None, logits: Any) -> Any:
    """Which targets count."""
    return np.expand_dims(target != ignore_index, class_axis(logits))


def each_target(g: Any, logits: Any) -> Any:
    """The cotangent of each loss, or of the only one."""
    return np.expand_dims(g, class_axis(logits)) if g.ndim else g


def loss_divisor(weight: Any, target: Any, reduction: str, ignore_index: int | None) -> Any:
    """What the sum of the losses is divided by."""
    if reduction != "mean":
        return 1
    counting = target[target != ignore_index]
    return counting.size if weight is None else weight[counting].sum()
