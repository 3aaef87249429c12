"""`torch.distributions.constraints` is `minigrad.distributions.constraints`."""

from minigrad.distributions.constraints import *
