"""What functions of linear algebra return: named tuples, which print as PyTorch's."""

from collections import namedtuple
from typing import NamedTuple

from minigrad.autograd.dtype_class import printed_as
from minigrad.autograd.typing import Tensor

CholeskyExResult = namedtuple("CholeskyExResult", "L info")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
InvExResult = namedtuple("InvExResult", "inverse info")
LstsqResult = namedtuple("LstsqResult", "solution residuals rank singular_values")
LUFactorExResult = namedtuple("LUFactorExResult", "LU pivots info")
LUFactorResult = namedtuple("LUFactorResult", "LU pivots")
LUResult = namedtuple("LUResult", "P L U")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SolveExResult = namedtuple("SolveExResult", "result info")
SVDResult = namedtuple("SVDResult", "U S Vh")
UnpackedLU = namedtuple("UnpackedLU", "P L U")


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Tensor
    R: Tensor


for _name, _class in {
    "linalg_cholesky_ex": CholeskyExResult, "linalg_eigh": EighResult,
    "linalg_inv_ex": InvExResult, "linalg_lstsq": LstsqResult, "linalg_lu": LUResult,
    "linalg_lu_factor": LUFactorResult, "linalg_lu_factor_ex": LUFactorExResult,
    "linalg_qr": QRResult, "linalg_slogdet": SlogdetResult, "linalg_solve_ex": SolveExResult,
    "linalg_svd": SVDResult, "lu_unpack": UnpackedLU,
}.items():  # fmt: skip
    printed_as(_name)(_class)
