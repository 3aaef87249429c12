"""An encoder layer.

Attention and a feed-forward network, each with a residual connection and a layer normalization.
Follow the thick lines: a residual connection sends its gradient on unchanged, and the two shares
meet where the connection began.
"""

import minigrad
from minigrad import nn, viz

minigrad.random.seed(0)
layer = nn.TransformerEncoderLayer(d_model=8, num_heads=2, dim_feedforward=16, dropout=0.0)
x = minigrad.randn(1, 4, 8)  # (batch, length, width)

viz.explore(layer, x, open=["self_attn"], path="encoder_layer.html")
