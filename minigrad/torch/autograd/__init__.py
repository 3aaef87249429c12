"""`torch.autograd`: gradients on request, custom functions, and switches."""

from minigrad.autograd import *
from minigrad.torch.autograd import functional as functional
from minigrad.torch.autograd import graph as graph
