"""`lucid.utils`."""

from minigrad.autograd import checkpoint as checkpoint
from minigrad.lucid.utils import data as data
