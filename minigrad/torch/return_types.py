"""`torch.return_types`: what functions with several results return."""

from minigrad.tensors.return_types import *
