"""`torch.nn.utils.rnn`: minigrad's."""

from minigrad.nn.utils.rnn import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
