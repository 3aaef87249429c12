"""`torch.nn.init`: minigrad's, which has PyTorch's names and orders."""

from minigrad.nn.init import *
from minigrad.nn.init import _calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out
