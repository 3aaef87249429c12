"""`torch.nn.functional`: minigrad's, which has PyTorch's functions."""

from minigrad.nn.functional import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
