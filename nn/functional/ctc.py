"""The loss of a sequence whose alignment with its labels is not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.loss import Reduction, reduced
from minigrad.ops._numerics import values_of
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["ctc_loss"]

NEVER = -1e30
"""The logarithm of the probability 0, finite so that no slope is 0 times infinity."""


@framed
def ctc_loss(
    log_probs: Tensor, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: Reduction = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    r"""Compute the CTC loss: -log of the probability of all alignments that spell the labels.

    An alignment has a label or a blank for each step; equal labels that follow each other are one,
    and then blanks are left out. With z the labels, a blank around each, the sum over alignments is
    :math:`α_t(s) = p_t(z_s) (α_{t-1}(s) + α_{t-1}(s-1) + α_{t-1}(s-2))`, the last term only where
    z_s is a label other than :math:`z_{s-2}`. The gradient is that of this function; PyTorch's
    differs by what `log_softmax`, through which both are equal, takes out.

    Source: Graves et al., "Connectionist temporal classification", 2006.

    Args:
        log_probs: Logarithms of probabilities, such as `log_softmax` gives, of shape (T, N, C), or
            (T, C) for one sequence.
        targets: Labels, integers of shape (N, S), or those of all sequences in one row.
        input_lengths: The number of steps of each sequence, at most T.
        target_lengths: The number of labels of each sequence.
        blank: The class that is the blank.
        reduction: "mean" divides each loss by the number of its labels first; "sum", or "none".
        zero_infinity: Whether the loss of labels that no alignment spells is 0, not infinite.

    Raises:
        TypeError: The labels are not integers.
        ValueError: The shapes, the lengths, the labels or the reduction do not fit.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> log_probs = minigrad.full((3, 1, 2), 0.5).log()  # 6 of the 8 alignments spell "1"
        >>> nn.functional.ctc_loss(log_probs, minigrad.tensor([[1]]), (3,), (1,)).exp()
        tensor(1.3333)
    """
    single = log_probs.ndim == 2
    wanted = "log_probs of shape (T, N, C) or (T, C)"
    refuse_shapes(log_probs.ndim not in (2, 3), "ctc_loss", wanted, log_probs)
    probs = log_probs[:, None] if single else log_probs
    if probs.dtype == np.float16:
        probs = probs.astype(np.float32)
    steps, batch, classes = probs.shape
    blank = check_size("ctc_loss", "blank", blank, 0)
    given = np.asarray(values_of(targets))
    taken = _lengths("input_lengths", input_lengths, batch, steps)
    most = given.size if given.ndim < 2 else given.shape[-1]
    counts = _lengths("target_lengths", target_lengths, batch, most)
    labels = _rows(given, counts, batch, classes, blank)

    z = np.full((batch, 2 * labels.shape[1] + 1), blank)
    z[:, 1::2] = labels
    skips = np.zeros(z.shape, bool)
    skips[:, 2:] = (z[:, 2:] != blank) & (z[:, 2:] != z[:, :-2])
    emitted = ops.take_along_axis(probs, np.broadcast_to(z, (steps, *z.shape)), 2)  # (T, N, 2S + 1)
    alpha: Any = np.full(z.shape, NEVER, probs.dtype)
    alpha[:, 0] = 0  # nothing is spelled before the first step
    for step in range(steps):
        ways = [alpha, _moved(alpha, 1), ops.where(skips, _moved(alpha, 2), NEVER)]
        new = emitted[step] + ops.logsumexp(ops.stack(ways), 0)
        alpha = ops.where((step < taken)[:, None], new, alpha)
    ends = np.stack([2 * counts, np.maximum(2 * counts - 1, 0)], 1)
    last = ops.take_along_axis(alpha, ends, 1)
    found = np.stack([counts >= 0, counts > 0], 1)
    losses = -ops.logsumexp(ops.where(found, last, NEVER), 1)
    losses = ops.where(losses < -NEVER / 2, losses, 0.0 if zero_infinity else np.inf)
    if reduction == "mean":
        losses = losses / np.maximum(counts, 1).astype(losses.dtype)
    losses = reduced("ctc_loss", losses[0] if single else losses, reduction)
    return losses.astype(log_probs.dtype)


def _moved(alpha: Tensor, by: int) -> Tensor:
    """The values of the states before."""
    kept = max(alpha.shape[1] - by, 0)
    return ops.pad(alpha[:, :kept], ((0, 0), (alpha.shape[1] - kept, 0)), constant_values=NEVER)


def _lengths(name: str, given: Any, batch: int, most: int) -> np.ndarray:
    """The lengths of the sequences, an array of shape (N,)."""
    lengths = np.atleast_1d(np.asarray(values_of(given)))
    whole = lengths.dtype.kind in "iu" and lengths.shape == (batch,)
    if not whole or lengths.min(initial=0) < 0 or lengths.max(initial=0) > most:
        raise value_error(f"ctc_loss: {name} must be {batch} numbers from 0 to {most}, got {given}")
    return lengths


def _rows(
    targets: np.ndarray, counts: np.ndarray, batch: int, classes: int, blank: int
) -> np.ndarray:
    """The labels as rows (N, S), with blanks behind the last one of each."""
    refuse_dtypes(targets.dtype.kind not in "iu", "ctc_loss", "integers as targets", targets)
    in_one_row, total = targets.ndim == 1, counts.sum()
    if in_one_row:
        fits = targets.size == total or batch < 2
    else:
        fits = targets.shape[:-1] == (batch,)
    refuse_shapes(not fits, "ctc_loss", f"targets of shape ({batch}, S), or ({total},)", targets)
    width = int(counts.max(initial=0))
    rows = np.full((batch, width), blank)
    given = np.split(targets, np.cumsum(counts)[:-1]) if in_one_row else targets
    for row, count in enumerate(counts):
        rows[row, :count] = given[row][:count]
    real = np.arange(width) < counts[:, None]
    wrong = real & ((rows < 0) | (rows >= classes) | (rows == blank))
    if blank >= classes or wrong.any():
        wanted = f"classes from 0 to {classes - 1} other than the blank, {blank}"
        raise value_error(f"ctc_loss: targets must be {wanted}, got {targets.tolist()}")
    return rows
