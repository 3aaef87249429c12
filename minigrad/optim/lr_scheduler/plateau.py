"""Reducing the learning rate when a metric stops improving."""

import math
import warnings
from typing import Any, Literal

from minigrad.autograd.events import effect
from minigrad.optim.lr_scheduler.scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler
from minigrad.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """A learning rate times a factor when a metric has not improved for some steps.

    Args:
        mode: "min" if a lower metric is better, "max" if a higher one is.
        factor: The factor, below 1.
        patience: The number of steps without improvement to tolerate.
        threshold: The smallest change of the metric that counts as an improvement.
        threshold_mode: "rel" if `threshold` is relative to the best value so far, "abs" if
            absolute.
        cooldown: The number of steps after a reduction that are ignored.
        min_lr: The minimum learning rate, or one for each group.
        eps: Smaller changes of the learning rate are not made.

    Attributes:
        best: The best value of the metric so far.
        num_bad_epochs: The number of steps without improvement since then.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in [3.0, 2.0, 2.0, 2.5]:
        ...     scheduler.step(loss)
        >>> scheduler.get_last_lr()
        [0.1]
    """

    def __init__(
        self, optimizer: Optimizer, mode: Literal["min", "max"] = "min", factor: float = 0.1,
        patience: int = 10, threshold: float = 1e-4, threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0, min_lr: float | list[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if mode not in ("min", "max"):
            raise ValueError(f"{self._name}: mode is 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"{self._name}: threshold_mode is 'rel' or 'abs'")
        self.mode, self.patience = mode, self._check_count("patience", patience, 0)
        self.factor = self._check_number("factor", factor, 0.0, below=1.0)
        self.threshold = self._check_number("threshold", threshold, 0.0)
        self.threshold_mode = threshold_mode
        self.cooldown = self._check_count("cooldown", cooldown, 0)
        self.cooldown_counter = 0
        self.eps = self._check_number("eps", eps, 0.0)
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        super().__init__(optimizer)
        self.min_lrs = self._per_group("min_lr", min_lr)

    def get_lr(self) -> list[float]:
        return self._lrs

    @effect
    def step(  # type: ignore[override]  # as in PyTorch
        self, metrics: Any = None, epoch: int | None = None
    ) -> None:
        """Pass the latest metric, a number or a tensor with one element; may reduce the rates.

        Args:
            metrics: The metric.
            epoch: The number of the step, instead of the next. PyTorch advises against it.
        """
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=3)
            self.last_epoch = self._check_count("epoch", epoch, 0) - 1  # the base adds one
        if self._step_count > 0:
            if metrics is None:
                raise TypeError(f"{self._name}: step() needs the metric: scheduler.step(loss)")
            self._look_at(float(metrics))
        self._advance()

    def _look_at(self, value: float) -> None:
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                lr = max(group["lr"] * self.factor, least)
                if group["lr"] - lr > self.eps:
                    group["lr"] = lr

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "abs":
            return sign * value < sign * self.best - self.threshold
        return sign * value < sign * self.best * (1 - sign * self.threshold)
