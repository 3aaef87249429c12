"""`lucid.distributions`: as in PyTorch."""

from minigrad.torch.distributions import *
