# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from minigrad.torch.nn import *
from minigrad.torch.nn.modules import activation as activation
from minigrad.torch.nn.modules import batchnorm as batchnorm
from minigrad.torch.nn.modules import channelshuffle as channelshuffle
from minigrad.torch.nn.modules import container as container
from minigrad.torch.nn.modules import conv as conv
from minigrad.torch.nn.modules import distance as distance
from minigrad.torch.nn.modules import dropout as dropout
from minigrad.torch.nn.modules import flatten as flatten
from minigrad.torch.nn.modules import fold as fold
from minigrad.torch.nn.modules import instancenorm as instancenorm
from minigrad.torch.nn.modules import lazy as lazy
from minigrad.torch.nn.modules import linear as linear
from minigrad.torch.nn.modules import loss as loss
from minigrad.torch.nn.modules import module as module
from minigrad.torch.nn.modules import normalization as normalization
from minigrad.torch.nn.modules import padding as padding
from minigrad.torch.nn.modules import pixelshuffle as pixelshuffle
from minigrad.torch.nn.modules import pooling as pooling
from minigrad.torch.nn.modules import rnn as rnn
from minigrad.torch.nn.modules import sparse as sparse
from minigrad.torch.nn.modules import transformer as transformer
from minigrad.torch.nn.modules import upsampling as upsampling
from minigrad.torch.nn.modules import utils as utils
