"""`torch.utils.data` is `minigrad.data`."""

from minigrad.data import *

__path__: list[str] = []
