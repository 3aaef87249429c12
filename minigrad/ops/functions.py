"""The ops that `minigrad.ops` exports; each line takes `__all__` of one file."""

from minigrad.ops.activation import *
from minigrad.ops.casting import *
from minigrad.ops.contractions import *
from minigrad.ops.diagonals import *
from minigrad.ops.elementwise import *
from minigrad.ops.exponentials import *
from minigrad.ops.gamma import *
from minigrad.ops.gathering import *
from minigrad.ops.joining import *
from minigrad.ops.logic import *
from minigrad.ops.probabilities import *
from minigrad.ops.products import *
from minigrad.ops.rearranging import *
from minigrad.ops.reductions import *
from minigrad.ops.scans import *
from minigrad.ops.scattering import *
from minigrad.ops.selection import *
from minigrad.ops.shapes import *
from minigrad.ops.sorting import *
from minigrad.ops.statistics import *
from minigrad.ops.trigonometry import *
