"""Losses of scores that shall be on the right side of a margin."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, type_error, value_error
from minigrad.nn.functional.activation import logsigmoid
from minigrad.nn.functional.loss import Reduction, like, loss, reduced
from minigrad.nn.functional.metric_loss import at_least_0
from minigrad.ops._numerics import values_of
from minigrad.ops.casting import floating
from minigrad.support.checks import check_number
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = [
    "hinge_embedding_loss", "multi_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss",
]  # fmt: skip


@loss
def hinge_embedding_loss(
    input: Tensor, target: Any, margin: float = 1.0, *, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the loss of distances: x where a pair belongs together, max(margin - x, 0) else.

    Args:
        input: x, the distances, a tensor of any shape.
        target: Of the same shape: 1 where a pair belongs together, else -1.
        margin: The distance from which other pairs cost nothing.
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hinge_embedding_loss(tensor([3.0, 0.5]), [1, -1], reduction="sum").item()
        3.5
    """
    name = "hinge_embedding_loss"
    check_number(name, "margin", margin)
    y, x = like(name, input, target), floating(input)
    losses = ops.where(y != 1, at_least_0(margin - x), 0.0) + ops.where(y != -1, x, 0.0)
    return reduced(name, losses, reduction)


@loss
def soft_margin_loss(input: Tensor, target: Any, *, reduction: Reduction = "mean") -> Tensor:
    """Compute the logistic loss of two classes, log(1 + exp(-y x)).

    The input x may have any shape; the target y has the same, and is 1 or -1. The other arguments
    are those of `hinge_embedding_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.soft_margin_loss(tensor([0.0]), [1]).item(), 4)
        0.6931
    """
    name = "soft_margin_loss"
    return reduced(name, ops.softplus(-like(name, input, target) * input), reduction)


@loss
def multilabel_soft_margin_loss(
    input: Tensor, target: Any, weight: Any = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the mean over the classes of the binary cross-entropy of logits.

    Args:
        input: Logits, of shape (..., C).
        target: 1 for the classes of a sample, else 0; of the same shape.
        weight: The weight of each class, of shape (C,).
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per sample.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[0.0, 0.0]]), tensor([[1.0, 0.0]])
        >>> round(nn.functional.multilabel_soft_margin_loss(x, y).item(), 4)
        0.6931
    """
    name = "multilabel_soft_margin_loss"
    y, x = like(name, input, target), floating(input)
    losses = -(y * logsigmoid(x) + (1.0 - y) * logsigmoid(-x))
    if weight is not None:
        losses = losses * asarray(weight)
    return reduced(name, ops.mean(losses, -1), reduction)


@loss
def multi_margin_loss(
    input: Tensor, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, *,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute how far other classes come within a margin of the right one.

    It is the sum of max(margin - x[y] + x[i], 0)ᵖ over all classes i but y, divided by C.

    Args:
        input: x, scores of shape (N, C) or (C,).
        target: y, the right classes, integers of shape (N,) or ().
        p: 1 or 2.
        margin: How much larger the score of the right class shall be.
        weight: The weight of each class, of shape (C,): that of the right one counts.
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per sample.

    Raises:
        IndexError: A class is out of range.
        TypeError: The target does not hold integers.
        ValueError: The shapes do not fit, or p is neither 1 nor 2.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.multi_margin_loss(tensor([[2.0, 1.5, 0.0]]), [0]).item() * 3
        0.5
    """
    name = "multi_margin_loss"
    check_number(name, "margin", margin)
    right = asarray(target)
    if right.dtype.kind not in "iu":
        raise type_error(
            f"{name}: classes expected as integers, got a target of {right.dtype.name}"
        )
    if p not in (1, 2):
        raise value_error(f"{name}: p must be 1 or 2, got {p!r}")
    one = input.ndim < 2 and right.shape in ((), (1,))
    refuse_shapes(
        not one and (input.ndim != 2 or right.shape != input.shape[:1]), name,
        "an input of shape (N, C) or (C,) with a target of shape (N,) or ()", input, right,
    )  # fmt: skip
    rows: Any = floating(input) if input.ndim == 2 else ops.reshape(floating(input), (1, -1))
    right, classes = ops.reshape(right, (-1, 1)), rows.shape[1]
    if (values_of(right) < 0).any() or (values_of(right) >= classes).any():
        raise IndexError(f"{name}: classes from 0 to {classes - 1} expected")
    within = at_least_0(margin - ops.take_along_axis(rows, right, 1) + rows)
    if p == 2:
        within = within * within
    if weight is not None:
        within = within * ops.take(asarray(weight), right)
    losses = ops.sum(ops.where(np.arange(classes) != right, within, 0.0), -1) / classes
    return reduced(name, losses if input.ndim > 1 else losses[0], reduction)
