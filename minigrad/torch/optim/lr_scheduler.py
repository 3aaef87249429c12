"""`torch.optim.lr_scheduler`: minigrad's schedules, whose names and arguments are PyTorch's."""

from minigrad.optim.lr_scheduler import *
