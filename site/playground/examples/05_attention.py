"""Attention.

Go through the steps, forward and backward. Click at a number to see where it comes from.
"""

import minigrad
from minigrad import nn, viz

attention = nn.MultiHeadAttention(embed_dim=8, num_heads=2)
x = minigrad.randn(1, 4, 8)  # one sentence of 4 tokens

viz.explore(attention, x, x, x)
