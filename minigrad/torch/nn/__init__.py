"""`torch.nn`: modules, layers and losses as PyTorch means them."""

from minigrad.torch.modules import missing as _missing
from minigrad.torch.nn import attention as attention
from minigrad.torch.nn import common_types as common_types
from minigrad.torch.nn import functional as functional
from minigrad.torch.nn import init as init
from minigrad.torch.nn import utils as utils
from minigrad.torch.nn.classes import CLASSES as _CLASSES
from minigrad.torch.nn.layers import HELPERS as _HELPERS
from minigrad.torch.nn.layers import LAYERS as _LAYERS

globals().update({**_CLASSES, **_LAYERS, **_HELPERS})
__getattr__ = _missing(__name__)
