"""Multi-head attention.

Self-attention with two heads on a sequence of three positions. Attention is one fused op; here it
is open, so that each op inside has a step. At the step of softmax the page shows who attends to
whom, the formula of the rule and one entry in numbers.
"""

import minigrad
from minigrad import nn, viz

minigrad.random.seed(0)
attention = nn.MultiHeadAttention(8, 2)
x = minigrad.randn(1, 3, 8)  # (batch, length, width)

viz.explore(attention, x, x, x, open=["attention"], path="multi_head_attention.html")
