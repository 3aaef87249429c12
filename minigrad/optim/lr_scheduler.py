"""Learning-rate schedulers: they change an optimizer's learning rate from step to step."""

import copy
import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
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

_NOT_IN_ALL_FILES = {
    "_get_lr_called_within_step", "_is_initial", "_last_lr", "anneal_func", "default_min_lr",
    "verbose",
}  # fmt: skip
"""Entries that the states of some versions of PyTorch have; nothing here needs them."""
EPOCH_DEPRECATION_WARNING = "step(epoch) is deprecated: call step() once after each epoch"


def _number(lr: Any) -> Any:
    """An option, which may be a tensor, as a number."""
    return lr.item() if isinstance(lr, Tensor) else lr


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
    """Attributes that PyTorch's state does not have."""
    _by_group: tuple[str, ...] = ()
    """Attributes that are lists with an entry for each group, and options of the groups."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._take(optimizer)
        self.last_epoch = check_size(self._name, "last_epoch", last_epoch, -1)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _number(group["lr"]))
            elif "initial_lr" not in group:
                why = f"last_epoch={last_epoch}, but group {i} has no 'initial_lr'"
                raise ValueError(f"{self._name}: {why}; load the optimizer's state first")
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        if type(optimizer).step is Optimizer.step:  # another one does not say that it is called
            vars(optimizer).setdefault("_waits", True)
        self._step_count = 0
        self.step()

    def _take(self, optimizer: Optimizer) -> None:
        """Check and store the optimizer, before the options for its groups are read."""
        if not isinstance(optimizer, Optimizer):
            kind = type(optimizer).__name__
            raise TypeError(f"{self._name}: the first argument is an optimizer, got {kind}")
        self.optimizer = optimizer

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _steps(self, name: str, value: Any, least: int = 1, *, whole: bool = True) -> Any:
        """A number of steps as it is given: an int, or a float, as part of a length often is."""
        if isinstance(value, float) and not (whole and value % 1):
            return check_number(self._name, name, value, least)
        return check_size(self._name, name, value, least)

    @property
    def _lrs(self) -> list[float]:
        """The current learning rates, which some schedulers multiply by a factor."""
        return [_number(group["lr"]) for group in self.optimizer.param_groups]

    def _set(self, rates: list[float]) -> None:
        """Set the learning rate of each group; one that is a tensor stays it."""
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(lr)
            else:
                group["lr"] = lr

    def _restart(self) -> None:
        """Start again, from the initial learning rates."""
        self._admit()
        self._set(self.base_lrs)
        self.last_epoch, self._step_count = -1, 0
        self.step()

    @property
    def _starting(self) -> bool:
        """Whether this is the first call of `get_lr`, which sets the initial values."""
        return self._step_count == 1

    def _one_of(self, name: str, value: str, *choices: str) -> Any:
        """An option that has a few values."""
        return check_choice(self._name, name, value, choices)

    def _listed(self, name: str, value: Any) -> list[Any]:
        """An option that is a list, or gives one."""
        if not isinstance(value, Iterable):
            raise TypeError(f"{self._name}: {name} must be a list, got {value!r}")
        return list(value)

    def _per_group(self, name: str, value: Any) -> list[float]:
        """An option as one number for each group; a single number is used for all."""
        n = len(self.optimizer.param_groups)
        numbers = value if isinstance(value, (list, tuple)) else [value] * n
        if len(numbers) != n:
            raise ValueError(f"{self._name}: {name} has {len(numbers)} numbers for {n} groups")
        return [check_number(self._name, name, _number(number), 0.0) for number in numbers]

    def get_lr(self) -> list[float]:
        """Return the learning rates of step number `last_epoch`, one for each group."""
        raise NotImplementedError(f"{self._name} does not define get_lr()")

    @reading
    def get_last_lr(self) -> list[float]:
        """Return the learning rates that were set last, one for each group."""
        return [*self._last_lr]

    @effect
    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: The number of the step, instead of the next. PyTorch advises against it.

        Raises:
            ValueError: A learning rate is negative or not finite, or the optimizer was given a
                group, and an option of the scheduler differs from group to group.
        """
        if self._step_count == 1 and getattr(self.optimizer, "_waits", False):
            self.optimizer._waits = False  # told once
            why = "step() before optimizer.step() skips the first learning rate"
            warnings.warn(f"{self._name}: {why}", stacklevel=3)
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
        self._set(self._per_group("a learning rate", [*self.get_lr()]))
        known = [group["lr"] for group in self.optimizer.param_groups]
        self._last_lr: list[Any] = [lr.clone() if isinstance(lr, Tensor) else lr for lr in known]

    def _admit(self) -> None:
        """Take in the groups that came later, with the options that all others have."""
        groups, count = self.optimizer.param_groups, len(self.base_lrs)
        for group in groups[count:]:
            for name in self._by_group:
                own = getattr(self, name, None)
                values = [known[name] for known in groups[:count] if name in known]
                values = values if own is None else own
                if any(value != values[0] for value in values):
                    made = f"created for {len(values)} groups with {name} {values}"
                    raise ValueError(f"{self._name}: {made}; a later group has none: add it before")
                if own is not None:
                    own.append(own[0])
                elif values:
                    group[name] = values[0]
            self.base_lrs.append(float(group.setdefault("initial_lr", _number(group["lr"]))))

    def state_dict(self) -> dict[str, Any]:
        """Return the state, to resume training later, with PyTorch's entries.

        The current learning rates are in the state of the optimizer too. Functions are not saved,
        but the attributes of objects that are called in their place are.
        """
        own = vars(self).items()
        return {name: _saved(value) for name, value in own if name not in self._not_saved}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a state of the same class, saved here or in PyTorch; load nothing if it misfits.

        Load the optimizer's state too, before or after.
        """
        before = self.state_dict()
        try:
            self._load(state_dict, before)
        except Exception:
            self._load(before, before)
            raise

    def _load(self, state: Mapping[str, Any], own: dict[str, Any]) -> None:
        if not isinstance(state, Mapping) or (state.keys() ^ own.keys()) - _NOT_IN_ALL_FILES:
            given = sorted(state) if isinstance(state, Mapping) else state
            raise ValueError(f"{self._name}: a state has the keys {sorted(own)}, got {given}")
        for name in own.keys() & state.keys():
            saved = state[name]
            if isinstance(own[name], list) and (
                not isinstance(saved, list) or len(saved) != len(own[name])
            ):
                wanted = f"{name} must have {len(own[name])} entries"
                raise ValueError(f"{self._name}: {wanted}, the saved one is {saved}")
            setattr(self, name, _loaded(getattr(self, name), saved))
        if "_step_count" in self._not_saved:
            self._step_count = self.last_epoch + 1


def _saved(value: Any) -> Any:
    """What a state has of an attribute: a copy; None of a function, attributes of a callable."""
    if isinstance(value, list):
        return [_saved(part) for part in value]
    if isinstance(value, LRScheduler):
        return value.state_dict()
    if callable(value):
        return None if isinstance(value, FunctionType) else dict(getattr(value, "__dict__", {}))
    return copy.copy(value)


def _loaded(own: Any, saved: Any) -> Any:
    """The value of an attribute after what was saved of it is loaded."""
    if isinstance(own, list):
        return [_loaded(*pair) for pair in zip(own, saved, strict=True)]
    if isinstance(own, LRScheduler):
        own.load_state_dict(saved)
        return own
    if callable(own):
        if saved:
            vars(own).update(saved)
        return own
    if isinstance(own, Counter):  # of milestones: JSON makes texts of its keys
        return Counter({int(step): count for step, count in Counter(saved).items()})
    return copy.copy(saved)


class LambdaLR(LRScheduler):
    """The initial learning rate times a function of the step.

    The optimizer comes first, as in PyTorch; Lucid has it second.

    Args:
        lr_lambda: A function from the number of steps done to the factor, or one for each group.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=0.5)
        >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

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
            wanted = f"a function of the step, or a list of {groups}, one for each group"
            raise TypeError(f"{self._name}: lr_lambda must be {wanted}, got {lr_lambda!r}")
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
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = self._steps("step_size", step_size)
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
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        steps = self._listed("milestones", milestones)
        self.milestones = Counter(self._steps("each of milestones", n, 0) for n in steps)
        self.gamma = check_number(self._name, "gamma", gamma, 0.0)
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch]


class ExponentialLR(_Factor):
    """A learning rate times a factor in every step.

    Args:
        gamma: The factor.

    Example:
        >>> from minigrad import ones, optim
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> for _ in range(3):
        ...     optimizer.step()
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
        self.total_iters = self._steps("total_iters", total_iters, 0)
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
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5625]
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = self._steps("total_iters", total_iters)
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
        >>> optimizer.step()
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
        ...     optimizer.step()
        ...     scheduler.step()
        >>> round(scheduler.get_last_lr()[0], 6)
        0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = self._steps("T_max", T_max, whole=False)
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
        ...     optimizer.step()
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
        self._advance()

    def get_lr(self) -> list[float]:
        return [_cosine(base, self.eta_min, self.T_cur / self.T_i) for base in self.base_lrs]


def _cosine(first: float, last: float, done: float) -> float:
    """The value between two others, by a cosine, when a part of the way is done."""
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2


class _WithMomentum(LRScheduler):
    """A cycle of the learning rate, and of the momentum: "momentum", or the first of "betas".

    The groups of the optimizer have the bounds of both.
    """

    _by_group = (
        "initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum", "max_lrs",
        "base_momentums", "max_momentums",
    )  # fmt: skip

    def _take_momentum(self, cycle: bool, low: Any, high: Any, last_epoch: int) -> None:
        self.cycle_momentum = bool(cycle)
        if not cycle:
            return
        if not {"momentum", "betas"} & self.optimizer.defaults.keys():
            what = f"{type(self.optimizer).__name__} has neither momentum nor betas"
            raise ValueError(f"{self._name}: {what}; pass cycle_momentum=False")
        self.use_beta1 = "betas" in self.optimizer.defaults
        lows, highs = self._per_group("base_momentum", low), self._per_group("max_momentum", high)
        self._put(last_epoch, base_momentum=lows, max_momentum=highs)

    def _put(self, last_epoch: int, **options: list[float]) -> None:
        """Set options of the groups, unless they come with a loaded state."""
        for name, values in options.items() if last_epoch == -1 else ():
            for group, value in zip(self.optimizer.param_groups, values, strict=True):
                group[name] = value

    def get_momentum(self) -> list[float]:
        """Return the momentum of step number `last_epoch`, one number for each group."""
        raise NotImplementedError

    def _advance(self) -> None:
        super()._advance()
        if self.cycle_momentum:
            pairs = zip(self.optimizer.param_groups, self.get_momentum(), strict=True)
            for group, momentum in pairs:
                if self.use_beta1:
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
        ...     optimizer.step()
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> rates
        [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: float | list[float], max_lr: float | list[float],
        step_size_up: int = 2000, step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle", cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8, max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._take(optimizer)
        self.mode = self._one_of("mode", mode, "triangular", "triangular2", "exp_range")
        self.scale_mode = self._one_of("scale_mode", scale_mode, "cycle", "iterations")
        self._scale_fn_custom = scale_fn
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        up = self._steps("step_size_up", step_size_up, whole=False)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(up + self._steps("step_size_down", down, whole=False))
        self.step_ratio = up / self.total_size
        self.gamma = check_number(self._name, "gamma", gamma, 0.0)
        lows, self.max_lrs = self._per_group("base_lr", base_lr), self._per_group("max_lr", max_lr)
        self._take_momentum(cycle_momentum, base_momentum, max_momentum, last_epoch)
        if cycle_momentum:
            self.base_momentums = self._per_group("base_momentum", base_momentum)
            self.max_momentums = self._per_group("max_momentum", max_momentum)
        self._put(last_epoch, initial_lr=lows)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._at_height(self.base_lrs, self.max_lrs)

    def get_momentum(self) -> list[float]:
        return self._at_height(self.max_momentums, self.base_momentums)

    def _at_height(self, firsts: list[float], tops: list[float]) -> list[float]:
        """The values at the current height of the cycle, between the firsts and the tops."""
        cycle, step = divmod(self.last_epoch, self.total_size)
        up = self.step_ratio * self.total_size
        height = step / up if step <= up else (self.total_size - step) / (self.total_size - up)
        height *= self.scale_fn(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch)
        return [first + (top - first) * height for first, top in zip(firsts, tops, strict=True)]

    def scale_fn(self, x: Any) -> float:
        """Return the height of a cycle as a factor, of its number or of the number of steps."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        return {"triangular": 1.0, "triangular2": 2.0 ** (1 - x)}.get(self.mode, self.gamma**x)


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
        ...     optimizer.step()
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
        self._take(optimizer)
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
        self._anneal_func_type = self._one_of("anneal_strategy", anneal_strategy, "cos", "linear")
        rise, end = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        low, high = ("initial_lr", "max_momentum"), ("max_lr", "base_momentum")
        last = "min_lr", "max_momentum"
        ways = [(rise, low, high), (end, high, last)]
        if three_phase:
            ways[1:] = [(2 * rise, high, low), (end, low, last)]
        names = "end_step", "start_lr", "start_momentum", "end_lr", "end_momentum"
        self._schedule_phases: list[dict[str, Any]] = [
            dict(zip(names, (step, *begin, *stop), strict=True)) for step, begin, stop in ways
        ]
        self._take_momentum(cycle_momentum, base_momentum, max_momentum, last_epoch)
        tops = self._per_group("max_lr", max_lr)
        first = [top / div_factor for top in tops]
        least = [lr / final_div_factor for lr in first]
        self._put(last_epoch, initial_lr=first, max_lr=tops, min_lr=least)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise ValueError(f"OneCycleLR: all {self.total_steps} steps were done")
        return self._annealed("lr")

    def get_momentum(self) -> list[float]:
        return self._annealed("momentum")

    def _annealed(self, what: str) -> list[float]:
        """The learning rate or the momentum of each group, within the phase of the current step."""
        begin = 0.0
        for phase in self._schedule_phases:
            stop = phase["end_step"]
            if self.last_epoch <= stop:
                break
            begin = stop
        done = min((self.last_epoch - begin) / (stop - begin), 1.0) if stop > begin else 1.0
        if self._anneal_func_type == "cos":
            done = (1 - math.cos(math.pi * done)) / 2
        first, last = phase[f"start_{what}"], phase[f"end_{what}"]
        return [
            group[first] + (group[last] - group[first]) * done
            for group in self.optimizer.param_groups
        ]


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
        ...     optimizer.step()
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
        self.total_iters = self._steps("total_iters", total_iters)
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
        ...     optimizer.step()
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
        ...     optimizer.step()
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
        ...     optimizer.step()
        ...     scheduler.step(loss)
        >>> scheduler.get_last_lr()
        [0.1]
    """

    _not_saved = ("optimizer", "base_lrs", "_step_count")
    _by_group = ("min_lrs",)

    def __init__(
        self, optimizer: Optimizer, mode: Literal["min", "max"] = "min", factor: float = 0.1,
        patience: int = 10, threshold: float = 1e-4, threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0, min_lr: float | list[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        self.mode = self._one_of("mode", mode, "min", "max")
        self.patience = check_size(self._name, "patience", patience, 0)
        self.factor = check_number(self._name, "factor", factor, 0.0, below=1.0)
        self.threshold = check_number(self._name, "threshold", threshold, 0.0)
        self.threshold_mode = self._one_of("threshold_mode", threshold_mode, "rel", "abs")
        self.cooldown = check_size(self._name, "cooldown", cooldown, 0)
        self.cooldown_counter = 0
        self.eps = check_number(self._name, "eps", eps, 0.0)
        self.best = self.mode_worse = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        super().__init__(optimizer)
        self.min_lrs = self._per_group("min_lr", min_lr)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr

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
            pairs = zip(self._lrs, self.min_lrs, strict=True)
            lower = [(lr, max(lr * self.factor, least)) for lr, least in pairs]
            self._set([new if lr - new > self.eps else lr for lr, new in lower])

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "abs":
            return sign * value < sign * self.best - self.threshold
        return sign * value < sign * self.best * (1 - sign * self.threshold)


class _Several(LRScheduler):
    """A scheduler made of others."""

    _not_saved: tuple[str, ...] = ("optimizer", "base_lrs", "_step_count")
    _schedulers: list[Any]

    def _check_schedulers(self) -> None:
        for i, scheduler in enumerate(self._schedulers):
            kind = type(scheduler).__name__
            if not isinstance(scheduler, LRScheduler):
                raise TypeError(f"{self._name}: schedulers[{i}] must be a scheduler, got {kind}")
            why = "" if scheduler.optimizer is self.optimizer else "was made for another optimizer"
            if isinstance(scheduler, ReduceLROnPlateau):
                why = "needs a metric in each step; step it by itself"
            if why:
                raise ValueError(f"{self._name}: schedulers[{i}], {kind}, {why}")


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
        ...     optimizer.step()
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
        self._schedulers = self._listed("schedulers", schedulers)
        self._milestones = self._listed("milestones", milestones)
        self._check_schedulers()
        for step in self._milestones:
            self._steps("each of milestones", step, 0)
        rising = self._milestones == sorted(self._milestones)
        if not rising or len(self._milestones) != len(self._schedulers) - 1:
            came = f"{self._milestones} for {len(self._schedulers)} schedulers"
            wanted = "milestones must rise, one less than schedulers"
            raise ValueError(f"{self._name}: {wanted}, got {came}")
        if last_epoch != -1:
            remedy = "to resume, make the schedulers anew and call load_state_dict"
            raise ValueError(f"{self._name}: last_epoch must be -1, got {last_epoch!r}; {remedy}")
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
        ...     optimizer.step()
        ...     scheduler.step()
        ...     rates += scheduler.get_last_lr()
        >>> rates
        [0.5, 0.25, 0.25]
    """

    _not_saved = ("optimizer", "base_lrs", "_step_count", "last_epoch")

    def __init__(
        self, schedulers: Iterable[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._schedulers = self._listed("schedulers", schedulers)
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
