# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import minigrad.optim.lr_scheduler.cosine
import minigrad.optim.lr_scheduler.cyclic
import minigrad.optim.lr_scheduler.decay
import minigrad.optim.lr_scheduler.factors
import minigrad.optim.lr_scheduler.plateau
import minigrad.optim.lr_scheduler.scheduler
import minigrad.optim.lr_scheduler.sequential
import minigrad.optim.lr_scheduler.warmup
import minigrad.optim.optimizer

EPOCH_DEPRECATION_WARNING: str

class ChainedScheduler(minigrad.optim.lr_scheduler.sequential.ChainedScheduler, LRScheduler):
    def __init__(
        self,
        schedulers: Iterable[minigrad.optim.lr_scheduler.scheduler.LRScheduler],
        optimizer: minigrad.optim.optimizer.Optimizer | None = None,
    ) -> None: ...

class ConstantLR(minigrad.optim.lr_scheduler.factors.ConstantLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        factor: float = 0.3333333333333333,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None: ...

class CosineAnnealingLR(minigrad.optim.lr_scheduler.cosine.CosineAnnealingLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None: ...

class CosineAnnealingWarmRestarts(
    minigrad.optim.lr_scheduler.cosine.CosineAnnealingWarmRestarts, LRScheduler
):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None: ...

class CyclicLR(minigrad.optim.lr_scheduler.cyclic.CyclicLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None: ...

class ExponentialLR(minigrad.optim.lr_scheduler.decay.ExponentialLR, LRScheduler):
    def __init__(
        self, optimizer: minigrad.optim.optimizer.Optimizer, gamma: float, last_epoch: int = -1
    ) -> None: ...

class LRScheduler(minigrad.optim.lr_scheduler.scheduler.LRScheduler):
    def __init__(
        self, optimizer: minigrad.optim.optimizer.Optimizer, last_epoch: int = -1
    ) -> None: ...
    def step(self, epoch: int | None = None) -> None: ...

class LambdaLR(minigrad.optim.lr_scheduler.decay.LambdaLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None: ...

class LinearLR(minigrad.optim.lr_scheduler.warmup.LinearLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        start_factor: float = 0.3333333333333333,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None: ...

class MultiStepLR(minigrad.optim.lr_scheduler.decay.MultiStepLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None: ...

class MultiplicativeLR(minigrad.optim.lr_scheduler.factors.MultiplicativeLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None: ...

class NoamScheduler(minigrad.optim.lr_scheduler.warmup.NoamScheduler, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        model_size: int,
        warmup_steps: int,
        factor: float = 1.0,
        last_epoch: int = -1,
    ) -> None: ...

class OneCycleLR(minigrad.optim.lr_scheduler.cyclic.OneCycleLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 10000.0,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None: ...

class PolynomialLR(minigrad.optim.lr_scheduler.factors.PolynomialLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None: ...

class ReduceLROnPlateau(minigrad.optim.lr_scheduler.plateau.ReduceLROnPlateau, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 0.0001,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0.0,
        eps: float = 1e-08,
    ) -> None: ...

class SequentialLR(minigrad.optim.lr_scheduler.sequential.SequentialLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        schedulers: Iterable[minigrad.optim.lr_scheduler.scheduler.LRScheduler],
        milestones: Iterable[int],
        last_epoch: int = -1,
    ) -> None: ...

class StepLR(minigrad.optim.lr_scheduler.decay.StepLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None: ...

class WarmupCosineLR(minigrad.optim.lr_scheduler.warmup.WarmupCosineLR, LRScheduler):
    def __init__(
        self,
        optimizer: minigrad.optim.optimizer.Optimizer,
        warmup_steps: int,
        total_steps: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None: ...

_LRScheduler = LRScheduler

def _made(kind: Any) -> type: ...
