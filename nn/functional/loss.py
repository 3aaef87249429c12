"""Loss functions."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import located, state
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import array_of, values_of
from minigrad.ops.casting import floating
from minigrad.ops.exponentials import clamped_log
from minigrad.ops.loss import (
    check_classes,
    check_target,
    class_rows,
    number,
    of_log_probabilities,
    row_weights,
    weighted,
)
from minigrad.support.checks import check_number, check_probability
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip

Reduction = Literal["mean", "sum", "none"] | None
"""How the elementwise losses are reduced; None is "none", as in Lucid."""


@framed
def mse_loss(input_: Tensor, target: Any, reduction: Reduction = "mean") -> Tensor:
    """Compute the squared error (x - y)² of two tensors of the same shape.

    Raises:
        ValueError: The shapes differ: nothing is broadcast.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.mse_loss(tensor([1.0, 2.0]), tensor([1.0, 4.0])).item()
        2.0
    """
    difference = input_ - like("mse_loss", input_, target)
    return reduced("mse_loss", difference * difference, reduction)


@framed
def l1_loss(input_: Tensor, target: Any, reduction: Reduction = "mean") -> Tensor:
    """Compute the absolute error ``|x - y|`` of two tensors of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.l1_loss(tensor([1.0, 2.0]), tensor([1.0, 4.0])).item()
        1.0
    """
    return reduced("l1_loss", ops.abs(input_ - like("l1_loss", input_, target)), reduction)


@framed
def huber_loss(
    input_: Tensor, target: Any, delta: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the Huber loss of d = x - y: d² / 2, above delta ``delta · (|d| - delta / 2)``.

    Source: Huber, "Robust estimation of a location parameter", 1964.

    Args:
        input_: x, a tensor of any shape.
        target: y, of the same shape.
        delta: The threshold between parabola and line; positive.
        reduction: "mean", "sum", or "none" for one loss per element.

    Raises:
        ValueError: The shapes differ, or delta is not positive.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.huber_loss(tensor([0.0, 0.0]), tensor([1.0, 3.0]), reduction="none")
        Tensor([0.5, 2.5], dtype=float32)
    """
    check_number("huber_loss", "delta", delta, above=0.0)
    difference = input_ - like("huber_loss", input_, target)
    near = ops.clip(difference, -delta, delta)
    return reduced("huber_loss", near * (difference - 0.5 * near), reduction)


@framed
def smooth_l1_loss(
    input_: Tensor, target: Any, beta: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the Huber loss divided by its threshold: ``huber_loss(delta=beta) / beta``.

    Arguments and errors are those of `huber_loss`; beta 0 gives the absolute error.

    Source: Girshick, "Fast R-CNN", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.smooth_l1_loss(tensor([0.0]), tensor([3.0]), beta=2.0).item()
        2.0
    """
    name = "smooth_l1_loss"
    check_number(name, "beta", beta, 0.0)
    difference = input_ - like(name, input_, target)
    if beta == 0:
        return reduced(name, ops.abs(difference), reduction)
    near = ops.clip(difference, -beta, beta)
    return reduced(name, near * (difference - 0.5 * near) / beta, reduction)


@framed
def cross_entropy(
    input_: Tensor, target: Any, weight: Any = None, reduction: Reduction = "mean", *,
    ignore_index: int | None = -100, label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Compute the cross-entropy of logits and target classes.

    For target probabilities y, as in mixup and distillation, it is the sum of
    -weight · y · log softmax(x) over the classes.

    Args:
        input_: Logits, of shape (N, C, ...) or (C,).
        target: Class indices, integers of shape (N, ...) or (); or class probabilities, floats of
            the shape of `input_`.
        weight: The weight of each class, of shape (C,).
        reduction: "mean" (weighted by the weights of the targets; given probabilities, the plain
            mean over the targets), "sum", or "none" for one loss per target.
        ignore_index: A class index that is ignored; None to ignore none.
        label_smoothing: The probability that is spread evenly over all classes.

    Returns:
        A scalar, or a tensor of shape (N, ...) or ().

    Raises:
        IndexError: A class index is out of range.
        TypeError: The targets are not numbers.
        ValueError: Shapes do not fit, a target is not a probability, or an option is out of range.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.cross_entropy(tensor([[0.0, 0.0]]), [1]).item(), 4)
        0.6931
        >>> round(nn.functional.cross_entropy(tensor([[0.0, 0.0]]), [[0.9, 0.1]]).item(), 4)
        0.6931
    """
    check_probability("cross_entropy", "label_smoothing", label_smoothing)
    found = target if isinstance(target, Tensor) else np.asarray(target)
    if found.dtype.kind == "f" and found.ndim == np.ndim(input_):
        return _soft_cross_entropy(input_, found, weight, reduction, ignore_index, label_smoothing)
    return ops.cross_entropy(
        input_, target, weight, reduction="none" if reduction is None else reduction,
        ignore_index=ignore_index, label_smoothing=label_smoothing,
    )  # fmt: skip


def _soft_cross_entropy(
    input_: Tensor, target: Any, weight: Any, reduction: Reduction, ignore_index: int | None,
    label_smoothing: float,
) -> Tensor:  # fmt: skip
    """Cross-entropy with target probabilities, differentiable in the target too."""
    name = "cross_entropy"
    y = like(name, input_, target)
    _check_probabilities(name, y)
    if not y.ndim:
        raise value_error(f"{name}: logits need a class axis, got shape ()")
    if ignore_index is not None and ignore_index >= 0:
        raise value_error(f"{name}: ignore_index is for classes, not for probabilities")
    axis = min(1, y.ndim - 1)
    classes = y.shape[axis]
    log_p = ops.log_softmax(input_, axis=axis)
    y = y.astype(log_p.dtype)
    if label_smoothing:
        y = y * (1.0 - label_smoothing) + label_smoothing / classes
    log_p = ops.where((y == 0.0) & (log_p == -math.inf), 0.0, log_p)  # 0 · log 0 is 0
    products = y * log_p
    if weight is not None:
        if np.shape(weight) != (classes,):
            raise value_error(
                f"{name}: weight must have shape ({classes},), got {np.shape(weight)}"
            )
        counts = asarray(weight)
        products = products * counts.astype(y.dtype).reshape(-1, *(1,) * (y.ndim - axis - 1))
    return reduced(name, -ops.sum(products, axis), reduction)


@framed
def nll_loss(
    input_: Tensor, target: Any, weight: Any = None, reduction: Reduction = "mean", *,
    ignore_index: int | None = -100,
) -> Tensor:  # fmt: skip
    """Compute the negative log-likelihood of the target class from log-probabilities.

    Arguments and errors are those of `cross_entropy`, with log-probabilities, from `log_softmax`,
    for the logits.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.nll_loss(tensor([[-0.5, -1.5]]), [1]).item()
        1.5
    """
    input_, target = (asarray(x) for x in (input_, target))
    try:
        check_target(input_._data, target._data, weight, reduction or "none", ignore_index, 0.0)
    except (IndexError, TypeError, ValueError) as error:
        raise type(error)(located(f"nll_loss: {error}")) from None
    rows = class_rows(input_)  # (M, C)
    if state.get().observers:  # who are told of ops, and not of what NumPy computes
        check_classes(target, rows.shape[1], ignore_index)
        return of_log_probabilities(rows, target, weight, reduction or "none", ignore_index)
    target = target._data
    index, counts, kept = row_weights(target, weight, ignore_index, rows.dtype)
    likelihood = rows[np.arange(len(rows)), index]  # (M,)
    losses = -weighted(likelihood, counts, kept, reduction == "mean")
    if reduction == "mean":
        with np.errstate(invalid="ignore"):  # the mean over no target is NaN
            return losses.sum() / number(counts, rows)
    return losses.sum() if reduction == "sum" else losses.reshape(target.shape)


@framed
def binary_cross_entropy(
    input_: Tensor, target: Any, weight: Any = None, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the binary cross-entropy -(y log x + (1 - y) log(1 - x)) of probabilities.

    Logarithms are clamped to at least -100, and their slopes to at most 1e12, as in PyTorch. For
    logits use `binary_cross_entropy_with_logits`, which is exact.

    Args:
        input_: x, probabilities of any shape.
        target: y, from 0 to 1, of the same shape.
        weight: The weight of each element; broadcasts to that shape.
        reduction: "mean", "sum", or "none" for one loss per element.

    Raises:
        ValueError: The shapes differ, or an input is not a probability.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.binary_cross_entropy(tensor([0.5]), [1.0]).item(), 4)
        0.6931
    """
    name = "binary_cross_entropy"
    y = like(name, input_, target)
    values = np.asarray(array_of(input_))
    low, high = values.min(initial=0.0), values.max(initial=1.0)
    if not (low >= 0.0 and high <= 1.0):
        raise value_error(
            f"{name}: the input must lie between 0 and 1, got {low} to {high}; scores go to "
            f"binary_cross_entropy_with_logits"
        )
    losses = -(y * clamped_log(input_) + (1.0 - y) * clamped_log(1.0 - input_))
    return reduced(name, losses if weight is None else losses * weight, reduction)


@framed
def binary_cross_entropy_with_logits(
    input_: Tensor, target: Any, weight: Any = None, reduction: Reduction = "mean", *,
    pos_weight: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the binary cross-entropy of the probability sigmoid(x) from the logit x.

    Arguments and errors are those of `binary_cross_entropy`, with logits x of any shape.
    `pos_weight`, p, is the weight of positive targets, and broadcasts.

    With :math:`s(x) = log(1 + e^x)` it is :math:`(1 - y) s(x) + p y s(-x)`, exact for every x.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.binary_cross_entropy_with_logits(tensor([-1000.0]), [1.0]).item()
        1000.0
    """
    name = "binary_cross_entropy_with_logits"
    y, x = like(name, input_, target), floating(input_)
    yes = y if pos_weight is None else y * pos_weight
    losses = (1.0 - y) * ops.softplus(x) + yes * ops.softplus(-x)
    return reduced(name, losses if weight is None else losses * weight, reduction)


@framed
def kl_div(
    input_: Tensor, target: Any, reduction: Reduction | Literal["batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:  # fmt: skip
    """Compute the elementwise Kullback-Leibler divergence y · (log y - log x).

    The divergence itself is the sum over the classes; "batchmean" is its mean over a batch.

    Source: Kullback and Leibler, "On information and sufficiency", 1951.

    Args:
        input_: log x, log-probabilities of any shape, from `log_softmax`.
        target: y, probabilities of the same shape.
        reduction: "mean", "sum", "batchmean" for the sum divided by the size of axis 0, or "none"
            for one number per element.
        log_target: Whether the target is log y.

    Raises:
        ValueError: The shapes differ, or a target is not a probability.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[0.5, 0.5]]).log(), tensor([[1.0, 0.0]])
        >>> round(nn.functional.kl_div(x, y, "batchmean").item(), 4)
        0.6931
    """
    y = like("kl_div", input_, target)
    if log_target:
        losses = ops.exp(y) * (y - input_)
    else:
        _check_probabilities("kl_div", y, "; for their logarithms pass log_target=True")
        some = ops.where(y > 0, y, 1.0)  # 0 · log 0 is 0, with slope 0
        losses = ops.xlogy(y, some) - y * input_
    if reduction == "batchmean":
        if not losses.ndim:
            raise value_error('kl_div: "batchmean" needs a batch axis, got shape ()')
        return losses.sum() / losses.shape[0]
    return reduced("kl_div", losses, reduction)


def like(
    name: str, input_: Tensor, target: Any, first: str = "input", second: str = "target"
) -> Tensor:
    """Return the target as a tensor; it must have the shape of the input, without broadcasting.

    Beside an input of integers it becomes a float, since a loss is computed with floats.
    """
    found = target
    if not isinstance(target, Tensor):
        found = wrap(to_array(target, name=f"{name}: {second}"))
    if found.shape != input_.shape:
        raise value_error(
            f"{name}: {first} of shape {input_.shape}, but {second} of shape {found.shape}"
        )
    return found if input_.dtype.kind == "f" else floating(found)


def _check_probabilities(name: str, y: Tensor, remedy: str = "") -> None:
    low = values_of(y).min(initial=0.0)
    if not low >= 0.0:
        raise value_error(f"{name}: the target must hold probabilities, got {low}{remedy}")


def reduced(name: str, losses: Tensor, reduction: Reduction) -> Tensor:
    """Return the mean or the sum of the losses, or all of them."""
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction is None or reduction == "none":
        return losses
    raise ValueError(f'{name}: reduction must be "mean", "sum" or "none", got {reduction!r}')
