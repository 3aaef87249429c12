"""Learning-rate schedulers: they change an optimizer's learning rate from step to step."""

from minigrad.optim.lr_scheduler.cosine import CosineAnnealingLR
from minigrad.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from minigrad.optim.lr_scheduler.decay import ExponentialLR, LambdaLR, MultiStepLR, StepLR
from minigrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minigrad.optim.lr_scheduler.scheduler import LRScheduler
from minigrad.optim.lr_scheduler.warmup import NoamScheduler, WarmupCosineLR

__all__ = [
    "CosineAnnealingLR", "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR",
    "NoamScheduler", "OneCycleLR", "ReduceLROnPlateau", "StepLR", "WarmupCosineLR",
]  # fmt: skip
