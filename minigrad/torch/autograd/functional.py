"""`torch.autograd.functional`: derivatives of functions at a tensor or a tuple of tensors."""

from minigrad.autograd.functional import *
