"""PyTorch's functions: its names, order, defaults and results, a file a family.

An op (`minigrad.ops`) computes on arrays and has a rule; its words are NumPy's. A function here
says in PyTorch's words what ops compute. `minigrad.tensors.methods` makes methods of them.
"""

from typing import TYPE_CHECKING

from minigrad.tensors.functions import (
    arithmetic,
    elementwise,
    indexing,
    ordering,
    products,
    questions,
    reductions,
    scans,
    shapes,
)
from minigrad.tensors.functions.arithmetic import *
from minigrad.tensors.functions.elementwise import *
from minigrad.tensors.functions.indexing import *
from minigrad.tensors.functions.ordering import *
from minigrad.tensors.functions.products import *
from minigrad.tensors.functions.questions import *
from minigrad.tensors.functions.reductions import *
from minigrad.tensors.functions.scans import *
from minigrad.tensors.functions.shapes import *

_FAMILIES = (
    arithmetic, elementwise, indexing, ordering, products, questions, reductions, scans, shapes,
)  # fmt: skip
_METHODS = {"expand", "expand_as", "repeat", "reshape_as", "sum_to_size", "unfold", "view_as"}
"""Functions that PyTorch has as methods only; the last name is another function there."""

if not TYPE_CHECKING:  # a type checker reads no list that is computed
    __all__ = [name for family in _FAMILIES for name in family.__all__ if name not in _METHODS]
