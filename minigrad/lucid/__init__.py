"""Lucid 3's meaning: ``import minigrad.lucid as lucid``.

Lucid 3 means what PyTorch means, so this door stands on `minigrad.torch`. Where Lucid 3 has names,
defaults or orders of its own, they are here; what is not here is refused in a sentence. Lucid 2's
names are those of `minigrad` itself.
"""

from minigrad import io as _io
from minigrad import torch as _torch
from minigrad.lucid import amp as amp
from minigrad.lucid import autograd as autograd
from minigrad.lucid import distributions as distributions
from minigrad.lucid import linalg as linalg
from minigrad.lucid import nn as nn
from minigrad.lucid import optim as optim
from minigrad.lucid import special as special
from minigrad.lucid import utils as utils
from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import lines as _lines
from minigrad.lucid.build import missing as _missing
from minigrad.lucid.table import FUNCTIONS as _FUNCTIONS
from minigrad.lucid.table import METHODS as _METHODS
from minigrad.lucid.tensor import Tensor as Tensor

__version__ = "3.8.0"

globals().update(_exported(_torch))
_names = {"T": _torch, "F": _torch.nn.functional, "Tensor": Tensor, "io": _io}
_own = _lines(_FUNCTIONS, _names, __name__)
globals().update(_own)
for _name in _METHODS.split():
    setattr(Tensor, _name, _own[_name])

bool_ = _torch.bool
__getattr__ = _missing(__name__, _torch)
