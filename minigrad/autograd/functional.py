"""Derivatives of a function at a tensor or a tuple of tensors, as PyTorch's module has them."""

from minigrad.transforms.at_inputs import *  # noqa: F403
from minigrad.transforms.at_inputs import __all__ as __all__
