"""`torch.linalg` is `minigrad.linalg`."""

from minigrad.linalg import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
