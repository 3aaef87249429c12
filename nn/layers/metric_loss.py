"""Loss layers for pairs and triplets of vectors, rankings and Gaussians; cosine similarity."""

from __future__ import annotations

from typing import Any

from minigrad._checks import check_number
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction
from minigrad.nn.layers.embedding import NormType
from minigrad.nn.layers.loss import _Loss
from minigrad.nn.module.base import Module

__all__ = [
    "CosineEmbeddingLoss", "CosineSimilarity", "GaussianNLLLoss", "MarginRankingLoss",
    "TripletMarginLoss",
]  # fmt: skip


class TripletMarginLoss(_Loss):
    """The triplet loss max(d(a, p) - d(a, n) + margin, 0): see `functional.triplet_margin_loss`.

    Args:
        margin: How much farther the negative vector shall be than the positive one.
        p: The p of the p-norm.
        eps: Added to the differences.
        swap: Whether the distance of positive and negative counts where it is the smaller one.
        reduction: "mean", "sum", or "none" for one loss per triplet.

    Example:
        >>> from minigrad import nn, tensor
        >>> a, n = tensor([[0.0, 0.0]]), tensor([[0.0, 0.25]])
        >>> round(nn.TripletMarginLoss()(a, a, n).item(), 4)
        0.75
    """

    repr_fields = ("margin", "p", "reduction")

    def __init__(
        self,
        margin: float = 1.0,
        p: NormType = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction)
        self.margin = check_number("TripletMarginLoss", "margin", margin, above=0.0)
        self.p = check_number("TripletMarginLoss", "p", p, above=0.0, infinite=True)
        self.eps = check_number("TripletMarginLoss", "eps", eps, 0.0)
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compare three tensors of shape (N, D) or (D,)."""
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


class MarginRankingLoss(_Loss):
    """The ranking loss max(-y (x1 - x2) + margin, 0): see `functional.margin_ranking_loss`.

    Args:
        margin: How much larger the larger input shall be.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MarginRankingLoss()(tensor([3.0]), tensor([1.0]), [-1.0]).item()
        2.0
    """

    repr_fields = ("margin", "reduction")

    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Any) -> Tensor:
        """Compare two tensors of one shape; the target, 1 or -1, has it too."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class CosineEmbeddingLoss(_Loss):
    """The loss of the cosine of pairs of vectors: see `functional.cosine_embedding_loss`.

    Args:
        margin: The cosine up to which pairs that do not belong together cost nothing, from -1 to 1.
        reduction: "mean", "sum", or "none" for one loss per pair.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.CosineEmbeddingLoss()(tensor([[1.0, 0.0]]), tensor([[0.0, 2.0]]), [1]).item()
        1.0
    """

    repr_fields = ("margin", "reduction")

    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_number("CosineEmbeddingLoss", "margin", margin, -1.0, below=1.0 + 1e-9)

    def forward(self, input1: Tensor, input2: Tensor, target: Any) -> Tensor:
        """Compare tensors of shape (N, D) or (D,); the target, of shape (N,) or (), is 1 or -1."""
        return F.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class GaussianNLLLoss(_Loss):
    """The negative log-likelihood of a Gaussian: see `functional.gaussian_nll_loss`.

    Args:
        full: Whether to add the constant log(2π) / 2.
        eps: The lower bound of the variance.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.GaussianNLLLoss()(tensor([0.0]), [2.0], tensor([1.0])).item()
        2.0
    """

    repr_fields = ("full", "eps", "reduction")

    def __init__(
        self, *, full: bool = False, eps: float = 1e-6, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction)
        self.full = full
        self.eps = check_number("GaussianNLLLoss", "eps", eps, above=0.0)

    def forward(self, input_: Tensor, target: Any, var: Any) -> Tensor:
        """Compare means with samples of the same shape, given the variances."""
        return F.gaussian_nll_loss(input_, target, var, self.full, self.eps, self.reduction)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors: see `functional.cosine_similarity`.

    Args:
        axis: The axis along which the vectors lie.
        eps: The lower bound of each norm.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.CosineSimilarity(axis=0)(tensor([3.0, 4.0]), tensor([4.0, 3.0])).item(), 4)
        0.96
    """

    repr_fields = ("axis", "eps")

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.axis = axis
        self.eps = check_number("CosineSimilarity", "eps", eps, 0.0)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare two tensors that broadcast with each other."""
        return F.cosine_similarity(x1, x2, self.axis, self.eps)
