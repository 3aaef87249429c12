"""`lucid.optim.lr_scheduler`: PyTorch's schedules with Lucid 3's arguments.

`verbose` is accepted, and prints nothing.

Source: the signatures and docstrings of Lucid 3.8.
"""
# mypy: disable-error-code="assignment,no-redef"

from __future__ import annotations

from minigrad.optim.lr_scheduler import *

# What Lucid has of its own takes the place of PyTorch's.
# isort: split
from typing import Any

from minigrad.lucid.absent import supported
from minigrad.optim import lr_scheduler as theirs


class _Verbose:
    """A schedule that takes `verbose` last, and prints nothing."""

    def __init__(self, *args: Any, verbose: bool = False, **options: Any) -> None:
        said = bool(args) and isinstance(args[-1], bool)  # no other argument is one
        super().__init__(*args[: len(args) - said], **options)


class StepLR(_Verbose, theirs.StepLR):
    """The rate times `gamma` every `step_size` steps."""


class MultiStepLR(_Verbose, theirs.MultiStepLR):
    """The rate times `gamma` at each milestone."""


class ExponentialLR(_Verbose, theirs.ExponentialLR):
    """The rate times `gamma` in each step."""


class CosineAnnealingLR(_Verbose, theirs.CosineAnnealingLR):
    """The rate along a cosine."""


class CosineAnnealingWarmRestarts(_Verbose, theirs.CosineAnnealingWarmRestarts):
    """The rate along cosines, each from the initial rate."""


class LambdaLR(_Verbose, theirs.LambdaLR):
    """The initial rate times a function of the number of steps."""


class MultiplicativeLR(_Verbose, theirs.MultiplicativeLR):
    """The rate times a function of the number of steps."""


class LinearLR(_Verbose, theirs.LinearLR):
    """The rate times a factor that moves along a line."""


class ConstantLR(_Verbose, theirs.ConstantLR):
    """The rate times a factor for some steps."""


class PolynomialLR(theirs.PolynomialLR):
    """The rate along a power down to 0; another end, `eta_min`, is an error."""

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, eta_min: float = 0.0,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        supported("lucid.optim.PolynomialLR", {"eta_min": eta_min})
        super().__init__(optimizer, total_iters, power, last_epoch)


class NoamScheduler(theirs.NoamScheduler):
    """A warmup, then a decay with the square root; the width is `d_model`."""

    def __init__(
        self, optimizer: Any, d_model: int, warmup_steps: int, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(optimizer, d_model, warmup_steps, last_epoch=last_epoch)


class ReduceLROnPlateau(theirs.ReduceLROnPlateau):
    """A lower rate when a metric improves no more; the fifth argument is `verbose`."""

    def __init__(
        self, optimizer: Any, mode: Any = "min", factor: float = 0.1, patience: int = 10,
        verbose: bool = False, threshold: float = 1e-4, min_lr: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(optimizer, mode, factor, patience, threshold, min_lr=min_lr)


class CyclicLR(theirs.CyclicLR):
    """The rate up and down between bounds; the momentum is left alone."""

    def __init__(
        self, optimizer: Any, base_lr: float, max_lr: float, step_size_up: int = 2000,
        mode: Any = "triangular", gamma: float = 1.0, last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        given = (base_lr, max_lr, step_size_up, None, mode, gamma)
        super().__init__(optimizer, *given, cycle_momentum=False, last_epoch=last_epoch)


class OneCycleLR(theirs.OneCycleLR):
    """The rate up and down once; the momentum is left alone."""

    def __init__(
        self, optimizer: Any, max_lr: float, total_steps: int, pct_start: float = 0.3,
        anneal_strategy: Any = "cos", div_factor: float = 25.0, final_div_factor: float = 1e4,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        given = (max_lr, total_steps, None, None, pct_start, anneal_strategy, False)
        factors: Any = {"div_factor": div_factor, "final_div_factor": final_div_factor}
        super().__init__(optimizer, *given, **factors, last_epoch=last_epoch)
