"""Linear algebra on matrices and stacks of matrices, with the meaning of `torch.linalg`."""

from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError as LinAlgError

from minigrad.linalg import matrices, solving
from minigrad.ops import linalg as ops
from minigrad.ops import matmul as matmul
from minigrad.ops.argument_errors import checked as _checked

# mypy believes the first of two stars, Python the last: so what is not NumPy's stands twice.
from minigrad.linalg.matrices import *  # isort: skip
from minigrad.linalg.solving import *  # isort: skip
from minigrad.ops.linalg import *  # type: ignore[assignment]  # isort: skip
from minigrad.linalg.matrices import *  # isort: skip
from minigrad.linalg.solving import *  # isort: skip

_TAKE_OUT = """
cholesky cholesky_ex cond eigh inv_ex lu lu_factor lu_factor_ex lu_solve matrix_power matrix_rank
multi_dot pinv qr slogdet solve solve_ex solve_triangular svd tensorinv tensorsolve
"""
"""The functions with PyTorch's keyword `out`; the others have it already."""

if not TYPE_CHECKING:  # a type checker reads no list that is computed
    __all__ = sorted({"LinAlgError", "matmul", *ops.__all__, *matrices.__all__, *solving.__all__})
    for _name in _TAKE_OUT.split():
        globals()[_name] = _checked(globals()[_name])
        globals()[_name].__module__ = __name__
