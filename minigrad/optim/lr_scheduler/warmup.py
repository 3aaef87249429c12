"""Warm-up, as for transformers: learning rates that first rise, then fall."""

from __future__ import annotations

import math

from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer


class NoamScheduler(LRScheduler):
    r"""The schedule of the original transformer: linear warm-up, then inverse square root decay.

    In step t = 1, 2, ... the learning rate is factor · model_size^(-1/2) ·
    min(t^(-1/2), t · warmup_steps^(-3/2)), independent of the optimizer's initial rate.

    Source: Vaswani et al., "Attention is all you need", 2017, section 5.3.

    Args:
        optimizer: The optimizer whose learning rates are set.
        model_size: The width of the model.
        warmup_steps: The number of rising steps.
        factor: Multiplies every learning rate.
        last_epoch: The number of steps already done, minus one.

    Raises:
        ValueError: `model_size` or `warmup_steps` is not a positive whole number.

    Example:
        >>> import minigrad
        >>> from minigrad import optim
        >>> optimizer = optim.Adam([minigrad.ones(1, requires_grad=True)])
        >>> scheduler = optim.lr_scheduler.NoamScheduler(optimizer, model_size=64, warmup_steps=4)
        >>> for _ in range(3):
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.0625]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        model_size: int,
        warmup_steps: int,
        factor: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self._check_count("model_size", model_size)
        self._check_count("warmup_steps", warmup_steps)
        self.model_size = model_size
        self.warmup_steps = warmup_steps
        self.factor = self._check_number("factor", factor, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch + 1
        rate = min(step**-0.5, step * self.warmup_steps**-1.5)
        return [self.factor * self.model_size**-0.5 * rate for _ in self.base_lrs]


class WarmupCosineLR(LRScheduler):
    r"""Linear warm-up to the learning rate of the optimizer, then cosine annealing.

    After t steps it is lr · (t + 1) / (warmup_steps + 1) while t < warmup_steps, then
    eta_min + (lr - eta_min) (1 + cos(π (t - warmup_steps) / (total_steps - warmup_steps))) / 2,
    and eta_min from t = total_steps on.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016, for
    the cosine; Goyal et al., "Accurate, large minibatch SGD", 2017, for the beginning.

    Args:
        optimizer: The optimizer whose learning rates are set.
        warmup_steps: The number of rising steps.
        total_steps: The step at which the minimum is reached.
        eta_min: The minimum learning rate.
        last_epoch: The number of steps already done, minus one.

    Raises:
        ValueError: `warmup_steps` is not a whole number below `total_steps`.

    Example:
        >>> import minigrad
        >>> from minigrad import optim
        >>> optimizer = optim.AdamW([minigrad.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.WarmupCosineLR(optimizer, 3, total_steps=7)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(7):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> [round(rate, 2) for rate in rates]
        [0.25, 0.5, 0.75, 1.0, 0.85, 0.5, 0.15, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        warmup_steps: int,
        total_steps: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self._check_count("warmup_steps", warmup_steps, 0)
        self._check_count("total_steps", total_steps, warmup_steps + 1)
        self.warmup_steps = warmup_steps
        self.total_steps = total_steps
        self.eta_min = self._check_number("eta_min", eta_min, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step < self.warmup_steps:
            return [base * (step + 1) / (self.warmup_steps + 1) for base in self.base_lrs]
        done = (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        height = (1 + math.cos(math.pi * min(done, 1.0))) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]
