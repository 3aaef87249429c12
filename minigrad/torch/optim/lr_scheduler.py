"""`torch.optim.lr_scheduler`: minigrad's schedules, whose names and arguments are PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

from minigrad.optim import lr_scheduler as ours
from minigrad.torch.modules import missing

__getattr__ = missing(__name__)

EPOCH_DEPRECATION_WARNING = "step(epoch) is deprecated: call step() once after each epoch"


class LRScheduler(ours.LRScheduler):
    """The base class of schedulers: a subclass defines `get_lr`.

    Example:
        >>> from minigrad import torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next step, or of a certain one."""
        if epoch is None:
            super().step()
            return
        warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._restart()
        while self.last_epoch < epoch:
            super().step()

    @property
    def _last_lr(self) -> list[float]:
        return self.get_last_lr()


_LRScheduler = LRScheduler


def _made(kind: Any) -> type:
    made = type(kind.__name__, (kind, LRScheduler), {"__doc__": kind.__doc__})
    made.__module__ = __name__
    return made


globals().update({
    name: _made(getattr(ours, name)) for name in ours.__all__ if name != "LRScheduler"
})  # fmt: skip
