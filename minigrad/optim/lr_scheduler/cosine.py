"""Cosine annealing."""

from __future__ import annotations

import math

from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    r"""Cosine annealing of the learning rate.

    If nothing else changes it, the learning rate is eta_min + (lr - eta_min) (1 + cos(π t / T_max))
    / 2 after t steps. Each step starts from the current rate, so schedulers can be combined.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016 (of
    which this is one run, without restarts); as in PyTorch.

    Args:
        optimizer: The optimizer whose learning rates are set.
        T_max: The number of steps after which the minimum is reached.
        eta_min: The minimum learning rate.
        last_epoch: The number of steps already done, minus one.

    Raises:
        ValueError: `T_max` is not a positive whole number.

    Example:
        >>> import minigrad
        >>> from minigrad import optim
        >>> optimizer = optim.SGD([minigrad.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
        >>> for _ in range(5):
        ...     scheduler.step()
        >>> round(scheduler.get_last_lr()[0], 6)
        0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self._check_count("T_max", T_max)
        self.T_max = T_max
        self.eta_min = self._check_number("eta_min", eta_min, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._starting:
            return self._lrs
        if (self.last_epoch - 1) % (2 * self.T_max) == self.T_max:  # the rate is at its minimum
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(self._lrs, self.base_lrs, strict=True)
            return [lr + (base - self.eta_min) * rise for lr, base in pairs]
        factor = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [self.eta_min + (lr - self.eta_min) * factor for lr in self._lrs]

    def _height(self, step: int) -> float:
        return 1 + math.cos(math.pi * step / self.T_max)
