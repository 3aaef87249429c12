"""`torch.autograd.graph`: reading a graph, and what ops save for the backward pass."""

from minigrad.autograd.graph import *
