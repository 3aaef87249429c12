"""Attention and the transformer encoder in NumPy alone, every backward pass derived by hand.

What autograd does in the rest of minigrad is written out here: each forward function stands beside
its derivative, and the derivation stands in the docstring. Read it beside the engine, or use it as
a second opinion: with equal weights both give the same outputs and the same gradients.

The conventions, in every file:

- Arrays go in, arrays come out. Sequences are batch first, weights have shape (in, out).
- `grad_x` stands for ∂L/∂x, the derivative of one number L, the loss, and has the shape of x.
- A mask is bool and says True where a query attends. What it masks gets the score -1e9, so a query
  without any key attends to all of them alike.

The files import nothing but NumPy and one another.
"""

from typing import TYPE_CHECKING

from minigrad.nn.by_hand.attention_core import *
from minigrad.nn.by_hand.multi_head import *
from minigrad.nn.by_hand.positional import *
from minigrad.nn.by_hand.transformer_block import *

if not TYPE_CHECKING:  # type checkers follow the imports above
    __all__ = sorted(name for name, value in globals().items() if callable(value))
