"""`torch.nn.functional`: minigrad's, which has PyTorch's functions."""

from minigrad.nn.functional import *
