"""`torch.linalg` is `minigrad.linalg`."""

from minigrad.linalg import *
