"""Loss layers."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from minigrad._checks import check_number, check_probability
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.functional.loss import Reduction
from minigrad.nn.module.base import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "MSELoss", "NLLLoss", "SmoothL1Loss",
]  # fmt: skip


class _Loss(Module):
    """A loss with a reduction."""

    repr_fields: ClassVar[tuple[str, ...]] = ("reduction",)

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none", None):
            raise ValueError(
                f'{type(self).__name__}: reduction must be "mean", "sum" or "none", '
                f"got {reduction!r}"
            )
        self.reduction = reduction


class MSELoss(_Loss):
    """The squared error: see `functional.mse_loss`.

    Args:
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.MSELoss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        2.0
    """

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets of the same shape."""
        return F.mse_loss(input_, target, self.reduction)


class L1Loss(_Loss):
    """The absolute error: see `functional.l1_loss`.

    Args:
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.L1Loss()(tensor([1.0, 2.0]), [1.0, 4.0]).item()
        1.0
    """

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets of the same shape."""
        return F.l1_loss(input_, target, self.reduction)


class HuberLoss(_Loss):
    """Squared error for small, absolute error for large differences: see `functional.huber_loss`.

    Args:
        reduction: "mean", "sum", or "none" for one loss per element.
        delta: The threshold between the two.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.HuberLoss(delta=1.0)(tensor([0.0]), [3.0]).item()
        2.5
    """

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = check_number("HuberLoss", "delta", delta, above=0.0)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets of the same shape."""
        return F.huber_loss(input_, target, self.delta, self.reduction)


class SmoothL1Loss(_Loss):
    """The Huber loss divided by its threshold: see `functional.smooth_l1_loss`.

    Args:
        reduction: "mean", "sum", or "none" for one loss per element.
        beta: The threshold between the two; 0 for the absolute error.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.SmoothL1Loss(beta=2.0)(tensor([0.0]), [3.0]).item()
        2.0
    """

    def __init__(self, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = check_number("SmoothL1Loss", "beta", beta, 0.0)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare predictions with targets of the same shape."""
        return F.smooth_l1_loss(input_, target, self.beta, self.reduction)


class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits and class indices, or class probabilities.

    See `functional.cross_entropy`.

    Args:
        weight: The weight of each class, of shape (C,); a buffer.
        reduction: "mean", "sum", or "none" for one loss per target.
        ignore_index: A target value that is ignored; None to ignore none.
        label_smoothing: The probability that is spread evenly over all classes.

    Example:
        >>> from minigrad import nn, zeros
        >>> loss = nn.CrossEntropyLoss()
        >>> round(loss(zeros((2, 4)), [3, -100]).item(), 4)
        1.3863
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Any = None,
        reduction: Reduction = "mean",
        *,
        ignore_index: int | None = -100,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
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


class NLLLoss(_Loss):
    """The negative log-likelihood of the target class: see `functional.nll_loss`.

    Args:
        weight: The weight of each class, of shape (C,); a buffer.
        reduction: "mean", "sum", or "none" for one loss per target.
        ignore_index: A target value that is ignored; None to ignore none.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.NLLLoss()(tensor([[-0.5, -1.5]]), [1]).item()
        1.5
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Any = None,
        reduction: Reduction = "mean",
        *,
        ignore_index: int | None = -100,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare log-probabilities of shape (N, C, ...) with classes of shape (N, ...)."""
        return F.nll_loss(
            input_, target, self.weight, self.reduction, ignore_index=self.ignore_index
        )


class BCELoss(_Loss):
    """The binary cross-entropy of probabilities: see `functional.binary_cross_entropy`.

    Args:
        weight: The weight of each element; a buffer.
        reduction: "mean", "sum", or "none" for one loss per element.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCELoss()(tensor([0.5]), [1.0]).item(), 4)
        0.6931
    """

    weight: Tensor | None

    def __init__(self, weight: Any = None, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare probabilities with targets of the same shape."""
        return F.binary_cross_entropy(input_, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The binary cross-entropy of logits: see `functional.binary_cross_entropy_with_logits`.

    Args:
        weight: The weight of each element; a buffer.
        reduction: "mean", "sum", or "none" for one loss per element.
        pos_weight: The weight of positive targets; a buffer.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.BCEWithLogitsLoss()(tensor([0.0]), [1.0]).item(), 4)
        0.6931
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self, weight: Any = None, reduction: Reduction = "mean", *, pos_weight: Any = None
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare logits with targets of the same shape."""
        return F.binary_cross_entropy_with_logits(
            input_, target, self.weight, self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(Module):
    """The Kullback-Leibler divergence: see `functional.kl_div`.

    Args:
        reduction: "mean", "sum", "batchmean" for the sum divided by the size of the batch, or
            "none" for one number per element.
        log_target: Whether targets are log-probabilities.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[0.5, 0.5]]).log(), tensor([[1.0, 0.0]])
        >>> round(nn.KLDivLoss("batchmean")(x, y).item(), 4)
        0.6931
    """

    repr_fields = ("reduction", "log_target")

    def __init__(
        self, reduction: Reduction | Literal["batchmean"] = "mean", log_target: bool = False
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "batchmean", "none", None):
            raise ValueError(
                f'KLDivLoss: reduction must be "mean", "sum", "batchmean" or "none", '
                f"got {reduction!r}"
            )
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, input_: Tensor, target: Any) -> Tensor:
        """Compare log-probabilities with probabilities of the same shape."""
        return F.kl_div(input_, target, self.reduction, self.log_target)
