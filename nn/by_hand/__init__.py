"""Attention and the transformer encoder in NumPy alone, every backward pass written by hand.

Each forward function is followed by its backward function, whose docstring has the derivation. Read
them beside the engine, or use them as a check: with equal weights autograd gives the same outputs
and gradients.

Conventions:

- Functions take and return ndarrays. Sequences are batch first, weights have shape (in, out).
- `grad_x` is ∂L/∂x, the derivative of the scalar loss L, with the shape of x.
- A mask is bool: True = attend. Masked scores are -1e9, so a query whose keys are all masked
  attends to all keys equally.

The files import nothing but NumPy and one another.
"""

from typing import TYPE_CHECKING

from minigrad.nn.by_hand.attention_core import *
from minigrad.nn.by_hand.multi_head import *
from minigrad.nn.by_hand.positional import *
from minigrad.nn.by_hand.transformer_block import *

if not TYPE_CHECKING:  # type checkers follow the imports above
    __all__ = sorted(name for name, value in globals().items() if callable(value))
