"""`torch.special` is `minigrad.special`."""

from minigrad.special import *
