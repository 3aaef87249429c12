"""Lucid 3's meaning: ``import minigrad.lucid as lucid``.

Lucid 3 means what PyTorch means, and so does minigrad. Where Lucid 3 has names, defaults, orders or
results of its own, its functions, layers and optimizers are here; other names are refused in a
sentence. A tensor is minigrad's, with its methods. Lucid 2's names are those of `minigrad` itself.
"""
# mypy: disable-error-code="assignment,no-redef"

import sys as _sys

from minigrad.lucid import amp as amp
from minigrad.lucid import autograd as autograd
from minigrad.lucid import distributions as distributions
from minigrad.lucid import func as func
from minigrad.lucid import linalg as linalg
from minigrad.lucid import nn as nn
from minigrad.lucid import optim as optim
from minigrad.lucid import special as special
from minigrad.lucid import utils as utils
from minigrad.lucid.absent import missing as _missing
from minigrad.lucid.functions import *
from minigrad.torch import *

# Again: Lucid's own names, which PyTorch's have hidden; so have its modules, below.
# isort: split
from minigrad.lucid.functions import *

__version__ = "3.8.0"

for _name, _module in [*_sys.modules.items()]:
    if f"{_name}.".startswith(f"{__name__}."):
        _parent, _, _last = _name.rpartition(".")
        setattr(_sys.modules[_parent], _last, _module)
        setattr(_module, "__getattr__", _missing(_name))  # noqa: B010
