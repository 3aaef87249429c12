"""The function transforms of `minigrad.transforms`, under the name that PyTorch has for them."""

from minigrad.transforms.derivatives import *  # noqa: F403
from minigrad.transforms.derivatives import __all__ as __all__
