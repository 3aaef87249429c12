"""`torch.nn.utils.parametrizations`: minigrad's."""

from minigrad.nn.utils.parametrizations import *
