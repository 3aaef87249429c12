"""`torch.optim`: minigrad's optimizers."""

from minigrad.optim import *

required = object()
