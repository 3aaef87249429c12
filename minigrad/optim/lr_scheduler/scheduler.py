"""LRScheduler: the base class, which counts steps and sets learning rates."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

from minigrad.autograd.events import effect, reading
from minigrad.optim.optimizer import Optimizer
from minigrad.support.checks import check_number, check_size

_ONLY_PYTORCHS = {"_get_lr_called_within_step", "_is_initial", "_last_lr", "lr_lambdas"}
"""What else is in the state of one of PyTorch's schedulers; nothing here needs it."""
EPOCH_DEPRECATION_WARNING = "step(epoch) is deprecated: call step() once after each epoch"


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

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._take(optimizer)
        self.last_epoch = self._check_count("last_epoch", last_epoch, -1)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
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
        return [group["lr"] for group in self.optimizer.param_groups]

    def _restart(self) -> None:
        """Start again, from the initial learning rates."""
        for group, lr in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["lr"] = lr
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
            return [self._check_number(name, value, 0.0)] * n
        if len(value) != n:
            raise ValueError(
                f"{self._name}: {name} has {len(value)} numbers, the optimizer {n} groups"
            )
        return [self._check_number(name, number, 0.0) for number in value]

    def _check_number(
        self, name: str, value: Any, least: float = -math.inf, above: float = -math.inf,
        below: float = math.inf,
    ) -> float:  # fmt: skip
        return check_number(self._name, name, value, least, above=above, below=below)

    def _check_count(self, name: str, value: Any, least: int = 1) -> int:
        return check_size(self._name, name, value, least)

    def get_lr(self) -> list[float]:
        """Return the learning rates of step number `last_epoch`, one for each group."""
        raise NotImplementedError(f"{self._name} does not define get_lr()")

    @reading
    def get_last_lr(self) -> list[float]:
        """Return the current learning rates, one for each group."""
        return self._lrs

    @property
    def _last_lr(self) -> list[float]:
        return self.get_last_lr()

    @effect
    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: The number of the step, instead of the next. PyTorch advises against it.

        Raises:
            ValueError: The optimizer was given more groups, or a learning rate is negative or not
                finite.
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
        groups = self.optimizer.param_groups
        if len(groups) != len(self.base_lrs):
            raise ValueError(
                f"{self._name}: created for {len(self.base_lrs)} groups, the optimizer has "
                f"{len(groups)}; add groups before creating the scheduler"
            )
        self._step_count += 1
        self.last_epoch += 1
        rates = [self._check_number("a learning rate", lr, 0.0) for lr in self.get_lr()]
        for group, lr in zip(groups, rates, strict=True):
            group["lr"] = lr

    def state_dict(self) -> dict[str, Any]:
        """Return the state, to resume training later, as plain values.

        The current learning rates are in the state of the optimizer. Functions are not saved.

        Example:
            >>> from minigrad import ones, optim
            >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
            >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
            >>> scheduler.state_dict()["last_epoch"]
            0
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
            setattr(self, name, self._loaded(name, state_dict[name]))

    def _loaded(self, name: str, value: Any) -> Any:  # noqa: ARG002  # subclasses read it
        """An entry of a saved state, as it is here."""
        return list(value) if isinstance(value, list) else value
