"""`torch.optim`: minigrad's optimizers, whose names and arguments are PyTorch's."""

from minigrad.optim import *
from minigrad.optim import lr_scheduler as lr_scheduler
from minigrad.optim import swa_utils as swa_utils
