"""`torch.nn.utils`: minigrad's, which has PyTorch's functions."""

from minigrad.nn.utils import *
from minigrad.torch.nn.utils import parametrizations as parametrizations
from minigrad.torch.nn.utils import parametrize as parametrize
from minigrad.torch.nn.utils import prune as prune
from minigrad.torch.nn.utils import rnn as rnn
