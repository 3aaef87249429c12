"""`torch.func`: transforms of functions."""

from minigrad.func import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
