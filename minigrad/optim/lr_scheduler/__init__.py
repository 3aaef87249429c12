"""Learning-rate schedulers: they change an optimizer's learning rate from step to step."""

import typing as _typing

from minigrad.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from minigrad.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from minigrad.optim.lr_scheduler.decay import ExponentialLR, LambdaLR, MultiStepLR, StepLR
from minigrad.optim.lr_scheduler.factors import ConstantLR, MultiplicativeLR, PolynomialLR
from minigrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minigrad.optim.lr_scheduler.scheduler import (
    EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING,
)
from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.lr_scheduler.sequential import ChainedScheduler, SequentialLR
from minigrad.optim.lr_scheduler.warmup import LinearLR, NoamScheduler, WarmupCosineLR
from minigrad.support.near_names import names as _names

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "NoamScheduler", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau",
    "SequentialLR", "StepLR", "WarmupCosineLR",
]  # fmt: skip

_LRScheduler = LRScheduler  # its older name in PyTorch

if not _typing.TYPE_CHECKING:
    __getattr__ = _names("optim.lr_scheduler", __all__)
