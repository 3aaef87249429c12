"""`torch.utils`."""

from minigrad.torch.modules import missing as _missing
from minigrad.torch.utils import checkpoint as checkpoint
from minigrad.torch.utils import data as data

__getattr__ = _missing(__name__)
