"""Schedulers made of others: in sequence, or all at once."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

from minigrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer


class _Several(LRScheduler):
    """A scheduler made of others, and its state."""

    _schedulers: list[Any]

    def _check_scheduler(self, i: int, scheduler: Any) -> None:
        kind = type(scheduler).__name__
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(f"{self._name}: schedulers[{i}] must be a scheduler, got {kind}")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{self._name}: schedulers[{i}] is ReduceLROnPlateau, whose step needs a metric; "
                f"step it by itself"
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
        if not isinstance(schedulers, Iterable) or not isinstance(milestones, Iterable):
            raise TypeError(
                f"{self._name}: a list of schedulers and a list of milestones expected, got "
                f"{schedulers!r} and {milestones!r}"
            )
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        for i, scheduler in enumerate(self._schedulers):
            self._check_scheduler(i, scheduler)
        for step in self._milestones:
            self._check_count("each of milestones", step, 0)
        if self._milestones != sorted(self._milestones):
            raise ValueError(f"{self._name}: milestones must rise, got {self._milestones}")
        if len(self._milestones) != len(self._schedulers) - 1:
            raise ValueError(
                f"{self._name}: one milestone less than schedulers expected, got "
                f"{len(self._milestones)} milestones for {len(self._schedulers)} schedulers"
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
        for i, scheduler in enumerate(self._schedulers):
            self._check_scheduler(i, scheduler)
        super().__init__(self.optimizer)

    def get_lr(self) -> list[float]:
        if not self._starting:
            for scheduler in self._schedulers:
                scheduler.step()
        return self._lrs
