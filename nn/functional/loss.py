"""Loss functions."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.errors import refuse_shapes, type_error, value_error
from minigrad.autograd.mode import located, state
from minigrad.nn.functional.framing import framed
from minigrad.ops import loss as of_classes
from minigrad.ops._numerics import array_of, values_of
from minigrad.ops.casting import floating
from minigrad.ops.exponentials import clamped_log
from minigrad.support.checks import check_choice, check_number, check_probability
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip

Reduction = Literal["mean", "sum", "none"] | None
"""How the elementwise losses are reduced; None is "none", as in Lucid."""


@framed
def mse_loss(
    input: Tensor, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: Reduction = "mean", weight: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the squared error (x - y)².

    Args:
        input: x, a tensor of any shape.
        target: y, of the same shape; another one is broadcast, with a warning.
        size_average: PyTorch's old spelling, as `reduce`: None, or a bool. False means the sum.
        reduce: False means one loss per element.
        reduction: "mean", "sum", or "none" for one loss per element.
        weight: The weight of each element, of the shape of x; "mean" divides by their sum.

    Raises:
        TypeError: `size_average` or `reduce`, which come before `reduction`, is no bool.
        ValueError: The shapes do not broadcast, or the reduction is unknown.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.mse_loss(tensor([1.0, 2.0]), tensor([1.0, 4.0])).item()
        2.0
    """
    reduction = reduction_of("mse_loss", size_average, reduce, reduction)
    difference = input - broadcast_like("mse_loss", input, target)
    return _over_weights("mse_loss", difference * difference, input, weight, reduction)


@framed
def l1_loss(
    input: Tensor, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: Reduction = "mean", weight: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the absolute error ``|x - y|``; arguments and errors are those of `mse_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.l1_loss(tensor([1.0, 2.0]), tensor([1.0, 4.0])).item()
        1.0
    """
    reduction = reduction_of("l1_loss", size_average, reduce, reduction)
    losses = ops.abs(input - broadcast_like("l1_loss", input, target))
    return _over_weights("l1_loss", losses, input, weight, reduction)


@framed
def huber_loss(
    input: Tensor, target: Any, reduction: Reduction = "mean", delta: float = 1.0,
    weight: Any = None,
) -> Tensor:  # fmt: skip
    """Compute the Huber loss of d = x - y: d² / 2, above delta ``delta · (|d| - delta / 2)``.

    Source: Huber, "Robust estimation of a location parameter", 1964.

    Args:
        input: x, a tensor of any shape.
        target: y, of the same shape; another one is broadcast, with a warning.
        reduction: "mean", "sum", or "none" for one loss per element.
        delta: The threshold between parabola and line; positive.
        weight: The weight of each element, of the shape of x; "mean" divides by their number.

    Raises:
        ValueError: The shapes do not broadcast, or delta is not positive.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.huber_loss(tensor([0.0, 0.0]), tensor([1.0, 3.0]), "none").tolist()
        [0.5, 2.5]
    """
    name = "huber_loss"
    if isinstance(reduction, (int, float)):
        raise type_error(f"{name}: reduction must be a text, got {reduction!r}: write delta=")
    check_number(name, "delta", delta, above=0.0)
    difference = input - broadcast_like(name, input, target)
    near = ops.clip(difference, -delta, delta)
    losses = near * (difference - 0.5 * near)
    if weight is not None:
        losses = losses * _weights(name, input, weight)
    return reduced(name, losses, reduction)


@framed
def smooth_l1_loss(
    input: Tensor, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: Reduction = "mean", beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Compute the Huber loss divided by its threshold: ``huber_loss(delta=beta) / beta``.

    The other arguments and the errors are those of `mse_loss`; beta 0 gives the absolute error.

    Source: Girshick, "Fast R-CNN", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.smooth_l1_loss(tensor([0.0]), tensor([3.0]), beta=2.0).item()
        2.0
    """
    check_number("smooth_l1_loss", "beta", beta, 0.0)
    difference = input - broadcast_like("smooth_l1_loss", input, target)
    near = ops.clip(difference, -beta, beta)
    losses = near * (difference - 0.5 * near) / beta if beta else ops.abs(difference)
    return reduced("smooth_l1_loss", losses, reduction, size_average, reduce)


def _over_weights(
    name: str, losses: Tensor, input: Tensor, weight: Any, reduction: Reduction
) -> Tensor:
    """Reduce weighted losses; their mean is over the sum of the weights."""
    if weight is None:
        return reduced(name, losses, reduction)
    weights = _weights(name, input, weight)
    total = reduced(name, losses * weights, "sum" if reduction == "mean" else reduction)
    return total / ops.sum(weights) if reduction == "mean" else total


def _weights(name: str, input: Tensor, weight: Any) -> Tensor:
    wanted = f"a weight of the shape {tuple(input.shape)} of the input"
    refuse_shapes(np.shape(weight) != input.shape, name, wanted, weight)
    return asarray(weight)


@framed
def cross_entropy(
    input: Tensor, target: Any, weight: Any = None, size_average: bool | None = None,
    ignore_index: int | None = -100, reduce: bool | None = None, reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Compute the cross-entropy of logits and target classes.

    For target probabilities y, as in mixup and distillation, it is the sum of
    -weight · y · log softmax(x) over the classes.

    Args:
        input: Logits, of shape (N, C, ...) or (C,).
        target: Class indices, integers of shape (N, ...) or (); or class probabilities, floats of
            the shape of `input`.
        weight: The weight of each class, of shape (C,).
        size_average: As for `mse_loss`, and `reduce`.
        ignore_index: A class index that is ignored; None to ignore none.
        reduce: None, or a bool.
        reduction: "mean" (weighted by the weights of the targets; given probabilities, the plain
            mean over the targets), "sum", or "none" for one loss per target.
        label_smoothing: The probability that is spread evenly over all classes.

    Returns:
        A scalar, or a tensor of shape (N, ...) or ().

    Raises:
        IndexError: A class index is out of range.
        TypeError: The targets are not numbers, or `size_average` or `reduce` is no bool.
        ValueError: Shapes do not fit, a target is not a probability, or an option is out of range.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.cross_entropy(tensor([[0.0, 0.0]]), [1]).item(), 4)
        0.6931
        >>> round(nn.functional.cross_entropy(tensor([[0.0, 0.0]]), [[0.9, 0.1]]).item(), 4)
        0.6931
    """
    reduction = reduction_of("cross_entropy", size_average, reduce, reduction)
    check_probability("cross_entropy", "label_smoothing", label_smoothing)
    found = target if isinstance(target, Tensor) else np.asarray(target)
    if found.dtype.kind == "f" and found.ndim == np.ndim(input):
        return _soft_cross_entropy(input, found, weight, reduction, ignore_index, label_smoothing)
    return ops.cross_entropy(
        input, target, weight, reduction="none" if reduction is None else reduction,
        ignore_index=ignore_index, label_smoothing=label_smoothing,
    )  # fmt: skip


def _soft_cross_entropy(
    input: Tensor, target: Any, weight: Any, reduction: Reduction, ignore_index: int | None,
    label_smoothing: float,
) -> Tensor:  # fmt: skip
    """Cross-entropy with target probabilities, differentiable in the target too."""
    name = "cross_entropy"
    y = like(name, input, target)
    _check_probabilities(name, y)
    refuse_shapes(not y.ndim, name, "logits with a class axis", input)
    if ignore_index is not None and ignore_index >= 0:
        raise value_error(f"{name}: ignore_index is for classes, not for probabilities")
    axis = min(1, y.ndim - 1)
    classes = y.shape[axis]
    log_p = ops.log_softmax(input, axis=axis)
    y = y.astype(log_p.dtype)
    if label_smoothing:
        y = y * (1.0 - label_smoothing) + label_smoothing / classes
    log_p = ops.where((y == 0.0) & (log_p == -math.inf), 0.0, log_p)  # 0 · log 0 is 0
    products = y * log_p
    if weight is not None:
        wanted = f"a weight of shape ({classes},)"
        refuse_shapes(np.shape(weight) != (classes,), name, wanted, weight)
        counts = asarray(weight)
        products = products * counts.astype(y.dtype).reshape(-1, *(1,) * (y.ndim - axis - 1))
    return reduced(name, -ops.sum(products, axis), reduction)


@framed
def nll_loss(
    input: Tensor, target: Any, weight: Any = None, size_average: bool | None = None,
    ignore_index: int | None = -100, reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the negative log-likelihood of the target class from log-probabilities.

    Arguments and errors are those of `cross_entropy`, with log-probabilities, from `log_softmax`,
    for the logits.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.nll_loss(tensor([[-0.5, -1.5]]), [1]).item()
        1.5
    """
    reduction = reduction_of("nll_loss", size_average, reduce, reduction)
    reduction = "none" if reduction is None else reduction
    input, target = (asarray(x) for x in (input, target))
    try:
        of_classes.check_target(input._data, target._data, weight, reduction, ignore_index)
    except (IndexError, TypeError, ValueError) as error:
        raise type(error)(located(f"nll_loss: {error}")) from None
    rows = of_classes.class_rows(input)  # (M, C)
    if state.get().observers:  # who are told of ops, and not of what NumPy computes
        of_classes.check_classes(target, rows.shape[1], ignore_index)
        return of_classes.of_log_probabilities(rows, target, weight, reduction, ignore_index)
    target = target._data
    index, counts, kept = of_classes.row_weights(target, weight, ignore_index, rows.dtype)
    likelihood = rows[np.arange(len(rows)), index]  # (M,)
    losses = -of_classes.weighted(likelihood, counts, kept, reduction == "mean")
    if reduction == "mean":
        with np.errstate(invalid="ignore"):  # the mean over no target is NaN
            return losses.sum() / of_classes.number(counts, rows)
    return losses.sum() if reduction == "sum" else losses.reshape(target.shape)


@framed
def binary_cross_entropy(
    input: Tensor, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the binary cross-entropy -(y log x + (1 - y) log(1 - x)) of probabilities.

    Logarithms are clamped to at least -100, and their slopes to at most 1e12, as in PyTorch. For
    logits use `binary_cross_entropy_with_logits`, which is exact.

    Args:
        input: x, probabilities of any shape.
        target: y, from 0 to 1, of the same shape.
        weight: The weight of each element; broadcasts to that shape.
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per element.

    Raises:
        ValueError: The shapes differ, or an input is not a probability.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.binary_cross_entropy(tensor([0.5]), [1.0]).item(), 4)
        0.6931
    """
    name = "binary_cross_entropy"
    y = like(name, input, target)
    values = np.asarray(array_of(input))
    low, high = values.min(initial=0.0), values.max(initial=1.0)
    if not (low >= 0.0 and high <= 1.0):
        remedy = f"scores go to {name}_with_logits"
        raise value_error(f"{name}: the input must lie in 0 to 1, got {low} to {high}; {remedy}")
    losses = -(y * clamped_log(input) + (1.0 - y) * clamped_log(1.0 - input))
    losses = losses if weight is None else losses * weight
    return reduced(name, losses, reduction, size_average, reduce)


@framed
def binary_cross_entropy_with_logits(
    input: Tensor, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: Reduction = "mean", pos_weight: Any = None,
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
    y, x = like(name, input, target), floating(input)
    yes = y if pos_weight is None else y * pos_weight
    losses = (1.0 - y) * ops.softplus(x) + yes * ops.softplus(-x)
    losses = losses if weight is None else losses * weight
    return reduced(name, losses, reduction, size_average, reduce)


@framed
def kl_div(
    input: Tensor, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: Reduction | Literal["batchmean"] = "mean", log_target: bool = False,
) -> Tensor:  # fmt: skip
    """Compute the elementwise Kullback-Leibler divergence y · (log y - log x).

    The divergence itself is the sum over the classes; "batchmean" is its mean over a batch.

    Source: Kullback and Leibler, "On information and sufficiency", 1951.

    Args:
        input: log x, log-probabilities of any shape, from `log_softmax`.
        target: y, probabilities of the same shape.
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", "batchmean" for the sum divided by the size of axis 0, or "none"
            for one number per element.
        log_target: Whether the target is log y.

    Raises:
        ValueError: The shapes differ, or a target is not a probability.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[0.5, 0.5]]).log(), tensor([[1.0, 0.0]])
        >>> round(nn.functional.kl_div(x, y, reduction="batchmean").item(), 4)
        0.6931
    """
    reduction = reduction_of("kl_div", size_average, reduce, reduction)
    check_choice("kl_div", "reduction", reduction, ("mean", "sum", "batchmean", "none", None))
    y = like("kl_div", input, target)
    if log_target:
        losses = ops.exp(y) * (y - input)
    else:
        _check_probabilities("kl_div", y, "; for their logarithms pass log_target=True")
        some = ops.where(y > 0, y, 1.0)  # 0 · log 0 is 0, with slope 0
        losses = ops.xlogy(y, some) - y * input
    if reduction == "batchmean":
        refuse_shapes(not losses.ndim, "kl_div", 'a batch axis for "batchmean"', input)
        return losses.sum() / losses.shape[0]
    return reduced("kl_div", losses, reduction)


def like(
    name: str, input: Tensor, target: Any, first: str = "input", second: str = "target"
) -> Tensor:
    """Return the target as a tensor; it must have the shape of the input, without broadcasting.

    Beside an input of integers it becomes a float, since a loss is computed with floats.
    """
    found = target
    if not isinstance(target, Tensor):
        found = wrap(to_array(target, name=f"{name}: {second}"))
    wanted = f"{first} and {second} of one shape"
    refuse_shapes(found.shape != input.shape, name, wanted, input, found)
    return found if input.dtype.kind == "f" else floating(found)


def broadcast_like(name: str, input: Tensor, target: Any) -> Tensor:
    """Return the target as `like` does, but broadcast, with PyTorch's warning."""
    found = target if isinstance(target, Tensor) else wrap(to_array(target, name=f"{name}: target"))
    if found.shape == input.shape:
        return like(name, input, found)
    try:
        np.broadcast_shapes(found.shape, input.shape)
    except ValueError:
        return like(name, input, found)  # it raises
    shapes = f"an input of shape {tuple(input.shape)} and a target of shape {tuple(found.shape)}"
    what = f"{name}: {shapes} are broadcast, which is probably wrong; give both the same shape"
    warnings.warn(located(what), stacklevel=4)
    return found if input.dtype.kind == "f" else floating(found)


def reduction_of(owner: str, size_average: Any, reduce: Any, reduction: Any) -> Any:
    """The reduction, which PyTorch's old arguments `size_average` and `reduce` overrule.

    They come before it: PyTorch takes what is meant for `reduction`, or for a later argument, as
    true there, in silence. Here it is an error.
    """
    for name, value in (("size_average", size_average), ("reduce", reduce)):
        if value is not None and not isinstance(value, (bool, np.bool_)):
            number = "beta" if owner in ("smooth_l1_loss", "SmoothL1Loss") else "reduction"
            remedy = f"{'reduction' if isinstance(value, str) else number}={value!r}"
            wanted = f"{name} must be True, False or None"
            raise type_error(f"{owner}: {wanted}, got {value!r}: write {remedy}")
    if reduce is not None and not reduce:
        return "none"
    if size_average is None and reduce is None:
        return reduction
    return "mean" if size_average is None or size_average else "sum"


def _check_probabilities(name: str, y: Tensor, remedy: str = "") -> None:
    low = values_of(y).min(initial=0.0)
    if not low >= 0.0:
        raise value_error(f"{name}: the target must hold probabilities, got {low}{remedy}")


def reduced(
    name: str, losses: Tensor, reduction: Reduction, size_average: Any = None, reduce: Any = None
) -> Tensor:
    """Return the mean or the sum of the losses, or all of them."""
    reduction = reduction_of(name, size_average, reduce, reduction)
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction is not None:
        check_choice(name, "reduction", reduction, ("mean", "sum", "none"))
    return losses
