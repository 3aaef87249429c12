"""The ops, one file for each family. Each op is a plain function with its rules beside it.

An argument that a docstring does not describe, such as `x`, is a tensor, an array or a number.
`functions` collects the ops that `minigrad` exports. Operators and layers use the others.
"""

from types import FunctionType as _FunctionType

from minigrad.ops.batch_normalization import *
from minigrad.ops.convolutions import *
from minigrad.ops.dot_product_attention import *
from minigrad.ops.indexing import *
from minigrad.ops.loss import *
from minigrad.ops.normalization import *
from minigrad.ops.pooling import *
from minigrad.ops.products import linear as linear
from minigrad.ops.random_masks import *
from minigrad.ops.recurrence import *

# Last: importing a submodule later would hide the function of the same name, such as `norm`.
# isort: split
from minigrad.ops.functions import *

__all__ = sorted(name for name, value in globals().items() if isinstance(value, _FunctionType))
