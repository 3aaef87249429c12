"""Linear algebra on matrices and stacks of matrices, with the meaning of `torch.linalg`."""

from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError as LinAlgError

from minigrad.linalg import factors, norms, products, solving
from minigrad.linalg.factors import *
from minigrad.linalg.norms import *
from minigrad.linalg.products import *
from minigrad.linalg.solving import *

if not TYPE_CHECKING:  # a type checker reads no list that is computed
    __all__ = sorted(
        ["LinAlgError", *factors.__all__, *norms.__all__, *products.__all__, *solving.__all__]
    )
