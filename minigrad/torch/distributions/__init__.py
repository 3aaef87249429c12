"""`torch.distributions` is `minigrad.distributions`."""

from minigrad.distributions import *
