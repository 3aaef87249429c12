"""`lucid.nn.utils`: PyTorch's, with what it has for packed sequences."""

from minigrad.torch.nn.utils import *
from minigrad.torch.nn.utils.rnn import *
