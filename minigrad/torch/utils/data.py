"""`torch.utils.data` is `minigrad.data`."""

from minigrad.data import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
__path__: list[str] = []
