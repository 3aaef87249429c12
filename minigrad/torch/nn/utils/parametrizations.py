"""`torch.nn.utils.parametrizations`: minigrad's."""

from minigrad.nn.utils.parametrizations import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
