"""Linear algebra in NumPy's words; `minigrad.linalg` has PyTorch's."""

from types import FunctionType as _FunctionType

from minigrad.ops.linalg.chains import *
from minigrad.ops.linalg.determinants import *
from minigrad.ops.linalg.factors import *
from minigrad.ops.linalg.norms import *
from minigrad.ops.linalg.solving import *
from minigrad.ops.linalg.spectra import *

__all__ = sorted(name for name, value in globals().items() if isinstance(value, _FunctionType))
