"""`torch.distributions` is `minigrad.distributions`."""

from minigrad.distributions import *
from minigrad.torch.distributions import constraints as constraints
