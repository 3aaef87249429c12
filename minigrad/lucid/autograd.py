"""`lucid.autograd`: minigrad's, with the transforms of `minigrad.autograd.functional`."""

from minigrad.autograd import *
from minigrad.autograd.functional import *
