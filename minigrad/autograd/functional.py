"""The function transforms of `minigrad.transforms`, under the name that PyTorch has for them."""

from minigrad.transforms.derivatives import *  # noqa: F403
from minigrad.transforms.derivatives import __all__ as _derivatives
from minigrad.transforms.mapped import vmap as vmap

__all__ = [*_derivatives, "vmap"]
