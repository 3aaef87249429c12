"""Learning rates by factors: constant, a power of the remaining steps, or a function."""

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.optim.lr_scheduler.decay import LambdaLR
from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer


class ConstantLR(LRScheduler):
    """A learning rate times a factor in the first steps.

    Args:
        factor: The factor, above 0 and at most 1.
        total_iters: The number of steps after which the learning rate is the initial one.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(2):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> rates
        [0.5, 0.5, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.factor = self._check_number("factor", factor, above=0.0)
        if self.factor > 1:
            raise ValueError(f"{self._name}: factor must be at most 1, got {factor}")
        self.total_iters = self._check_count("total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        factor = 1.0
        if self.last_epoch == 0:
            factor = self.factor
        elif self.last_epoch == self.total_iters:
            factor = 1 / self.factor
        return [lr * factor for lr in self._lrs]


class PolynomialLR(LRScheduler):
    """A decay of the learning rate to 0 by a power of the steps that are left: (1 - t / T)^power.

    Args:
        total_iters: T, the number of steps.
        power: The power; 1 for a line.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2.0)
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5625]
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = self._check_count("total_iters", total_iters)
        self.power = self._check_number("power", power, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._starting or self.last_epoch > self.total_iters:
            return self._lrs
        left = self.total_iters - self.last_epoch
        factor = (left / (left + 1)) ** self.power
        return [lr * factor for lr in self._lrs]


class MultiplicativeLR(LambdaLR):
    """A learning rate that a function of the step multiplies in every step.

    Args:
        lr_lambda: A function from the number of steps done to the factor, or one for each group.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda step: 0.5)
        >>> for _ in range(2):
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]], last_epoch: int = -1,
    ) -> None:  # fmt: skip
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[float]:
        if self._starting:
            return self._lrs
        pairs: Any = zip(self._lrs, self.lr_lambdas, strict=True)
        return [
            lr * self._check_number("what lr_lambda returns", factor(self.last_epoch), 0.0)
            for lr, factor in pairs
        ]
