"""`lucid.nn.utils`: as in PyTorch's door, and two of Lucid 3's names."""

from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import missing as _missing
from minigrad.torch.nn import utils as _under
from minigrad.torch.nn.utils import rnn as rnn

globals().update(_exported(_under))
globals().update(_exported(rnn))
clip_grad_norm = globals()["clip_grad_norm_"]
__getattr__ = _missing(__name__, _under)
