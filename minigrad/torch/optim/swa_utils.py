"""`torch.optim.swa_utils`: averages of weights."""

from typing import Any

from minigrad.optim import swa_utils as _ours
from minigrad.optim.swa_utils import get_ema_avg_fn as get_ema_avg_fn
from minigrad.optim.swa_utils import update_bn as update_bn
from minigrad.torch.modules import missing as _missing
from minigrad.torch.optim.lr_scheduler import LRScheduler as _LRScheduler

__getattr__ = _missing(__name__)


class SWALR(_ours.SWALR, _LRScheduler):
    """The schedule of averaged weights."""


class AveragedModel(_ours.AveragedModel):
    """A model whose weights are averages of another one's."""

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(model, avg_fn=avg_fn or multi_avg_fn, use_buffers=use_buffers)


def get_swa_avg_fn() -> Any:
    """The mean of all weights so far."""
    return lambda average, new, count: average + (new - average) / (count + 1)


get_swa_multi_avg_fn, get_ema_multi_avg_fn = get_swa_avg_fn, _ours.get_ema_avg_fn
