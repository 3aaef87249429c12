"""`lucid.nn.functional`: PyTorch's, but for Lucid 3's losses, pooling and defaults.

The first argument is called ``x`` in Lucid; ``input`` is accepted too.

Source: the signatures and docstrings of Lucid 3.8.

Example:
    >>> from minigrad.lucid import tensor
    >>> from minigrad.lucid.nn import functional as F
    >>> F.mse_loss(tensor([1.0, 2.0]), tensor([1.0, 4.0]), "sum").item()
    4.0
"""
# mypy: disable-error-code="assignment,no-redef"

from __future__ import annotations

from minigrad.nn.functional import *

# What Lucid has of its own takes the place of PyTorch's.
# isort: split
from inspect import signature
from types import FunctionType
from typing import Any

from minigrad.lucid.functions import log_softmax as log_softmax
from minigrad.lucid.functions import pad as pad
from minigrad.lucid.functions import softmax as softmax
from minigrad.lucid.spelling import renamed, without_old
from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction
from minigrad.tensors.tensor import Tensor

l1_loss, mse_loss = without_old(F.l1_loss), without_old(F.mse_loss)
cross_entropy, nll_loss = without_old(F.cross_entropy), without_old(F.nll_loss)
binary_cross_entropy = without_old(F.binary_cross_entropy)
triplet_margin_loss = without_old(F.triplet_margin_loss)
cosine_embedding_loss, margin_ranking_loss = (
    renamed(without_old(loss), x1="input1", x2="input2", y="target")
    for loss in (F.cosine_embedding_loss, F.margin_ranking_loss)
)
bilinear = renamed(F.bilinear, x1="input1", x2="input2")


def smooth_l1_loss(x: Any, target: Any, beta: float = 1.0, reduction: Reduction = "mean") -> Tensor:
    """Compute the squared error below `beta`, else the absolute one: `beta` is the third."""
    return F.smooth_l1_loss(x, target, reduction=reduction, beta=beta)


def huber_loss(x: Any, target: Any, delta: float = 1.0, reduction: Reduction = "mean") -> Tensor:
    """Compute the squared error below `delta`, else the absolute one: `delta` is the third."""
    return F.huber_loss(x, target, reduction=reduction, delta=delta)


def binary_cross_entropy_with_logits(
    x: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the cross-entropy of log-odds; `pos_weight` comes before `reduction`."""
    return F.binary_cross_entropy_with_logits(x, target, weight, None, None, reduction, pos_weight)


def kl_div(
    x: Any, target: Any, size_average: bool | None = None, reduction: Reduction = "mean",
    log_target: bool = False,
) -> Tensor:  # fmt: skip
    """Compute the divergence of log-probabilities; the fourth argument is `reduction`."""
    return F.kl_div(x, target, size_average, reduction=reduction, log_target=log_target)


def max_pool1d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    return_indices: Any = False, ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """Take the largest value of each window; `return_indices` comes before `ceil_mode`."""
    return F.max_pool1d(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    return_indices: Any = False, ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """Take the largest value of each window; `return_indices` comes before `ceil_mode`."""
    return F.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: float = 1e-8) -> Tensor:
    """Divide a tensor by its root mean square; `eps` is 1e-8."""
    return F.rms_norm(x, normalized_shape, weight, eps)


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Draw a sample of a relaxed categorical distribution; the fourth argument is `dim`."""
    return F.gumbel_softmax(logits, tau, hard, dim=dim)


def softmin(x: Any, dim: int | None = None) -> Tensor:
    """Compute the softmax of -x, along the last axis if none is given."""
    return F.softmin(x, -1 if dim is None else dim)


for _name, _function in [*globals().items()]:
    if isinstance(_function, FunctionType) and "input" in signature(_function).parameters:
        globals()[_name] = renamed(_function, x="input")
