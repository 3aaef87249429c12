"""PyTorch's functions: its names, order, defaults and results, a file a family.

An op (`minigrad.ops`) computes on arrays and has a rule; its words are NumPy's. A function here
says in PyTorch's words what ops compute. `minigrad.tensors.methods` makes methods of them.
"""

from typing import TYPE_CHECKING

from minigrad.tensors.functions.arithmetic import *
from minigrad.tensors.functions.indexing import *
from minigrad.tensors.functions.ordering import *
from minigrad.tensors.functions.plain_ops import *
from minigrad.tensors.functions.products import *
from minigrad.tensors.functions.questions import *
from minigrad.tensors.functions.reductions import *
from minigrad.tensors.functions.scans import *
from minigrad.tensors.functions.shapes import *

if not TYPE_CHECKING:  # a type checker reads no list that is computed
    __all__ = [name for name, value in globals().items() if callable(value)]
