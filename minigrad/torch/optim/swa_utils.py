"""`torch.optim.swa_utils`: averages of weights."""

from minigrad.optim.swa_utils import *
