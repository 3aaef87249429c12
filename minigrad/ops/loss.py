"""Cross-entropy against class indices: kernel and rule, then its decomposition.

No one-hot array is created. The class axis is moved last, and the others are flattened: logits (M,
C), targets (M,).
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from minigrad.autograd.events import reading
from minigrad.autograd.mode import state
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import total, widened
from minigrad.ops._parallel import in_passes
from minigrad.ops.probabilities import exponentials

__all__ = ["cross_entropy"]

Reduction = Literal["mean", "sum", "none"]


def class_rows(logits: Any) -> Any:
    """Logits as (M, C): the class axis is 1, or 0 where there is no batch."""
    classes = logits.shape[min(1, logits.ndim - 1)]
    if logits.ndim > 2:
        order = (0, *range(2, logits.ndim), 1)
        logits = np.transpose(logits, order)
    rows = (-1, classes) if math.prod(logits.shape) else (0, classes)
    return logits.reshape(rows)


def _unrows(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo `class_rows`."""
    if len(shape) <= 2:
        return rows.reshape(shape)
    rows = rows.reshape(shape[0], *shape[2:], shape[1])
    return rows.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


def check_target(
    logits: np.ndarray, target: np.ndarray, weight: Any, reduction: str, ignore_index: Any
) -> None:
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
    if ignore_index is not None and not isinstance(ignore_index, (int, np.integer)):
        raise TypeError(f"ignore_index must be an int or None, got {ignore_index!r}")
    _check_classes(target, classes, ignore_index)


def _check_classes(target: Any, classes: int, ignore_index: Any) -> None:
    """Refuse a target that is not a class."""
    target = getattr(target, "_data", target)
    if not target.size or (  # argmax is faster than max
        target.item(target.argmin()) >= 0 and target.item(target.argmax()) < classes
    ):
        return
    wrong = (target < 0) | (target >= classes)
    if ignore_index is not None:
        wrong &= target != ignore_index
    if wrong.any():
        bad = target[wrong].flat[0]
        raise IndexError(
            f"target {bad} is outside of 0 to {classes - 1}; to leave it out pass "
            f"ignore_index={bad}"
        )


check_classes = reading(_check_classes)
"""The same where observers are told of ops: they check it again in each run."""


def row_weights(
    target: np.ndarray, weight: Any, ignore_index: int | None, dtype: Any
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The class of each row (0 for ignored ones), the weight of its loss, and which are kept.

    There are no weights (None) if each row counts once, as is usual.
    """
    flat = target.reshape(-1).astype(np.intp, copy=False)  # uint8 would be a mask
    kept = np.ones(flat.shape, bool) if ignore_index is None else flat != ignore_index
    if weight is None and (not flat.size or kept.item(kept.argmin())):
        return flat, None, None
    index = np.where(kept, flat, 0)
    counts = kept.astype(dtype)
    if weight is not None:
        counts *= np.asarray(weight, dtype)[index]
    return index, counts, kept


def weighted(losses: Any, counts: np.ndarray | None, kept: Any, mean: bool) -> Any:
    """Losses, or their cotangents, with their weights; where the weight is 0, so is the result.

    The mean of losses whose weights are all 0 is NaN, and so is its gradient where a row is kept.
    """
    if counts is None:
        return losses
    return np.where(kept if mean and not counts.any() else counts != 0, losses, 0) * counts


def number(counts: np.ndarray | None, rows: Any) -> Any:
    """The divisor of a mean: the sum of the weights, else the number of rows."""
    if counts is not None:
        return total(counts, 0)[0]
    return (np.float64 if rows.dtype == np.float64 else np.float32)(len(rows))


def _log_total(rows: np.ndarray) -> np.ndarray:
    """A shift of each row, and its log-sum-exp minus the shift: (2, M); see `exponentials`.

    They are separate, because rounding their sum would change probabilities of large logits.
    """
    log_total = np.empty((2, len(rows), 1), rows.dtype)
    shift, rest = log_total

    def work(start: int, stop: int) -> None:
        _, top, sums = exponentials(widened(rows[start:stop]), sums=lambda x: total(x, 1))
        if isinstance(top, np.ndarray):
            masked = sums == 0  # rows of -inf only
            sums[masked], top[masked] = 1, 0
        shift[start:stop] = top
        np.log(sums, out=rest[start:stop], casting="same_kind")

    in_passes(len(rows), rows.shape[1], work)
    return log_total[..., 0]


def _of_kept(smooth: Any, kept: Any) -> Any:
    return smooth if kept is None else np.where(kept, smooth, 0)


def _class_weights(weight: Any, classes: int, dtype: Any) -> np.ndarray:
    return np.ones(classes, dtype) if weight is None else np.asarray(weight, dtype)


@primitive(arrays=3, residuals=("log_total",), float_inputs=True, promote=("logits",))
def cross_entropy(
    logits: Any, target: Any, weight: Any = None, *, reduction: Reduction = "mean",
    ignore_index: int | None = None, label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross-entropy of `nn.functional.cross_entropy`, for class indices.

    The mean without any target is NaN, with gradients of zero; the mean of targets whose weights
    are all 0 is NaN, with gradients of NaN.

    Source: Label smoothing: Szegedy et al. 2015, arXiv:1512.00567.
    """
    target = np.asarray(target)
    check_target(logits, target, weight, reduction, ignore_index)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing must be between 0 and 1, got {label_smoothing}")
    rows = class_rows(logits)  # (M, C)
    index, counts, kept = row_weights(target, weight, ignore_index, rows.dtype)
    log_total = _log_total(rows)
    shift, rest = log_total
    losses = rest - (rows[np.arange(len(rows)), index] - shift)
    losses = weighted(losses, counts, kept, reduction == "mean")
    if label_smoothing:
        spread_out = _class_weights(weight, rows.shape[1], rows.dtype)
        smooth = (shift + rest) * spread_out.sum() - rows @ spread_out
        losses = losses * (1 - label_smoothing)
        losses += _of_kept(smooth, kept) * (label_smoothing / rows.shape[1])
    if reduction == "none":
        return losses.reshape(target.shape), log_total
    loss = total(losses, 0)[0]
    if reduction == "mean":
        with np.errstate(invalid="ignore", divide="ignore"):
            loss = loss / number(counts, rows)
    return loss.astype(rows.dtype, copy=False), log_total


@cross_entropy.defjoint("logits")
def _cross_entropy_pull(
    g: np.ndarray, needed: tuple[bool], logits: np.ndarray, target: Any, weight: Any,
    log_total: np.ndarray, reduction: str, ignore_index: int | None, label_smoothing: float,
) -> tuple[np.ndarray]:  # fmt: skip
    rows = class_rows(logits)
    index, counts, kept = row_weights(np.asarray(target), weight, ignore_index, rows.dtype)
    each = g.reshape(-1) if reduction == "none" else g  # (M,), or one for all rows
    if reduction == "mean":
        each = each / number(counts, rows)
    scale = factor = weighted(each, counts, kept, reduction == "mean")
    if label_smoothing:
        scale = scale * (1 - label_smoothing)
        spread_out = _class_weights(weight, rows.shape[1], rows.dtype)
        smooth = _of_kept(each * (label_smoothing / rows.shape[1]), kept)
        factor = scale + smooth * spread_out.sum()
    pull = np.empty_like(rows)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        shift, rest = log_total[:, part, None]
        if np.count_nonzero(shift):
            probability = rows[part] - shift
            probability -= rest
        else:
            probability = rows[part] - rest
        np.exp(probability, out=probability)
        np.multiply(probability, factor[part, None] if factor.ndim else factor, out=pull[part])
        if label_smoothing:
            pull[part] -= (smooth[part, None] if smooth.ndim else smooth) * spread_out

    in_passes(len(rows), rows.shape[1], work)
    pull[np.arange(len(rows)), index] -= scale
    return (_unrows(pull, logits.shape),)


cross_entropy.defformula(
    """
    counts = row_weights(target, weight, ignore_index, logits.dtype)[1]  #
    N = number(counts, class_rows(logits))  #
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
    out="""
        losses = q * (log(sum(exp(logits), classes)) - logits)
        np.sum(losses, classes) if reduction == "none" else np.sum(losses) / N
    """,
)


@cross_entropy.defdecomposition
def _cross_entropy_decomposition(
    logits: Any, target: Any, weight: Any = None, *, reduction: Reduction = "mean",
    ignore_index: int | None = None, label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    log_p = class_rows(logits).log_softmax(axis=1)
    if state.get().sampled:
        check_classes(target, log_p.shape[1], ignore_index)
    return of_log_probabilities(log_p, target, weight, reduction, ignore_index, label_smoothing)


def of_log_probabilities(
    log_p: Any, target: Any, weight: Any, reduction: str, ignore_index: int | None,
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross-entropy of rows of log-probabilities, made of ops alone."""
    flat, mean = target.reshape(-1), reduction == "mean"
    kept = flat == flat if ignore_index is None else flat != ignore_index
    of_class = flat[:, None] == np.arange(log_p.shape[1])  # in a row that is ignored, none
    losses = -np.where(of_class, log_p, 0).sum(axis=1)
    spread_out = _class_weights(weight, log_p.shape[1], log_p.dtype)
    if weight is None:
        counts = kept.astype(log_p.dtype)
        losses = np.where(kept, losses, 0)
    else:
        counts = np.where(kept[:, None] & of_class, spread_out, 0).sum(axis=1)
        chosen = counts != 0
        if mean:  # where all weights are 0, the mean is NaN, and so is its gradient
            chosen = chosen | (kept & ~chosen.any())
        losses = np.where(chosen, losses, 0) * counts
    if label_smoothing:
        smooth = np.where(kept, -(log_p * spread_out).sum(axis=1), 0)
        losses = losses * (1 - label_smoothing) + smooth * (label_smoothing / log_p.shape[1])
    if reduction == "none":
        return losses.reshape(target.shape)
    wide = np.result_type(log_p.dtype, np.float32)  # float16 cannot hold a large count
    loss = losses.astype(wide).sum()
    return (loss / counts.astype(wide).sum() if mean else loss).astype(log_p.dtype)
