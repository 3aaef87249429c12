"""`lucid.autograd`: PyTorch's, with what it has in modules below."""

from minigrad.torch.autograd import *
from minigrad.torch.autograd.functional import *
from minigrad.torch.utils.checkpoint import checkpoint as checkpoint
