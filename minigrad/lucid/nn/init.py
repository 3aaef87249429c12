"""`lucid.nn.init`: PyTorch's functions, which Lucid 3 has without an underscore too."""

from minigrad.lucid.build import missing as _missing
from minigrad.torch.nn import init as _init
from minigrad.torch.nn.init import *

constant, dirac, eye = _init.constant_, _init.dirac_, _init.eye_
normal, orthogonal, sparse, uniform = (
    _init.normal_, _init.orthogonal_, _init.sparse_, _init.uniform_,
)  # fmt: skip
kaiming_normal, kaiming_uniform = _init.kaiming_normal_, _init.kaiming_uniform_
xavier_normal, xavier_uniform = _init.xavier_normal_, _init.xavier_uniform_
__getattr__ = _missing(__name__, _init)
