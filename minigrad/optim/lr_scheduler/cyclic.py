"""Cyclic learning rates, with momentum cycled inversely."""

import math
from collections.abc import Callable
from typing import Any, Literal

from minigrad.autograd.events import effect
from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer
from minigrad.support.checks import check_probability


class _WithMomentum(LRScheduler):
    """A scheduler that also sets the momentum: "momentum", or the first of "betas"."""

    cycle_momentum: bool
    base_momentums: list[float]
    max_momentums: list[float]

    def _take_momentum(self, cycle: bool, low: Any, high: Any) -> None:
        if cycle and not {"momentum", "betas"} & self.optimizer.defaults.keys():
            kind = type(self.optimizer).__name__
            raise ValueError(
                f"{self._name}: {kind} has neither momentum nor betas; pass cycle_momentum=False"
            )
        self.cycle_momentum = bool(cycle)
        self.base_momentums = self._per_group("base_momentum", low) if cycle else []
        self.max_momentums = self._per_group("max_momentum", high) if cycle else []

    def get_momentum(self) -> list[float]:
        """Return the momentum of step number `last_epoch`, one number for each group."""
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
        if mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(
                f"CyclicLR: mode is 'triangular', 'triangular2' or 'exp_range', got {mode!r}"
            )
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"CyclicLR: scale_mode is 'cycle' or 'iterations', got {scale_mode!r}")
        self.step_size_up = self._check_count("step_size_up", step_size_up)
        down = step_size_up if step_size_down is None else step_size_down
        self.step_size_down = self._check_count("step_size_down", down)
        if scale_fn is not None and not callable(scale_fn):
            raise TypeError(f"CyclicLR: scale_fn must be a function, got {scale_fn!r}")
        self.mode, self.gamma = mode, self._check_number("gamma", gamma, 0.0)
        self.scale_fn, self.scale_mode = scale_fn, scale_mode
        self._take(optimizer)
        self._take_momentum(cycle_momentum, base_momentum, max_momentum)
        lows, self.max_lrs = self._per_group("base_lr", base_lr), self._per_group("max_lr", max_lr)
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lows, strict=True):
                group["initial_lr"] = low
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        height = self._height()
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in pairs]

    def get_momentum(self) -> list[float]:
        height = self._height()
        pairs = zip(self.base_momentums, self.max_momentums, strict=True)
        return [high - (high - low) * height for low, high in pairs]

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
        cycle_momentum: Lower the momentum while the learning rate rises.
        base_momentum: The lower momentum, or one for each group.
        max_momentum: The upper momentum, or one for each group.
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
            self._check_count("epochs", epochs)
            self._check_count("steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        self.total_steps = self._check_count("total_steps", total_steps)
        check_probability("OneCycleLR", "pct_start", pct_start)
        self._check_number("div_factor", div_factor, above=0.0)
        self._check_number("final_div_factor", final_div_factor, above=0.0)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"OneCycleLR: anneal_strategy is 'cos' or 'linear', got {anneal_strategy!r}"
            )
        self.pct_start = float(pct_start)
        self.anneal_strategy, self.three_phase = anneal_strategy, bool(three_phase)
        self._take(optimizer)
        self._take_momentum(cycle_momentum, base_momentum, max_momentum)
        self.max_lrs = self._per_group("max_lr", max_lr)
        self.final_div_factor = float(final_div_factor)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, self.max_lrs, strict=True):
                group["initial_lr"] = high / div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise ValueError(f"OneCycleLR: all {self.total_steps} steps were done")
        return [
            self._between({"first": first, "high": high, "last": first / self.final_div_factor})
            for first, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def get_momentum(self) -> list[float]:
        return [
            self._between({"first": high, "high": low, "last": high})
            for low, high in zip(self.base_momentums, self.max_momentums, strict=True)
        ]

    def _between(self, at: dict[str, float]) -> float:
        """The value between one of three marks and the next, at the current step."""
        top, end = self.pct_start * self.total_steps - 1, self.total_steps - 1
        ways = [(top, "first", "high"), (end, "high", "last")]
        if self.three_phase:
            ways[1:] = [(2 * top, "high", "first"), (end, "first", "last")]
        begin = 0.0
        while len(ways) > 1 and self.last_epoch > ways[0][0]:
            begin = ways.pop(0)[0]
        stop, here, there = ways[0]
        done = min((self.last_epoch - begin) / (stop - begin), 1.0) if stop > begin else 1.0
        if self.anneal_strategy == "linear":
            return at[here] + (at[there] - at[here]) * done
        return at[there] + (at[here] - at[there]) / 2 * (1 + math.cos(math.pi * done))
