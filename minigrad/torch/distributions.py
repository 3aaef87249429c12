"""`torch.distributions` is `minigrad.distributions`."""

from minigrad.distributions import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
__path__: list[str] = []
