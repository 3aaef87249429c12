"""Cross-entropy against class indices: kernel and rule, then its decomposition.

No one-hot array is created. The class axis is moved last, and the others are flattened: logits (M,
C), targets (M,).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import total
from minigrad.ops._parallel import ELEMENTS, for_rows
from minigrad.ops.softmax import LOWEST

__all__ = ["cross_entropy"]

Reduction = Literal["mean", "sum", "none"]


def class_rows(logits: Any) -> Any:
    """Logits as (M, C): the class axis is 1, or 0 where there is no batch."""
    classes = logits.shape[min(1, logits.ndim - 1)]
    if logits.ndim > 2:
        order = (0, *range(2, logits.ndim), 1)
        logits = logits.transpose(order)
    return logits.reshape((-1, classes) if logits.size else (0, classes))


def _unrows(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo `class_rows`."""
    if len(shape) <= 2:
        return rows.reshape(shape)
    rows = rows.reshape(shape[0], *shape[2:], shape[1])
    return rows.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


def check_target(
    logits: np.ndarray, target: np.ndarray, weight: Any, reduction: str, ignore_index: Any,
    label_smoothing: float,
) -> None:  # fmt: skip
    """Refuse targets and options that do not fit the logits."""
    if not logits.ndim:
        raise ValueError("logits need a class axis, got shape ()")
    classes = logits.shape[min(1, logits.ndim - 1)]
    wanted = logits.shape[:1] + logits.shape[2:] if logits.ndim > 1 else ()
    if target.dtype.kind not in "iu":
        raise TypeError(
            f"the target must hold class indices (integers), got {target.dtype} of shape "
            f"{target.shape}; for one-hot rows pass target.argmax(axis=1)"
        )
    if target.shape != wanted:
        raise ValueError(
            f"logits of shape {logits.shape} need a target of shape {wanted}, got {target.shape}"
        )
    if weight is not None and np.shape(weight) != (classes,):
        raise ValueError(f"weight must have shape ({classes},), got {np.shape(weight)}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction must be "mean", "sum" or "none", got {reduction!r}')
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing must be between 0 and 1, got {label_smoothing}")
    wrong = (target < 0) | (target >= classes)
    if ignore_index is not None:
        wrong &= target != ignore_index
    if wrong.any():
        bad = target[wrong].flat[0]
        raise IndexError(
            f"target {bad} is outside of 0 to {classes - 1}; to leave it out pass "
            f"ignore_index={bad}"
        )


def row_weights(
    target: np.ndarray, weight: Any, ignore_index: int | None, dtype: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The class of each row (0 for ignored ones), the weight of its loss, and which are kept."""
    flat = target.reshape(-1)
    kept = np.ones(flat.shape, bool) if ignore_index is None else flat != ignore_index
    index = np.where(kept, flat, 0)
    counts = kept.astype(dtype)
    if weight is not None:
        counts *= np.asarray(weight, dtype)[index]
    return index, counts, kept


def _log_total(rows: np.ndarray) -> np.ndarray:
    """The maximum of each row, and the log-sum-exp minus this maximum: (2, M).

    They are separate, because rounding their sum would change probabilities of large logits.
    """
    log_total = np.empty((2, len(rows), 1), rows.dtype)
    top, rest = log_total

    def work(start: int, stop: int) -> None:
        part = rows[start:stop]
        part.max(axis=1, keepdims=True, initial=LOWEST[rows.dtype], out=top[start:stop])
        sums = total(np.exp(part - top[start:stop]), 1)
        np.log(np.maximum(sums, 1), out=rest[start:stop], casting="same_kind")  # as in softmax

    for_rows(len(rows), _block(rows), rows.size, work)
    return log_total[..., 0]


def _block(rows: np.ndarray) -> int:
    """The number of rows in a block."""
    return max(ELEMENTS // max(rows.shape[1], 1), 1)


def _class_weights(weight: Any, classes: int, dtype: Any) -> np.ndarray:
    return np.ones(classes, dtype) if weight is None else np.asarray(weight, dtype)


@primitive(arrays=3, residuals=("log_total",), float_inputs=True, promote=("logits",))
def cross_entropy(
    logits: Any, target: Any, weight: Any = None, *, reduction: Reduction = "mean",
    ignore_index: int | None = None, label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross-entropy of `nn.functional.cross_entropy`, for class indices.

    The mean without any target is NaN, with gradients of zero.

    Source: Label smoothing: Szegedy et al. 2015, arXiv:1512.00567.
    """
    target = np.asarray(target)
    check_target(logits, target, weight, reduction, ignore_index, label_smoothing)
    rows = class_rows(logits)  # (M, C)
    index, counts, kept = row_weights(target, weight, ignore_index, rows.dtype)
    log_total = _log_total(rows)
    top, rest = log_total
    losses = np.where(counts != 0, rest - (rows[np.arange(len(rows)), index] - top), 0) * counts
    if label_smoothing:
        spread_out = _class_weights(weight, rows.shape[1], rows.dtype)
        smooth = (top + rest) * spread_out.sum() - rows @ spread_out
        losses *= 1 - label_smoothing
        losses += np.where(kept, smooth, 0) * (label_smoothing / rows.shape[1])
    if reduction == "none":
        return losses.reshape(target.shape), log_total
    loss = total(losses, 0)[0]
    if reduction == "mean":
        with np.errstate(invalid="ignore", divide="ignore"):
            loss = loss / total(counts, 0)[0]
    return loss.astype(rows.dtype, copy=False), log_total


@cross_entropy.defjoint("logits")
def _cross_entropy_pull(
    g: np.ndarray, needed: tuple[bool], logits: np.ndarray, target: Any, weight: Any,
    log_total: np.ndarray, reduction: str, ignore_index: int | None, label_smoothing: float,
) -> tuple[np.ndarray]:  # fmt: skip
    rows = class_rows(logits)
    index, counts, kept = row_weights(np.asarray(target), weight, ignore_index, rows.dtype)
    each = np.broadcast_to(g, np.shape(target)).reshape(-1)  # (M,)
    if reduction == "mean":
        each = each / total(counts, 0)[0]
    scale = np.where(counts != 0, each * counts * (1 - label_smoothing), 0)
    spread_out = _class_weights(weight, rows.shape[1], rows.dtype)
    smooth = np.where(kept, each * (label_smoothing / rows.shape[1]), 0)
    factor = (scale + smooth * spread_out.sum())[:, None]
    pull = np.empty_like(rows)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        probability = rows[part] - log_total[0, part, None]
        probability -= log_total[1, part, None]
        np.exp(probability, out=probability)
        np.multiply(probability, factor[part], out=pull[part])
        if label_smoothing:
            pull[part] -= smooth[part, None] * spread_out

    for_rows(len(rows), _block(rows), rows.size, work)
    pull[np.arange(len(rows)), index] -= scale
    return (_unrows(pull, logits.shape),)


cross_entropy.defformula(
    """
    N = row_weights(target, weight, ignore_index, logits.dtype)[1].sum()  #
    N = float(N if reduction == "mean" else 1)  # the weights of all targets for a mean, else 1
    classes = min(1, logits.ndim - 1)  # the axis of the classes
    C = float(logits.shape[classes])  # how many classes there are
    g = np.expand_dims(g, classes) if g.ndim else g  #
    target = np.expand_dims(target, classes)  #
    column = [-1 if axis == classes else 1 for axis in range(logits.ndim)]  #
    onehot = target == np.arange(int(C)).reshape(column)  # 1 for the class of the target, else 0
    weight = 1 if weight is None else weight.reshape(column)  # 1 where there is none
    t = (1 - label_smoothing) * onehot + label_smoothing / C
    q = (target != ignore_index) * weight * t
    """,
    logits="g * (softmax(logits, classes) * sum(q, classes) - q) / N",
)


@cross_entropy.defdecomposition
def _cross_entropy_decomposition(
    logits: Any, target: Any, weight: Any = None, *, reduction: Reduction = "mean",
    ignore_index: int | None = None, label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    target = np.asarray(target)
    rows = class_rows(logits)
    index, counts, kept = row_weights(target, weight, ignore_index, rows.dtype)
    log_p = rows.log_softmax(axis=1)
    losses = np.where(counts != 0, -log_p[np.arange(len(rows)), index], 0) * counts
    if label_smoothing:
        spread_out = _class_weights(weight, rows.shape[1], rows.dtype)
        smooth = np.where(kept, -(log_p * spread_out).sum(axis=1), 0)
        losses = losses * (1 - label_smoothing) + smooth * (label_smoothing / rows.shape[1])
    if reduction == "none":
        return losses.reshape(target.shape)
    return losses.sum() / total(counts, 0)[0] if reduction == "mean" else losses.sum()
