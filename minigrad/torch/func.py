"""`torch.func`: transforms of functions."""

from minigrad.func import *
