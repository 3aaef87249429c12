"""`torch.cpu`: the one device."""

from minigrad.torch import amp as amp
from minigrad.torch.answers import nothing, one

device_count, synchronize = one, nothing
