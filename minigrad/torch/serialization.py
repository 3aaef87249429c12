"""`torch.serialization` has the functions of `minigrad.io`."""

from minigrad.io import load as load
from minigrad.io import save as save
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
