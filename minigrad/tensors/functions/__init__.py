"""PyTorch's functions: its names, order, defaults and results, a file a family.

An op (`minigrad.ops`) computes on arrays and has a rule; its words are NumPy's. A function here
says in PyTorch's words what ops compute. If its first argument is `input`, it is a method too.
"""

from minigrad.tensors.functions import (
    arithmetic,
    indexing,
    ordering,
    products,
    reductions,
    scans,
    shapes,
)
from minigrad.tensors.functions.arithmetic import *
from minigrad.tensors.functions.indexing import *
from minigrad.tensors.functions.ordering import *
from minigrad.tensors.functions.products import *
from minigrad.tensors.functions.reductions import *
from minigrad.tensors.functions.scans import *
from minigrad.tensors.functions.shapes import *

__all__ = [
    name
    for family in (arithmetic, indexing, ordering, products, reductions, scans, shapes)
    for name in family.__all__
]
