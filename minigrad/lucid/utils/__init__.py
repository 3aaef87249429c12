"""`lucid.utils`."""

from minigrad.lucid.build import missing as _missing
from minigrad.lucid.utils import data as data
from minigrad.torch import utils as _under

__getattr__ = _missing(__name__, _under)
