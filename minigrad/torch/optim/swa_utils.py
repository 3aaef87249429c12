"""`torch.optim.swa_utils`: averages of weights."""

from minigrad.optim.swa_utils import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
