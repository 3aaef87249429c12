"""`torch.serialization` has the functions of `minigrad.io`."""

from minigrad.io import load as load
from minigrad.io import save as save
