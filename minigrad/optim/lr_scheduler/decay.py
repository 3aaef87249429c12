"""Decaying learning rates: by a function, in steps, at milestones, or exponentially."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer


class LambdaLR(LRScheduler):
    """The initial learning rate times a function of the step.

    The optimizer comes first, as in PyTorch; Lucid has it second.

    Args:
        lr_lambda: A function from the number of steps done to the factor, or one for each group.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=0.5)
        >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    _not_saved = ("optimizer", "lr_lambdas")

    def __init__(
        self, optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]], last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if isinstance(lr_lambda, Optimizer):
            raise TypeError(
                f"{self._name}: the optimizer comes first, unlike in Lucid: "
                f"{self._name}(optimizer, lr_lambda)"
            )
        self._take(optimizer)
        groups = len(optimizer.param_groups)
        self.lr_lambdas: list[Any] = (
            list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        )
        for factor in self.lr_lambdas:
            if not callable(factor):
                raise TypeError(
                    f"{self._name}: lr_lambda must be a function of the step, or a list of them, "
                    f"one for each group, got {factor!r}"
                )
        if len(self.lr_lambdas) != groups:
            raise ValueError(
                f"{self._name}: {len(self.lr_lambdas)} functions, the optimizer has {groups} groups"
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [
            base * self._check_number("what lr_lambda returns", factor(self.last_epoch), 0.0)
            for base, factor in pairs
        ]


class StepLR(LRScheduler):
    """A learning rate times a factor every `step_size` steps.

    Args:
        step_size: The number of steps between two decays.
        gamma: The factor.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(5):
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = self._check_count("step_size", step_size)
        self.gamma = self._check_number("gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma if due else lr for lr in self._lrs]


class MultiStepLR(LRScheduler):
    """A learning rate times a factor at each milestone.

    Args:
        milestones: The steps at which to multiply; a repeated one multiplies repeatedly.
        gamma: The factor.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
        >>> for _ in range(4):
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(milestones, Iterable):
            raise TypeError(f"MultiStepLR: milestones must be whole numbers, got {milestones!r}")
        self.milestones = sorted(self._check_count("each of milestones", n, 0) for n in milestones)
        self.gamma = self._check_number("gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        factor = self.gamma ** self.milestones.count(self.last_epoch)
        return [lr * factor for lr in self._lrs]

    def _loaded(self, name: str, value: Any) -> Any:
        if name == "milestones" and isinstance(value, Counter):  # PyTorch's
            return sorted(value.elements())
        return super()._loaded(name, value)


class ExponentialLR(LRScheduler):
    """A learning rate times a factor in every step.

    Args:
        gamma: The factor.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> for _ in range(3):
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = self._check_number("gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [lr if self._starting else lr * self.gamma for lr in self._lrs]
