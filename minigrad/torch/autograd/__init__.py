"""`torch.autograd`: gradients on request, custom functions, and switches."""

from minigrad.autograd import *
