"""`torch.optim.lr_scheduler`: minigrad's schedules."""

from minigrad.optim.lr_scheduler import *
from minigrad.optim.lr_scheduler import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from minigrad.optim.lr_scheduler import _LRScheduler as _LRScheduler
