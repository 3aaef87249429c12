"""`lucid.amp`: as in PyTorch."""

from minigrad.torch.amp import *
