"""Loss layers.

The functions of the same names explain the arguments; weights are buffers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from minigrad._checks import check_probability
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction
from minigrad.nn.layers.function_layer import FunctionLayer, layer_of
from minigrad.nn.module.argument_checks import NonNegative, Positive
from minigrad.nn.module.base import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "MSELoss", "NLLLoss", "SmoothL1Loss",
]  # fmt: skip


class _Elementwise(FunctionLayer):
    """A loss of predictions and targets of the same shape."""

    repr_fields: ClassVar[tuple[str, ...]] = ("reduction",)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets of the same shape."""
        return self._result(input_, target)


@layer_of(F.mse_loss)
class MSELoss(_Elementwise):
    """The squared error: see `functional.mse_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MSELoss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        2.0
    """

    reduction: Reduction = "mean"


@layer_of(F.l1_loss)
class L1Loss(_Elementwise):
    """The absolute error: see `functional.l1_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.L1Loss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        1.0
    """

    reduction: Reduction = "mean"


@layer_of(F.huber_loss)
class HuberLoss(_Elementwise):
    """Squared error for small, absolute error for large differences: see `functional.huber_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.HuberLoss(delta=1.0)(tensor([0.0]), [3.0]).item()
        2.5
    """

    reduction: Reduction = "mean"
    delta: Positive = 1.0


@layer_of(F.smooth_l1_loss)
class SmoothL1Loss(_Elementwise):
    """The Huber loss divided by its threshold: see `functional.smooth_l1_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.SmoothL1Loss(beta=2.0)(tensor([0.0]), [3.0]).item()
        2.0
    """

    reduction: Reduction = "mean"
    beta: NonNegative = 1.0


@layer_of(F.kl_div)
class KLDivLoss(_Elementwise):
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


class _Weighted(Module):
    """A loss with a weight, which is a buffer, and a reduction."""

    repr_fields = ("reduction",)
    weight: Tensor | None

    def __init__(self, weight: Any = None, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.reduction = reduction


class CrossEntropyLoss(_Weighted):
    """Cross-entropy of logits and class indices, or class probabilities.

    See `functional.cross_entropy`.

    Example:
        >>> from minigrad import nn, zeros
        >>> loss = nn.CrossEntropyLoss()
        >>> round(loss(zeros((2, 4)), [3, -100]).item(), 4)
        1.3863
    """

    def __init__(
        self, weight: Any = None, reduction: Reduction = "mean", *, ignore_index: int | None = -100,
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = check_probability(
            type(self).__name__, "label_smoothing", label_smoothing
        )

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare logits (N, C, ...) with classes (N, ...) or probabilities (N, C, ...)."""
        return F.cross_entropy(
            input_, target, self.weight, self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip


class NLLLoss(_Weighted):
    """The negative log-likelihood of the target class: see `functional.nll_loss`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.NLLLoss()(tensor([[-0.5, -1.5]]), [1]).item()
        1.5
    """

    def __init__(
        self, weight: Any = None, reduction: Reduction = "mean", *, ignore_index: int | None = -100,
    ) -> None:  # fmt: skip
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare log-probabilities of shape (N, C, ...) with classes of shape (N, ...)."""
        return F.nll_loss(
            input_, target, self.weight, self.reduction, ignore_index=self.ignore_index
        )


class BCELoss(_Weighted):
    """The binary cross-entropy of probabilities: see `functional.binary_cross_entropy`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCELoss()(tensor([0.5]), [1.0]).item(), 4)
        0.6931
    """

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare probabilities with targets of the same shape."""
        return F.binary_cross_entropy(input_, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Weighted):
    """The binary cross-entropy of logits: see `functional.binary_cross_entropy_with_logits`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCEWithLogitsLoss()(tensor([0.0]), [1.0]).item(), 4)
        0.6931
    """

    pos_weight: Tensor | None

    def __init__(
        self, weight: Any = None, reduction: Reduction = "mean", *, pos_weight: Any = None
    ) -> None:
        super().__init__(weight, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare logits with targets of the same shape."""
        return F.binary_cross_entropy_with_logits(
            input_, target, self.weight, self.reduction, pos_weight=self.pos_weight
        )
