"""Every schedule of learning rates, made for an optimizer."""

from typing import Any

from minigrad.optim import lr_scheduler

SCHEDULERS: dict[str, Any] = {
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda step: 0.9**step),
    "StepLR": lambda o: lr_scheduler.StepLR(o, 3),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 4, 4]),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 8),
    "ReduceLROnPlateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=1, cooldown=1),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.5, 4),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.5, total_steps=20),
    "NoamScheduler": lambda o: lr_scheduler.NoamScheduler(o, 16, 4),
    "WarmupCosineLR": lambda o: lr_scheduler.WarmupCosineLR(o, 4, 12),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o, 0.2, 0.7, 9),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 2),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o, 0.5, 4),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, 12, 2.0),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda step: 0.9),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.5, 4), lr_scheduler.StepLR(o, 3)]
    ),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o), lr_scheduler.CyclicLR(o, 0.1, 0.5, 4)], [3]
    ),
}
