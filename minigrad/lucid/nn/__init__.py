"""`lucid.nn`: PyTorch's modules, some of them with Lucid 3's constructors."""
# mypy: disable-error-code="assignment,no-redef"

from minigrad.lucid.nn import functional as functional
from minigrad.lucid.nn import init as init
from minigrad.lucid.nn import utils as utils
from minigrad.lucid.nn.layers import *
from minigrad.torch.nn import *

# Again: Lucid's own names, which PyTorch's have hidden.
# isort: split
from minigrad.lucid.nn.layers import *
