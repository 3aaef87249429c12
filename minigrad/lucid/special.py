"""`lucid.special`: as in PyTorch."""

from minigrad.torch.special import *
