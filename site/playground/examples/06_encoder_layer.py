"""An encoder layer.

Its parts: attention, a feed-forward network, two normalizations, and two residual connections.
"""

import minigrad
from minigrad import nn, viz

layer = nn.TransformerEncoderLayer(d_model=8, num_heads=2, dim_feedforward=16)
x = minigrad.randn(1, 4, 8)
print(layer)
print(sum(parameter.numel() for parameter in layer.parameters()), "parameters")

viz.explore(layer, x)
