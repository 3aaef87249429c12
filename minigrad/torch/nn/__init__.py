"""`torch.nn`: modules, layers and losses as PyTorch means them."""

from minigrad.torch.nn import functional as functional
from minigrad.torch.nn import init as init
from minigrad.torch.nn import parameter as parameter
from minigrad.torch.nn import utils as utils
from minigrad.torch.nn.classes import CLASSES as _CLASSES

globals().update(_CLASSES)
