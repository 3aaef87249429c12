"""Loss layers, and distances.

The functions of the same names explain the arguments; weights are buffers. `size_average` and
`reduce` stand before `reduction`, as in PyTorch; they take None or a bool.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any, Literal

from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction, reduction_of
from minigrad.nn.layers.function_layer import FunctionLayer, layer_of
from minigrad.tensors.tensor import Tensor

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CosineSimilarity",
    "CrossEntropyLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "MSELoss", "MarginRankingLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
    "PairwiseDistance", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip


class _Loss(FunctionLayer):
    """A loss. It shows no arguments, and a subclass of one's own reads `self.reduction`."""

    reduction: Any

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None,
        reduction: Reduction = "mean",
    ) -> None:  # fmt: skip
        self.reduction = reduction
        self.__post_init__(size_average, reduce)

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        kind = type(self).__name__
        self.reduction = reduction_of(kind, size_average, reduce, self.reduction)
        for name in ("weight", "pos_weight"):  # in this order in the state dict
            if name in self.__dict__:
                self.register_buffer(name, self.__dict__.pop(name))

    def forward(self, input: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets; most losses need targets of the same shape."""
        return self._result(input, target)

    def extra_repr(self) -> str:
        return ""


@dataclass(eq=False, repr=False)
class _ElementLoss(_Loss):
    """A loss of each element, whose first arguments are about the reduction."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"


@dataclass(eq=False, repr=False)
class _WeightedLoss(_Loss):
    """A loss with a weight, which is a buffer."""

    weight: Any = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"


@dataclass(eq=False, repr=False)
class _ClassLoss(_Loss):
    """A loss of the indices of classes."""

    weight: Any = None
    size_average: InitVar[bool | None] = None
    ignore_index: int | None = -100
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"


@dataclass(eq=False, repr=False)
class _MarginLoss(_Loss):
    """A loss with a margin."""

    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"


class _LossOfThree(_Loss):
    """A loss with three inputs."""

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """Call the function with the inputs."""
        return self._result(*inputs, **named)


@layer_of(F.mse_loss)
class MSELoss(_ElementLoss):
    """The squared error: see `functional.mse_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MSELoss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        2.0
    """


@layer_of(F.l1_loss)
class L1Loss(_ElementLoss):
    """The absolute error: see `functional.l1_loss`."""


@layer_of(F.huber_loss)
class HuberLoss(_Loss):
    """Squared error for small differences, absolute for large: see `functional.huber_loss`."""

    reduction: Reduction = "mean"
    delta: float = 1.0


@layer_of(F.smooth_l1_loss)
class SmoothL1Loss(_ElementLoss):
    """The Huber loss divided by its threshold: see `functional.smooth_l1_loss`."""

    beta: float = 1.0


@layer_of(F.kl_div)
class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence: see `functional.kl_div`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[0.5, 0.5]]).log(), tensor([[1.0, 0.0]])
        >>> round(nn.KLDivLoss(reduction="batchmean")(x, y).item(), 4)
        0.6931
    """

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: Reduction | Literal["batchmean"] = "mean"
    log_target: bool = False


@layer_of(F.cross_entropy)
class CrossEntropyLoss(_ClassLoss):
    """Cross-entropy of logits (N, C, ...) and class indices (N, ...), or class probabilities.

    See `functional.cross_entropy`.

    Example:
        >>> from minigrad import nn, zeros
        >>> loss = nn.CrossEntropyLoss()
        >>> round(loss(zeros((2, 4)), [3, -100]).item(), 4)
        1.3863
    """

    label_smoothing: float = 0.0


@layer_of(F.nll_loss)
class NLLLoss(_ClassLoss):
    """The negative log-likelihood of the target class: see `functional.nll_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.NLLLoss()(tensor([[-0.5, -1.5]]), [1]).item()
        1.5
    """


@layer_of(F.binary_cross_entropy)
class BCELoss(_WeightedLoss):
    """The binary cross-entropy of probabilities: see `functional.binary_cross_entropy`."""


@layer_of(F.binary_cross_entropy_with_logits)
class BCEWithLogitsLoss(_WeightedLoss):
    """The binary cross-entropy of logits: see `functional.binary_cross_entropy_with_logits`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCEWithLogitsLoss()(tensor([0.0]), [1.0]).item(), 4)
        0.6931
    """

    pos_weight: Any = None


@layer_of(F.triplet_margin_loss)
class TripletMarginLoss(_LossOfThree):
    """The triplet loss max(d(a, p) - d(a, n) + margin, 0): see `functional.triplet_margin_loss`."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"


@layer_of(F.margin_ranking_loss)
class MarginRankingLoss(_LossOfThree, _MarginLoss):
    """The ranking loss max(-y (x1 - x2) + margin, 0): see `functional.margin_ranking_loss`."""


@layer_of(F.cosine_embedding_loss)
class CosineEmbeddingLoss(_LossOfThree, _MarginLoss):
    """The loss of the cosine of pairs of vectors: see `functional.cosine_embedding_loss`."""


@layer_of(F.ctc_loss)
class CTCLoss(_LossOfThree):
    """The loss of labels without a known alignment: see `functional.ctc_loss`."""

    blank: int = 0
    reduction: Reduction = "mean"
    zero_infinity: bool = False


@layer_of(F.gaussian_nll_loss)
class GaussianNLLLoss(_LossOfThree):
    """The negative log-likelihood of a Gaussian: see `functional.gaussian_nll_loss`."""

    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: Reduction = "mean"


@layer_of(F.hinge_embedding_loss)
class HingeEmbeddingLoss(_MarginLoss):
    """The loss of distances, near for a target of 1 and far for -1.

    See `functional.hinge_embedding_loss`.
    """

    margin: float = 1.0


@layer_of(F.soft_margin_loss)
class SoftMarginLoss(_ElementLoss):
    """The logistic loss log(1 + exp(-y x)) of targets 1 and -1.

    See `functional.soft_margin_loss`.
    """


@layer_of(F.multilabel_soft_margin_loss)
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross-entropy of logits, with the mean over the classes of each sample.

    See `functional.multilabel_soft_margin_loss`.
    """


@layer_of(F.multi_margin_loss)
class MultiMarginLoss(_Loss):
    """The hinge loss of several classes: see `functional.multi_margin_loss`."""

    p: int = 1
    margin: float = 1.0
    weight: Any = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"


@layer_of(F.poisson_nll_loss)
class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of a Poisson distribution: see `functional.poisson_nll_loss`."""

    log_input: bool = True
    full: bool = False
    size_average: InitVar[bool | None] = None
    eps: float = 1e-8
    reduce: InitVar[bool | None] = None
    reduction: Reduction = "mean"

    def forward(self, log_input: Tensor, target: Any) -> Tensor:
        """Compare the logarithms of rates, or rates, with counts."""
        return self._result(log_input, target)


@layer_of(F.triplet_margin_with_distance_loss)
class TripletMarginWithDistanceLoss(_LossOfThree):
    """The triplet loss of any distance: see `functional.triplet_margin_with_distance_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance())
        >>> a, n = tensor([[0.0, 0.0]]), tensor([[0.0, 0.25]])
        >>> round(loss(a, a, n).item(), 4)
        0.75
    """

    _: KW_ONLY
    distance_function: Any = None
    margin: float = 1.0
    swap: bool = False
    reduction: Reduction = "mean"

    def __post_init__(self) -> None:
        self.distance_function = self.distance_function or PairwiseDistance()


class _Comparison(FunctionLayer):
    """A number for each pair of vectors."""

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare two tensors that broadcast with each other."""
        return self._result(x1, x2)

    def extra_repr(self) -> str:
        return ""


@layer_of(F.pairwise_distance)
class PairwiseDistance(_Comparison):
    """The p-norm of the difference of vectors: see `functional.pairwise_distance`."""

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False


@layer_of(F.cosine_similarity)
class CosineSimilarity(_Comparison):
    """The cosine of the angle between vectors: see `functional.cosine_similarity`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.CosineSimilarity(dim=0)(tensor([3.0, 4.0]), tensor([4.0, 3.0])).item(), 4)
        0.96
    """

    dim: int = 1
    eps: float = 1e-8
