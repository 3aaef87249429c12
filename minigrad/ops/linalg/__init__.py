"""Linear algebra in NumPy's words; `minigrad.linalg` has PyTorch's."""

from minigrad.ops.linalg import (
    chains,
    determinants,
    factors,
    least_squares,
    norms,
    solving,
    spectra,
)
from minigrad.ops.linalg.chains import *
from minigrad.ops.linalg.determinants import *
from minigrad.ops.linalg.factors import *
from minigrad.ops.linalg.least_squares import *
from minigrad.ops.linalg.norms import *
from minigrad.ops.linalg.solving import *
from minigrad.ops.linalg.spectra import *

_FAMILIES = (chains, determinants, factors, least_squares, norms, solving, spectra)

__all__ = sorted(name for family in _FAMILIES for name in family.__all__)
