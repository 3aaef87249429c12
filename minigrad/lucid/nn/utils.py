"""`lucid.nn.utils`: PyTorch's, with what it has for packed sequences."""
# mypy: disable-error-code="assignment"

from minigrad.torch.nn.utils import *
from minigrad.torch.nn.utils.rnn import *

# What Lucid has of its own takes the place of PyTorch's.
# isort: split
from minigrad.nn import utils as _utils

clip_grad_norm = _utils.clip_grad_norm_
