"""Linear algebra in NumPy's words; `minigrad.linalg` has PyTorch's."""

from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING

from minigrad.ops.linalg.chains import *
from minigrad.ops.linalg.factors import *
from minigrad.ops.linalg.lu import *
from minigrad.ops.linalg.norms import *
from minigrad.ops.linalg.solving import *

if not TYPE_CHECKING:  # a type checker reads no list that is computed
    __all__ = sorted(name for name, value in globals().items() if isinstance(value, _FunctionType))
