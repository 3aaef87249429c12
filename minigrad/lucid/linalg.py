"""`lucid.linalg`: as in PyTorch."""

from minigrad.torch.linalg import *
