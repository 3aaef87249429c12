"""`torch.distributions` is `minigrad.distributions`."""

from minigrad.distributions import *

__path__: list[str] = []
