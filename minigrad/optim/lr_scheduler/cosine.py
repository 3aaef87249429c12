"""Cosine annealing, once or with warm restarts."""

import math

from minigrad.autograd.events import effect
from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    r"""Cosine annealing of the learning rate.

    If nothing else changes it, the learning rate is eta_min + (lr - eta_min) (1 + cos(π t / T_max))
    / 2 after t steps. Each step starts from the current rate, so schedulers can be combined.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016 (of
    which this is one run, without restarts); as in PyTorch.

    Args:
        T_max: The number of steps after which the minimum is reached.
        eta_min: The minimum learning rate.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
        >>> for _ in range(5):
        ...     scheduler.step()
        >>> round(scheduler.get_last_lr()[0], 6)
        0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = self._check_count("T_max", T_max)
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


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Cosine annealing that restarts from the initial learning rate.

    The learning rate is eta_min + (lr - eta_min) (1 + cos(π T_cur / T_i)) / 2: T_cur steps have
    passed since the last restart, and the next comes T_i steps after it.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016; as
    in PyTorch.

    Args:
        T_0: The number of steps before the first restart.
        T_mult: The factor by which each run is longer than the one before.
        eta_min: The minimum learning rate.

    Attributes:
        T_cur: The steps since the last restart.
        T_i: The length of the current run, in steps.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(6):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> [round(rate, 2) for rate in rates]
        [1.0, 0.5, 1.0, 0.85, 0.5, 0.15, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.T_0 = self._check_count("T_0", T_0)
        self.T_mult = self._check_count("T_mult", T_mult)
        self.eta_min = self._check_number("eta_min", eta_min, 0.0)
        self.T_cur: float = 0
        self.T_i = T_0
        super().__init__(optimizer, last_epoch)

    @effect
    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: The number of the step, which may have a fraction: ``epoch + i / len(loader)``.
                None for the next step.
        """
        if epoch is None:
            epoch = self.last_epoch + 1 + self.T_cur % 1
        else:
            self._check_number("epoch", epoch, 0.0)
        self.last_epoch = math.floor(epoch) - 1  # to which the base adds one
        self.T_cur, self.T_i = epoch, self.T_0
        if self.T_mult == 1:
            self.T_cur %= self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        super().step()

    def get_lr(self) -> list[float]:
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]
