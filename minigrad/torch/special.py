"""`torch.special` is `minigrad.special`."""

from minigrad.special import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
