"""`lucid.func`: as in PyTorch."""

from minigrad.torch.func import *
