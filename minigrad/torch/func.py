"""`torch.func`: transforms of functions."""

from minigrad.func import *
from minigrad.func import vmap as _vmap  # noqa: F401
