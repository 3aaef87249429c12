"""Learning-rate schedulers: they change an optimizer's learning rate from step to step."""

import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from minigrad.autograd.events import effect, reading
from minigrad.optim.optimizer import Optimizer
from minigrad.support.checks import check_choice, check_number, check_probability, check_size
from minigrad.tensors.tensor import Tensor

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "NoamScheduler", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau",
    "SequentialLR", "StepLR", "WarmupCosineLR",
]  # fmt: skip

_ONLY_PYTORCHS = {"_get_lr_called_within_step", "_is_initial", "_last_lr", "lr_lambdas"}
"""What else is in the state of one of PyTorch's schedulers; nothing here needs it."""
EPOCH_DEPRECATION_WARNING = "step(epoch) is deprecated: call step() once after each epoch"


def _number(lr: Any) -> Any:
    """A learning rate, which may be a tensor, as a number."""
    return lr.item() if isinstance(lr, Tensor) else lr


def _set_rate(group: dict[str, Any], lr: float) -> None:
    """Set the learning rate of a group; one that is a tensor stays it."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(lr)
    else:
        group["lr"] = lr


class LRScheduler:
    """The base class of schedulers: a subclass defines `get_lr`, the learning rates of a step.

    Creating a scheduler sets the initial learning rates. Call `step` after the optimizer's `step`
    to set the next ones. A step may be a batch or an epoch. Every scheduler takes `optimizer` and
    `last_epoch`.

    Args:
        optimizer: The optimizer whose learning rates are set.
        last_epoch: The number of steps already done, minus one. If it is above -1, each group of
            the optimizer must have its "initial_lr", as in a loaded state.

    Attributes:
        base_lrs: The initial learning rate of each group.
        last_epoch: The number of steps done.

    Raises:
        ValueError: `last_epoch` is above -1 and a group has no "initial_lr".

    Example:
        >>> import minigrad
        >>> from minigrad import optim
        >>> from minigrad.optim.lr_scheduler import LRScheduler
        >>> class Harmonic(LRScheduler):
        ...     def get_lr(self):
        ...         return [base / (1 + self.last_epoch) for base in self.base_lrs]
        >>> optimizer = optim.SGD([minigrad.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = Harmonic(optimizer)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    _not_saved: tuple[str, ...] = ("optimizer",)
    """Attributes that are not plain values, which a state dict leaves out."""
    _by_group: tuple[str, ...] = ()
    """Attributes that are lists of an option for each group."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._take(optimizer)
        self.last_epoch = check_size(self._name, "last_epoch", last_epoch, -1)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _number(group["lr"]))
            elif "initial_lr" not in group:
                raise ValueError(
                    f"{self._name}: last_epoch={last_epoch}, but group {i} of the optimizer has no "
                    f"'initial_lr'; load the optimizer's state first"
                )
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        self._step_count = 0
        self.step()

    def _take(self, optimizer: Optimizer) -> None:
        """Check and store the optimizer, before the options for its groups are read."""
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{self._name}: the first argument is an optimizer, got {type(optimizer).__name__}"
            )
        self.optimizer = optimizer

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def _lrs(self) -> list[float]:
        """The current learning rates, which some schedulers multiply by a factor."""
        return [_number(group["lr"]) for group in self.optimizer.param_groups]

    def _restart(self) -> None:
        """Start again, from the initial learning rates."""
        self._admit()
        for group, lr in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            _set_rate(group, lr)
        self.last_epoch, self._step_count = -1, 0
        self.step()

    @property
    def _starting(self) -> bool:
        """Whether this is the first call of `get_lr`, which sets the initial values."""
        return self._step_count == 1

    def _per_group(self, name: str, value: Any) -> list[float]:
        """An option as one number for each group; a single number is used for all."""
        n = len(self.optimizer.param_groups)
        if not isinstance(value, (list, tuple)):
            return [check_number(self._name, name, value, 0.0)] * n
        if len(value) != n:
            raise ValueError(
                f"{self._name}: {name} has {len(value)} numbers, the optimizer {n} groups"
            )
        return [check_number(self._name, name, number, 0.0) for number in value]

    def get_lr(self) -> list[float]:
        """Return the learning rates of step number `last_epoch`, one for each group."""
        raise NotImplementedError(f"{self._name} does not define get_lr()")

    @reading
    def get_last_lr(self) -> list[float]:
        """Return the current learning rates, one for each group."""
        rates: list[Any] = [group["lr"] for group in self.optimizer.param_groups]
        copies: list[Any] = [lr.clone() if isinstance(lr, Tensor) else lr for lr in rates]
        return copies

    @property
    def _last_lr(self) -> list[float]:
        return self.get_last_lr()

    @effect
    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: The number of the step, instead of the next. PyTorch advises against it.

        Raises:
            ValueError: A learning rate is negative or not finite, or the optimizer was given a
                group, and an option of the scheduler differs from group to group.
        """
        if epoch is None:
            self._advance()
            return
        warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=3)
        self._restart()
        while self.last_epoch < epoch:
            self._advance()

    def _advance(self) -> None:
        """Set the learning rates of the next step."""
        self._admit()
        self._step_count += 1
        self.last_epoch += 1
        rates = [check_number(self._name, "a learning rate", lr, 0.0) for lr in self.get_lr()]
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            _set_rate(group, lr)

    def _admit(self) -> None:
        """Take in the groups that came later, with the options that all others have."""
        for group in self.optimizer.param_groups[len(self.base_lrs) :]:
            for name in self._by_group:
                values = getattr(self, name)
                if any(value != values[0] for value in values):
                    raise ValueError(
                        f"{self._name}: created for {len(values)} groups with {name} {values}, "
                        f"which has nothing for a group that was added later; add it before"
                    )
                values.extend(values[:1])
            self.base_lrs.append(float(group.setdefault("initial_lr", _number(group["lr"]))))

    def state_dict(self) -> dict[str, Any]:
        """Return the state, to resume training later, as plain values.

        The current learning rates are in the state of the optimizer. Functions are not saved.
        """
        return {
            name: list(value) if isinstance(value, list) else value
            for name, value in vars(self).items()
            if name not in self._not_saved
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a saved state of the same class; if it does not fit, nothing is changed.

        Load the optimizer's state too, before or after. A state of PyTorch's fits where its options
        have the same names: not those of `CyclicLR` and `OneCycleLR`.
        """
        own = self.state_dict()
        if not isinstance(state_dict, Mapping) or state_dict.keys() - _ONLY_PYTORCHS != own.keys():
            given = sorted(state_dict) if isinstance(state_dict, Mapping) else state_dict
            raise ValueError(f"{self._name}: a state has the keys {sorted(own)}, got {given}")
        if len(state_dict["base_lrs"]) != len(self.base_lrs):
            raise ValueError(
                f"{self._name}: saved for {len(state_dict['base_lrs'])} groups, the optimizer has "
                f"{len(self.base_lrs)}"
            )
        for name in own:
            value = state_dict[name]
            if isinstance(value, Counter):  # of milestones, in PyTorch
                value = sorted(value.elements())
            setattr(self, name, list(value) if isinstance(value, list) else value)


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
    _by_group = ("lr_lambdas",)

    def __init__(
        self, optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]], last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._take(optimizer)
        groups = len(optimizer.param_groups)
        self.lr_lambdas: list[Any] = (
            list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        )
        if len(self.lr_lambdas) != groups or not all(map(callable, self.lr_lambdas)):
            raise TypeError(
                f"{self._name}: lr_lambda must be a function of the step, or a list of {groups}, "
                f"one for each group, got {lr_lambda!r}"
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * factor(self.last_epoch) for base, factor in pairs]


class _Factor(LRScheduler):
    """A scheduler that multiplies the current learning rates, so that it can be combined."""

    def get_lr(self) -> list[float]:
        factor = self._factor()
        return [lr * factor for lr in self._lrs]

    def _factor(self) -> float:
        """The factor of step number `last_epoch`."""
        raise NotImplementedError


class StepLR(_Factor):
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
        self.step_size = check_size(self._name, "step_size", step_size)
        self.gamma = check_number(self._name, "gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1.0


class MultiStepLR(_Factor):
    """A learning rate times a factor at each milestone.

    Args:
        milestones: The steps at which to multiply; a repeated one multiplies repeatedly.
        gamma: The factor.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.milestones = sorted(
            check_size(self._name, "each of milestones", n, 0) for n in milestones
        )
        self.gamma = check_number(self._name, "gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones.count(self.last_epoch)


class ExponentialLR(_Factor):
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
        self.gamma = check_number(self._name, "gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1.0 if self._starting else self.gamma


class ConstantLR(_Factor):
    """A learning rate times a factor in the first steps.

    Args:
        factor: The factor, above 0 and at most 1.
        total_iters: The number of steps after which the learning rate is the initial one.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2).get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.factor = check_probability(self._name, "factor", factor)
        check_number(self._name, "factor", factor, above=0.0)
        self.total_iters = check_size(self._name, "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1 / self.factor if self.last_epoch == self.total_iters else 1.0


class PolynomialLR(_Factor):
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
        self.total_iters = check_size(self._name, "total_iters", total_iters)
        self.power = check_number(self._name, "power", power, 0.0)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        left = self.total_iters - self.last_epoch
        return 1.0 if self._starting or left < 0 else (left / (left + 1)) ** self.power


class MultiplicativeLR(LambdaLR):
    """A learning rate that a function of the step multiplies in every step.

    Args:
        lr_lambda: A function from the number of steps done to the factor, or one for each group.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda step: 0.5)
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    def get_lr(self) -> list[float]:
        if self._starting:
            return self._lrs
        pairs: Any = zip(self._lrs, self.lr_lambdas, strict=True)
        return [lr * factor(self.last_epoch) for lr, factor in pairs]


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
        self.T_max = check_size(self._name, "T_max", T_max)
        self.eta_min = check_number(self._name, "eta_min", eta_min, 0.0)
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
        self.T_0 = check_size(self._name, "T_0", T_0)
        self.T_mult = check_size(self._name, "T_mult", T_mult)
        self.eta_min = check_number(self._name, "eta_min", eta_min, 0.0)
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
            check_number(self._name, "epoch", epoch, 0.0)
        self.last_epoch = math.floor(epoch) - 1  # to which the base adds one
        self.T_cur, self.T_i = epoch, self.T_0
        if self.T_mult == 1:
            self.T_cur %= self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        super().step()

    def get_lr(self) -> list[float]:
        return [_cosine(base, self.eta_min, self.T_cur / self.T_i) for base in self.base_lrs]


def _cosine(first: float, last: float, done: float) -> float:
    """The value between two others, by a cosine, when a part of the way is done."""
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2


class _WithMomentum(LRScheduler):
    """A cycle of the learning rate, and of the momentum: "momentum", or the first of "betas"."""

    max_lrs: list[float]
    final_div_factor = 1.0
    _by_group = ("max_lrs", "base_momentums", "max_momentums")

    def _take_momentum(self, optimizer: Optimizer, cycle: bool, low: Any, high: Any) -> None:
        self._take(optimizer)
        if cycle and not {"momentum", "betas"} & self.optimizer.defaults.keys():
            kind = type(self.optimizer).__name__
            raise ValueError(
                f"{self._name}: {kind} has neither momentum nor betas; pass cycle_momentum=False"
            )
        self.cycle_momentum = bool(cycle)
        self.base_momentums = self._per_group("base_momentum", low) if cycle else []
        self.max_momentums = self._per_group("max_momentum", high) if cycle else []

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [self._between(low, high, low / self.final_div_factor) for low, high in pairs]

    def get_momentum(self) -> list[float]:
        """Return the momentum of step number `last_epoch`, one number for each group."""
        pairs = zip(self.base_momentums, self.max_momentums, strict=True)
        return [self._between(high, low, high) for low, high in pairs]

    def _between(self, first: float, top: float, last: float) -> float:
        """The value at the current step, of a cycle from the first over the top to the last."""
        raise NotImplementedError

    @effect
    def step(self, epoch: int | None = None) -> None:
        super().step(epoch)
        if self.cycle_momentum:
            pairs = zip(self.optimizer.param_groups, self.get_momentum(), strict=True)
            for group, momentum in pairs:
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """A learning rate that cycles linearly between two bounds.

    Source: Smith, "Cyclical learning rates for training neural networks", 2015; as in PyTorch.

    Args:
        base_lr: The lower learning rate, or one for each group.
        max_lr: The upper learning rate, or one for each group.
        step_size_up: The number of rising steps.
        step_size_down: The number of falling steps; `step_size_up` if None.
        mode: "triangular": all cycles have the same height. "triangular2": the height is halved
            after each cycle. "exp_range": the height is multiplied by `gamma` in each step.
        gamma: The factor of "exp_range".
        scale_fn: Returns the height of a cycle as a factor, instead of `mode`.
        scale_mode: The argument of `scale_fn`: "cycle" for the number of the cycle, from 1;
            "iterations" for the number of steps done.
        cycle_momentum: Lower the momentum while the learning rate rises.
        base_momentum: The lower momentum, or one for each group.
        max_momentum: The upper momentum, or one for each group.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], momentum=0.9)
        >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=4)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(8):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> rates
        [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]
    """

    _not_saved = ("optimizer", "scale_fn")

    def __init__(
        self, optimizer: Optimizer, base_lr: float | list[float], max_lr: float | list[float],
        step_size_up: int = 2000, step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle", cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8, max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.mode = check_choice(
            self._name, "mode", mode, ("triangular", "triangular2", "exp_range")
        )
        self.scale_mode = check_choice(
            self._name, "scale_mode", scale_mode, ("cycle", "iterations")
        )
        self.step_size_up = check_size(self._name, "step_size_up", step_size_up)
        down = step_size_up if step_size_down is None else step_size_down
        self.step_size_down = check_size(self._name, "step_size_down", down)
        self.gamma = check_number(self._name, "gamma", gamma, 0.0)
        self.scale_fn = scale_fn
        self._take_momentum(optimizer, cycle_momentum, base_momentum, max_momentum)
        lows, self.max_lrs = self._per_group("base_lr", base_lr), self._per_group("max_lr", max_lr)
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lows, strict=True):
                group["initial_lr"] = low
        super().__init__(optimizer, last_epoch)

    def _between(self, first: float, top: float, last: float) -> float:  # noqa: ARG002
        return first + (top - first) * self._height()

    def _height(self) -> float:
        """The position between the lower and the upper learning rate, from 0 to 1."""
        cycle, step = divmod(self.last_epoch, self.step_size_up + self.step_size_down)
        if step <= self.step_size_up:
            height = step / self.step_size_up
        else:
            height = 1 - (step - self.step_size_up) / self.step_size_down
        if self.scale_fn is not None:
            by_cycle = self.scale_mode == "cycle"
            return height * float(self.scale_fn(cycle + 1 if by_cycle else self.last_epoch))
        if self.mode == "triangular2":
            return height / 2.0**cycle
        if self.mode == "exp_range":
            return height * self.gamma**self.last_epoch
        return height


class OneCycleLR(_WithMomentum):
    """The 1cycle policy: the learning rate rises once, then falls until the end of training.

    Source: Smith and Topin, "Super-convergence: very fast training of neural networks using large
    learning rates", 2017; as in PyTorch.

    Args:
        max_lr: The maximum learning rate, or one for each group.
        total_steps: The total number of steps.
        epochs: The number of epochs; with `steps_per_epoch`, instead of `total_steps`.
        steps_per_epoch: The number of steps in an epoch.
        pct_start: The fraction of the steps in which the learning rate rises.
        anneal_strategy: "cos" for a cosine, "linear" for a straight line.
        cycle_momentum: This, `base_momentum` and `max_momentum` are as in `CyclicLR`.
        div_factor: The initial learning rate is `max_lr / div_factor`.
        final_div_factor: The last learning rate is the initial one divided by this.
        three_phase: Fall in as many steps as the rise to the initial learning rate, then to the
            last.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.AdamW([ones(1, requires_grad=True)])
        >>> scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(9):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> [round(rate, 2) for rate in rates]
        [0.04, 0.52, 1.0, 0.95, 0.81, 0.61, 0.39, 0.19, 0.05, 0.0]
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | list[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos", cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85, max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: pass total_steps, or epochs and steps_per_epoch")
            check_size(self._name, "epochs", epochs)
            check_size(self._name, "steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        self.total_steps = check_size(self._name, "total_steps", total_steps)
        check_probability("OneCycleLR", "pct_start", pct_start)
        check_number(self._name, "div_factor", div_factor, above=0.0)
        check_number(self._name, "final_div_factor", final_div_factor, above=0.0)
        self.pct_start, self.three_phase = float(pct_start), bool(three_phase)
        self.anneal_strategy = check_choice(
            self._name, "anneal_strategy", anneal_strategy, ("cos", "linear")
        )
        self._take_momentum(optimizer, cycle_momentum, base_momentum, max_momentum)
        self.max_lrs = self._per_group("max_lr", max_lr)
        self.final_div_factor = float(final_div_factor)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, self.max_lrs, strict=True):
                group["initial_lr"] = high / div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise ValueError(f"OneCycleLR: all {self.total_steps} steps were done")
        return super().get_lr()

    def _between(self, first: float, top: float, last: float) -> float:
        rise, end = self.pct_start * self.total_steps - 1, self.total_steps - 1
        ways = [(rise, first, top), (end, top, last)]
        if self.three_phase:
            ways[1:] = [(2 * rise, top, first), (end, first, last)]
        begin = 0.0
        while len(ways) > 1 and self.last_epoch > ways[0][0]:
            begin = ways.pop(0)[0]
        stop, here, there = ways[0]
        done = min((self.last_epoch - begin) / (stop - begin), 1.0) if stop > begin else 1.0
        if self.anneal_strategy == "linear":
            return here + (there - here) * done
        return _cosine(here, there, done)


class LinearLR(_Factor):
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
        check_number(self._name, "start_factor", start_factor, above=0.0)
        self.end_factor = check_probability(self._name, "end_factor", end_factor)
        self.total_iters = check_size(self._name, "total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._starting or self.last_epoch > self.total_iters:
            return 1.0
        now, before = (
            self.start_factor + (self.end_factor - self.start_factor) * step / self.total_iters
            for step in (self.last_epoch, self.last_epoch - 1)
        )
        return now / before


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
        self.model_size = check_size(self._name, "model_size", model_size)
        self.warmup_steps = check_size(self._name, "warmup_steps", warmup_steps)
        self.factor = check_number(self._name, "factor", factor, 0.0)
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
        self.warmup_steps = check_size(self._name, "warmup_steps", warmup_steps, 0)
        self.total_steps = check_size(self._name, "total_steps", total_steps, warmup_steps + 1)
        self.eta_min = check_number(self._name, "eta_min", eta_min, 0.0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step < self.warmup_steps:
            return [base * (step + 1) / (self.warmup_steps + 1) for base in self.base_lrs]
        done = (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        return [_cosine(base, self.eta_min, min(done, 1.0)) for base in self.base_lrs]


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

    _by_group = ("min_lrs",)

    def __init__(
        self, optimizer: Optimizer, mode: Literal["min", "max"] = "min", factor: float = 0.1,
        patience: int = 10, threshold: float = 1e-4, threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0, min_lr: float | list[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        self.mode = check_choice(self._name, "mode", mode, ("min", "max"))
        self.patience = check_size(self._name, "patience", patience, 0)
        self.factor = check_number(self._name, "factor", factor, 0.0, below=1.0)
        self.threshold = check_number(self._name, "threshold", threshold, 0.0)
        self.threshold_mode = check_choice(
            self._name, "threshold_mode", threshold_mode, ("rel", "abs")
        )
        self.cooldown = check_size(self._name, "cooldown", cooldown, 0)
        self.cooldown_counter = 0
        self.eps = check_number(self._name, "eps", eps, 0.0)
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

        `epoch` is that of `LRScheduler.step`.
        """
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=3)
            self.last_epoch = check_size(self._name, "epoch", epoch, 0) - 1  # the base adds one
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
                known = _number(group["lr"])
                lr = max(known * self.factor, least)
                if known - lr > self.eps:
                    _set_rate(group, lr)

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "abs":
            return sign * value < sign * self.best - self.threshold
        return sign * value < sign * self.best * (1 - sign * self.threshold)


class _Several(LRScheduler):
    """A scheduler made of others, and its state."""

    _schedulers: list[Any]

    def _check_schedulers(self) -> None:
        for i, scheduler in enumerate(self._schedulers):
            kind = type(scheduler).__name__
            if not isinstance(scheduler, LRScheduler):
                raise TypeError(f"{self._name}: schedulers[{i}] must be a scheduler, got {kind}")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{self._name}: schedulers[{i}] is ReduceLROnPlateau, whose step needs a "
                    f"metric; step it by itself"
                )
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(
                    f"{self._name}: schedulers[{i}], {kind}, was made for another optimizer"
                )

    def state_dict(self) -> dict[str, Any]:
        """The state, as plain values; "_schedulers" is the list of the states of the schedulers."""
        states = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": states}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a saved state, besides the optimizer's; if it does not fit, nothing is changed."""
        before, schedulers = self.state_dict(), self._schedulers
        super().load_state_dict(state_dict)
        self._schedulers = schedulers
        states = state_dict["_schedulers"]
        try:
            if not isinstance(states, list) or len(states) != len(schedulers):
                raise ValueError(
                    f"{self._name}: a list of {len(schedulers)} states expected in '_schedulers', "
                    f"got {states}"
                )
            for scheduler, state in zip(schedulers, states, strict=True):
                scheduler.load_state_dict(state)
        except ValueError:
            self.load_state_dict(before)
            raise


class SequentialLR(_Several):
    """Several schedulers in sequence, such as a warm-up and then a decay.

    Each scheduler starts from the initial learning rate, and counts its own steps.

    Args:
        schedulers: The schedulers, made for this optimizer.
        milestones: The number of steps after which the second scheduler starts, the third, and so
            on.
        last_epoch: Must be -1. To resume, call `load_state_dict`.

    Example:
        >>> import minigrad
        >>> from minigrad import optim
        >>> from minigrad.optim.lr_scheduler import ExponentialLR, LinearLR, SequentialLR
        >>> optimizer = optim.SGD([minigrad.ones(1, requires_grad=True)], lr=1.0)
        >>> rise = LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> fall = ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = SequentialLR(optimizer, [rise, fall], milestones=[2])
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(4):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> rates
        [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Iterable[LRScheduler], milestones: Iterable[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._take(optimizer)
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self._check_schedulers()
        for step in self._milestones:
            check_size(self._name, "each of milestones", step, 0)
        rising = self._milestones == sorted(self._milestones)
        if not rising or len(self._milestones) != len(self._schedulers) - 1:
            raise ValueError(
                f"{self._name}: milestones must rise, one less than schedulers, got "
                f"{self._milestones} for {len(self._schedulers)} schedulers"
            )
        if last_epoch != -1:
            raise ValueError(
                f"{self._name}: last_epoch must be -1, got {last_epoch!r}; to resume, make the "
                f"schedulers anew and call load_state_dict"
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        which = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[which]
        if self.last_epoch == (self._milestones[which - 1] if which else 0):
            scheduler._restart()
        else:
            scheduler.step()
        return self._lrs


class ChainedScheduler(_Several):
    """Several schedulers at once: each changes the learning rate that the one before has set.

    Args:
        schedulers: The schedulers, made for one optimizer, by multiplying the present rate.
        optimizer: That optimizer; by default that of the first scheduler.

    Example:
        >>> import minigrad
        >>> from minigrad import optim
        >>> from minigrad.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = optim.SGD([minigrad.ones(1, requires_grad=True)], lr=1.0)
        >>> parts = [ConstantLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)]
        >>> scheduler = ChainedScheduler(parts)
        >>> rates = scheduler.get_last_lr()
        >>> for _ in range(2):
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> rates
        [0.5, 0.25, 0.25]
    """

    def __init__(
        self, schedulers: Iterable[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._schedulers = list(schedulers) if isinstance(schedulers, Iterable) else []
        if not self._schedulers:
            raise ValueError(f"{self._name}: a list of schedulers expected, got {schedulers!r}")
        given = getattr(self._schedulers[0], "optimizer", None) if optimizer is None else optimizer
        self._take(given)  # type: ignore[arg-type]
        self._check_schedulers()
        super().__init__(self.optimizer)

    def get_lr(self) -> list[float]:
        if not self._starting:
            for scheduler in self._schedulers:
                scheduler.step()
        return self._lrs


_LRScheduler = LRScheduler  # its older name in PyTorch
