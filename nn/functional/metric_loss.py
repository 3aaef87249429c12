"""Losses of distances, margins and distributions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, value_error
from minigrad.nn.functional.activation import logsigmoid
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.loss import Reduction, like, reduced
from minigrad.nn.functional.products import pairwise_distance
from minigrad.ops._numerics import values_of
from minigrad.ops.casting import floating
from minigrad.support.checks import check_choice, check_number
from minigrad.tensors.creation import asarray, tensor
from minigrad.tensors.tensor import Tensor

__all__ = [
    "cosine_embedding_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss",
    "multi_margin_loss", "multilabel_soft_margin_loss", "poisson_nll_loss", "soft_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip


@framed
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0,
    eps: float = 1e-6, swap: bool = False, size_average: bool | None = None,
    reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the triplet loss max(d(a, p) - d(a, n) + margin, 0) of distances d.

    Source: Balntas et al., "Learning local feature descriptors with triplets and shallow
    convolutional neural networks", 2016.

    Args:
        anchor: a, of shape (N, D) or (D,).
        positive: p, which shall be near to a; of the same shape.
        negative: n, which shall be far from a; of the same shape.
        margin: How much farther n shall be than p; positive.
        p: The p of the p-norm.
        eps: Added to the differences: see `pairwise_distance`.
        swap: Whether d(p, n) counts where it is smaller than d(a, n).
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per triplet.

    Example:
        >>> from minigrad import nn, tensor
        >>> a, n = tensor([[0.0, 0.0]]), tensor([[0.0, 0.25]])
        >>> round(nn.functional.triplet_margin_loss(a, a, n).item(), 4)
        0.75
    """
    name = "triplet_margin_loss"
    check_number(name, "margin", margin, above=0.0)
    check_number(name, "p", p, above=0.0, infinite=True)
    check_number(name, "eps", eps, 0.0)
    like(name, anchor, positive, "anchor", "positive")
    like(name, anchor, negative, "anchor", "negative")
    distance = lambda x, y: pairwise_distance(x, y, p, eps)
    losses = _of_triplets(distance, anchor, positive, negative, margin, swap)
    return reduced(name, losses, reduction, size_average, reduce)


@functools.partial(framed, calls_modules=True)
def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
    swap: bool = False, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the triplet loss of any distance, by default that of `pairwise_distance`.

    The other arguments are those of `triplet_margin_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> a, n = tensor([[0.0, 0.0]]), tensor([[0.0, 0.25]])
        >>> nn.functional.triplet_margin_with_distance_loss(
        ...     a, a, n, distance_function=lambda x, y: (x - y).square().sum(-1)
        ... ).item()
        0.9375
    """
    name = "triplet_margin_with_distance_loss"
    check_number(name, "margin", margin, above=0.0)
    distance = pairwise_distance if distance_function is None else distance_function
    losses = _of_triplets(distance, anchor, positive, negative, margin, swap)
    return reduced(name, losses, reduction)


def _of_triplets(
    distance: Callable[[Tensor, Tensor], Tensor], anchor: Tensor, positive: Tensor,
    negative: Tensor, margin: float, swap: bool,
) -> Tensor:  # fmt: skip
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return at_least_0(near - far + margin)


@framed
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Any, margin: float = 0.0,
    size_average: bool | None = None, reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the ranking loss max(-y (x1 - x2) + margin, 0).

    Args:
        input1: x1, a tensor of any shape.
        input2: x2, of the same shape.
        target: y, of the same shape: 1 where x1 shall be the larger one, else -1.
        margin: How much larger.
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.margin_ranking_loss(tensor([3.0]), tensor([1.0]), [-1.0]).item()
        2.0
    """
    name = "margin_ranking_loss"
    x2 = like(name, input1, input2, "input1", "input2")
    y = like(name, input1, target)
    return reduced(name, at_least_0(margin - y * (input1 - x2)), reduction, size_average, reduce)


@framed
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Any, margin: float = 0.0,
    size_average: bool | None = None, reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute 1 - cos(x1, x2) for pairs that belong together, max(cos(x1, x2) - margin, 0) else.

    Args:
        input1: x1, of shape (N, D) or (D,).
        input2: x2, of the same shape.
        target: Of shape (N,) or (): 1 where a pair belongs together, else -1.
        margin: The cosine up to which other pairs cost nothing, from -1 to 1.
        size_average: As for `mse_loss`, and `reduce`.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per pair.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[1.0, 0.0]]), tensor([[0.0, 2.0]])
        >>> nn.functional.cosine_embedding_loss(x, y, [1]).item()
        1.0
    """
    name = "cosine_embedding_loss"
    check_number(name, "margin", margin, -1.0, below=1.0 + 1e-9)
    like(name, input1, input2, "input1", "input2")
    y = np.asarray(target)
    wrong = input1.ndim not in (1, 2) or y.shape != input1.shape[:-1]
    wanted = "inputs of shape (N, D) or (D,) with a target of shape (N,) or ()"
    refuse_shapes(wrong, name, wanted, input1, y)
    if not np.isin(y, (-1, 1)).all():
        raise value_error(f"{name}: each target must be 1 or -1, got {y.tolist()}")
    # As in PyTorch, 1e-12 is added to the squares.
    lengths = (ops.hypot(ops.norm(x, axis=-1), 1e-6) for x in (input1, input2))
    directions = (x / n[..., None] for x, n in zip((input1, input2), lengths, strict=True))
    cosine = ops.sum(ops.multiply(*directions), axis=-1)
    losses = ops.where(y == 1, 1.0 - cosine, at_least_0(cosine - margin))
    return reduced(name, losses, reduction, size_average, reduce)


@framed
def gaussian_nll_loss(
    input: Tensor, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the negative log-likelihood of a Gaussian, (log v + (x - y)² / v) / 2.

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    Args:
        input: x, the means, a tensor of any shape.
        target: y, samples, of the same shape.
        var: v, the variances: a number, or a tensor of the shape of `input`, with size 1 on the
            last axis or without it.
        full: Whether to add the constant log(2π) / 2.
        eps: The lower bound of v; where v is smaller, it still receives a gradient.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.gaussian_nll_loss(tensor([0.0]), [2.0], tensor([1.0])).item()
        2.0
    """
    name = "gaussian_nll_loss"
    check_number(name, "eps", eps, above=0.0)
    y, x = like(name, input, target), floating(input)
    v = floating(var if isinstance(var, Tensor) else tensor(np.asarray(var, x.dtype)))
    if v.shape == input.shape[:-1] and v.ndim:
        v = ops.expand_dims(v, -1)
    shapes = ((), input.shape, (*input.shape[:-1], 1))
    refuse_shapes(v.shape not in shapes, name, "an input and a var of one shape", input, v)
    if (values_of(v) < 0).any():
        raise value_error(f"{name}: var must not be negative, got {values_of(v).min()}")
    v = v + np.maximum(eps - values_of(v), 0).astype(v.dtype)
    losses = 0.5 * (ops.log(v) + (x - y) ** 2 / v)
    if full:
        losses = losses + 0.5 * math.log(2.0 * math.pi)
    return reduced(name, losses, reduction)


@framed
def poisson_nll_loss(
    input: Tensor, target: Any, log_input: bool = True, full: bool = False,
    size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the negative log-likelihood of counts under Poisson distributions, r - y log r.

    Args:
        input: log r, a tensor of any shape; the rates r themselves without `log_input`.
        target: y, the counts, of the same shape.
        log_input: Whether the input is the logarithm of the rates.
        full: Whether to add Stirling's approximation of log(y!), for counts above 1.
        size_average: As for `mse_loss`, and `reduce`.
        eps: Added to r before its logarithm is taken.
        reduce: None, or a bool.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.poisson_nll_loss(tensor([0.0]), [3.0]).item()
        1.0
    """
    name = "poisson_nll_loss"
    check_number(name, "eps", eps, 0.0)
    y, x = like(name, input, target), floating(input)
    losses = ops.exp(x) - y * x if log_input else x - y * ops.log(x + eps)
    if full:
        some = ops.where(y > 1, y, 1.0)
        stirling = some * ops.log(some) - some + 0.5 * ops.log(2 * math.pi * some)
        losses = losses + ops.where(y > 1, stirling, 0.0)
    return reduced(name, losses, reduction, size_average, reduce)


def at_least_0(x: Tensor) -> Tensor:
    """The positive part; unlike `relu` with slope 1 at 0, as in PyTorch."""
    return ops.clip(x, 0.0, None)


@framed
def hinge_embedding_loss(
    input: Tensor, target: Any, margin: float = 1.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
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
    y, x = like("hinge_embedding_loss", input, target), floating(input)
    losses = ops.where(y != 1, at_least_0(margin - x), 0.0) + ops.where(y != -1, x, 0.0)
    return reduced("hinge_embedding_loss", losses, reduction, size_average, reduce)


@framed
def soft_margin_loss(
    input: Tensor, target: Any, size_average: bool | None = None, reduce: bool | None = None,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """Compute the logistic loss of two classes, log(1 + exp(-y x)).

    The input x may have any shape; the target y has the same, and is 1 or -1. The other arguments
    are those of `hinge_embedding_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.soft_margin_loss(tensor([0.0]), [1]).item(), 4)
        0.6931
    """
    losses = ops.softplus(-like("soft_margin_loss", input, target) * input)
    return reduced("soft_margin_loss", losses, reduction, size_average, reduce)


@framed
def multilabel_soft_margin_loss(
    input: Tensor, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
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
    return reduced(name, ops.mean(losses, -1), reduction, size_average, reduce)


@framed
def multi_margin_loss(
    input: Tensor, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: Reduction = "mean",
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
    right = asarray(target)
    refuse_dtypes(right.dtype.kind not in "iu", name, "integers as classes", right)
    check_choice(name, "p", p, (1, 2))
    one = input.ndim < 2 and right.shape in ((), (1,))
    wrong = not one and (input.ndim != 2 or right.shape != input.shape[:1])
    wanted = "an input of shape (N, C) or (C,) with a target of shape (N,) or ()"
    refuse_shapes(wrong, name, wanted, input, right)
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
    losses = ops.reshape(losses, np.shape(target))
    return reduced(name, losses, reduction, size_average, reduce)
