"""`lucid.nn.init`: PyTorch's, also under names without the last underscore."""

from minigrad.torch.nn.init import *

# What Lucid has of its own takes the place of PyTorch's.
# isort: split
from minigrad.torch.nn import init as _init

constant, dirac, eye, orthogonal = _init.constant_, _init.dirac_, _init.eye_, _init.orthogonal_
kaiming_normal, kaiming_uniform = _init.kaiming_normal_, _init.kaiming_uniform_
normal, sparse, uniform = _init.normal_, _init.sparse_, _init.uniform_
xavier_normal, xavier_uniform = _init.xavier_normal_, _init.xavier_uniform_
