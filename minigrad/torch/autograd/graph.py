"""`torch.autograd.graph`: reading a graph, and what ops save for the backward pass."""

from minigrad.autograd.graph import *
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)
