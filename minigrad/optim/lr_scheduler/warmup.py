"""Warm-up: learning rates that first rise, and schedules in which they then fall."""

import math

from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer
from minigrad.support.checks import check_probability


class LinearLR(LRScheduler):
    r"""A learning rate times a factor that changes linearly and then stays constant.

    After t steps it is start_factor + (end_factor - start_factor) · min(t / total_iters, 1).
    Each step starts from the current rate, so schedulers can be combined.

    Args:
        start_factor: The first factor, above 0 and at most 1.
        end_factor: The last factor, from 0 to 1.
        total_iters: The number of steps after which the last factor is reached.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=4)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(5):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> [round(rate, 3) for rate in rates]
        [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.start_factor = check_probability(self._name, "start_factor", start_factor)
        self._check_number("start_factor", start_factor, above=0.0)
        self.end_factor = check_probability(self._name, "end_factor", end_factor)
        self.total_iters = self._check_count("total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self._lrs]
        if self._starting or self.last_epoch > self.total_iters:
            return self._lrs
        change = self._factor(self.last_epoch) / self._factor(self.last_epoch - 1)
        return [lr * change for lr in self._lrs]

    def _factor(self, step: int) -> float:
        return self.start_factor + (self.end_factor - self.start_factor) * step / self.total_iters


class NoamScheduler(LRScheduler):
    r"""The schedule of the original transformer: linear warm-up, then inverse square root decay.

    In step t = 1, 2, ... the learning rate is factor · model_size^(-1/2) ·
    min(t^(-1/2), t · warmup_steps^(-3/2)), independent of the optimizer's initial rate.

    Source: Vaswani et al., "Attention is all you need", 2017, section 5.3.

    Args:
        model_size: The width of the model.
        warmup_steps: The number of rising steps.
        factor: Multiplies every learning rate.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.Adam([ones(1, requires_grad=True)])
        >>> scheduler = optim.lr_scheduler.NoamScheduler(optimizer, model_size=64, warmup_steps=4)
        >>> for _ in range(3):
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.0625]
    """

    def __init__(
        self, optimizer: Optimizer, model_size: int, warmup_steps: int, factor: float = 1.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.model_size = self._check_count("model_size", model_size)
        self.warmup_steps = self._check_count("warmup_steps", warmup_steps)
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
        warmup_steps: The number of rising steps.
        total_steps: The step at which the minimum is reached.
        eta_min: The minimum learning rate.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.AdamW([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.WarmupCosineLR(optimizer, 3, total_steps=7)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(7):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> [round(rate, 2) for rate in rates]
        [0.25, 0.5, 0.75, 1.0, 0.85, 0.5, 0.15, 0.0]
    """

    def __init__(
        self, optimizer: Optimizer, warmup_steps: int, total_steps: int, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.warmup_steps = self._check_count("warmup_steps", warmup_steps, 0)
        self.total_steps = self._check_count("total_steps", total_steps, warmup_steps + 1)
        self.eta_min = self._check_number("eta_min", eta_min, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step < self.warmup_steps:
            return [base * (step + 1) / (self.warmup_steps + 1) for base in self.base_lrs]
        done = (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        height = (1 + math.cos(math.pi * min(done, 1.0))) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]
