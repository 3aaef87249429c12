"""`lucid.nn.functional`: PyTorch's functions with Lucid 3's arguments."""

from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import lines as _lines
from minigrad.lucid.build import missing as _missing
from minigrad.lucid.table import FUNCTIONAL as _FUNCTIONAL
from minigrad.torch.nn import functional as _F

globals().update(_exported(_F))
globals().update(_lines(_FUNCTIONAL, {"F": _F}, __name__))
__getattr__ = _missing(__name__, _F)
