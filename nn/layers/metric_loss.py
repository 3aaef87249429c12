"""Loss layers for pairs and triplets of vectors, rankings and Gaussians; cosine similarity.

The functions of the same names explain the arguments.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from minigrad._checks import check_number
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction
from minigrad.nn.layers.function_layer import FunctionLayer, layer_of
from minigrad.nn.module.argument_checks import NonNegative, NormType, Positive

__all__ = [
    "CosineEmbeddingLoss", "CosineSimilarity", "GaussianNLLLoss", "MarginRankingLoss",
    "TripletMarginLoss",
]  # fmt: skip


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
