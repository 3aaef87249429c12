"""Loss layers, and cosine similarity.

The functions of the same names explain the arguments; weights are buffers.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction
from minigrad.nn.layers.function_layer import Buffered, FunctionLayer, layer_of
from minigrad.nn.module.argument_checks import NonNegative, NormType, Positive, Probability
from minigrad.support.checks import check_number
from minigrad.tensors.tensor import Tensor

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss",
    "GaussianNLLLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss",
    "NLLLoss", "SmoothL1Loss", "TripletMarginLoss",
]  # fmt: skip


class _Loss(FunctionLayer):
    """A loss of predictions and targets."""

    repr_fields: ClassVar[tuple[str, ...]] = ("reduction",)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets; most losses need targets of the same shape."""
        return self._result(input_, target)


@layer_of(F.mse_loss)
class MSELoss(_Loss):
    """The squared error: see `functional.mse_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MSELoss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        2.0
    """

    reduction: Reduction = "mean"


@layer_of(F.l1_loss)
class L1Loss(_Loss):
    """The absolute error: see `functional.l1_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.L1Loss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        1.0
    """

    reduction: Reduction = "mean"


@layer_of(F.huber_loss)
class HuberLoss(_Loss):
    """Squared error for small, absolute error for large differences: see `functional.huber_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.HuberLoss(delta=1.0)(tensor([0.0]), [3.0]).item()
        2.5
    """

    reduction: Reduction = "mean"
    delta: Positive = 1.0


@layer_of(F.smooth_l1_loss)
class SmoothL1Loss(_Loss):
    """The Huber loss divided by its threshold: see `functional.smooth_l1_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.SmoothL1Loss(beta=2.0)(tensor([0.0]), [3.0]).item()
        2.0
    """

    reduction: Reduction = "mean"
    beta: NonNegative = 1.0


@layer_of(F.kl_div)
class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence: see `functional.kl_div`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[0.5, 0.5]]).log(), tensor([[1.0, 0.0]])
        >>> round(nn.KLDivLoss("batchmean")(x, y).item(), 4)
        0.6931
    """

    repr_fields = ("reduction", "log_target")

    reduction: Reduction | Literal["batchmean"] = "mean"
    log_target: bool = False

    def _check(self) -> None:
        if self.reduction not in ("mean", "sum", "batchmean", "none", None):
            raise ValueError(
                f'KLDivLoss: reduction must be "mean", "sum", "batchmean" or "none", '
                f"got {self.reduction!r}"
            )


@layer_of(F.cross_entropy)
class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits (N, C, ...) and class indices (N, ...), or class probabilities.

    See `functional.cross_entropy`.

    Example:
        >>> from minigrad import nn, zeros
        >>> loss = nn.CrossEntropyLoss()
        >>> round(loss(zeros((2, 4)), [3, -100]).item(), 4)
        1.3863
    """

    weight: Buffered = None
    reduction: Reduction = "mean"
    _: KW_ONLY
    ignore_index: int | None = -100
    label_smoothing: Probability = 0.0


@layer_of(F.nll_loss)
class NLLLoss(_Loss):
    """The negative log-likelihood of the target class: see `functional.nll_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.NLLLoss()(tensor([[-0.5, -1.5]]), [1]).item()
        1.5
    """

    weight: Buffered = None
    reduction: Reduction = "mean"
    _: KW_ONLY
    ignore_index: int | None = -100


@layer_of(F.binary_cross_entropy)
class BCELoss(_Loss):
    """The binary cross-entropy of probabilities: see `functional.binary_cross_entropy`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCELoss()(tensor([0.5]), [1.0]).item(), 4)
        0.6931
    """

    weight: Buffered = None
    reduction: Reduction = "mean"


@layer_of(F.binary_cross_entropy_with_logits)
class BCEWithLogitsLoss(_Loss):
    """The binary cross-entropy of logits: see `functional.binary_cross_entropy_with_logits`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCEWithLogitsLoss()(tensor([0.0]), [1.0]).item(), 4)
        0.6931
    """

    weight: Buffered = None
    reduction: Reduction = "mean"
    _: KW_ONLY
    pos_weight: Buffered = None


@layer_of(F.triplet_margin_loss)
class TripletMarginLoss(FunctionLayer):
    """The triplet loss max(d(a, p) - d(a, n) + margin, 0): see `functional.triplet_margin_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> a, n = tensor([[0.0, 0.0]]), tensor([[0.0, 0.25]])
        >>> round(nn.TripletMarginLoss()(a, a, n).item(), 4)
        0.75
    """

    repr_fields = ("margin", "p", "reduction")

    margin: Positive = 1.0
    p: NormType = 2.0
    eps: NonNegative = 1e-6
    swap: bool = False
    reduction: Reduction = "mean"

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compare three tensors of shape (N, D) or (D,)."""
        return self._result(anchor, positive, negative)


@layer_of(F.margin_ranking_loss)
class MarginRankingLoss(FunctionLayer):
    """The ranking loss max(-y (x1 - x2) + margin, 0): see `functional.margin_ranking_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MarginRankingLoss()(tensor([3.0]), tensor([1.0]), [-1.0]).item()
        2.0
    """

    margin: float = 0.0
    reduction: Reduction = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Any) -> Tensor:
        """Compare two tensors of one shape; the target, 1 or -1, has it too."""
        return self._result(input1, input2, target)


@layer_of(F.cosine_embedding_loss)
class CosineEmbeddingLoss(FunctionLayer):
    """The loss of the cosine of pairs of vectors: see `functional.cosine_embedding_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.CosineEmbeddingLoss()(tensor([[1.0, 0.0]]), tensor([[0.0, 2.0]]), [1]).item()
        1.0
    """

    margin: float = 0.0
    reduction: Reduction = "mean"

    def _check(self) -> None:
        check_number("CosineEmbeddingLoss", "margin", self.margin, -1.0, below=1.0 + 1e-9)

    def forward(self, input1: Tensor, input2: Tensor, target: Any) -> Tensor:
        """Compare tensors of shape (N, D) or (D,); the target, of shape (N,) or (), is 1 or -1."""
        return self._result(input1, input2, target)


@layer_of(F.gaussian_nll_loss)
class GaussianNLLLoss(FunctionLayer):
    """The negative log-likelihood of a Gaussian: see `functional.gaussian_nll_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.GaussianNLLLoss()(tensor([0.0]), [2.0], tensor([1.0])).item()
        2.0
    """

    _: KW_ONLY
    full: bool = False
    eps: Positive = 1e-6
    reduction: Reduction = "mean"

    def forward(self, input_: Tensor, target: Any, var: Any) -> Tensor:
        """Compare means with samples of the same shape, given the variances."""
        return self._result(input_, target, var)


@layer_of(F.cosine_similarity)
class CosineSimilarity(FunctionLayer):
    """The cosine of the angle between vectors: see `functional.cosine_similarity`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.CosineSimilarity(axis=0)(tensor([3.0, 4.0]), tensor([4.0, 3.0])).item(), 4)
        0.96
    """

    axis: int = 1
    eps: NonNegative = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare two tensors that broadcast with each other."""
        return self._result(x1, x2)
