"""`torch.optim`: minigrad's optimizers, whose names and arguments are PyTorch's."""

from minigrad.optim import *
from minigrad.torch.optim import lr_scheduler as lr_scheduler
from minigrad.torch.optim import swa_utils as swa_utils
