"""`lucid.utils.data`: as in PyTorch."""

from minigrad.torch.utils.data import *
