"""`lucid.distributions`: as in PyTorch's door."""

from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import missing as _missing
from minigrad.torch import distributions as _under

globals().update(_exported(_under))
__getattr__ = _missing(__name__, _under)
