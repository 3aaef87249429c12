"""`torch.autograd.functional`: derivatives of functions at a tensor or a tuple of tensors."""

from minigrad.autograd.functional import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
