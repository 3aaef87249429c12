"""`lucid.amp`: as in `minigrad.torch`."""

from minigrad.torch.amp import *
