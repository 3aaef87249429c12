"""Linear algebra on matrices and stacks of matrices; imported as `minigrad.linalg`."""

from minigrad.ops.linalg.chains import matrix_power, multi_dot
from minigrad.ops.linalg.determinants import det, slogdet
from minigrad.ops.linalg.factors import cholesky, qr
from minigrad.ops.linalg.least_squares import lstsq, pinv
from minigrad.ops.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from minigrad.ops.linalg.solving import inv, solve
from minigrad.ops.linalg.spectra import eigh, eigvalsh, svd, svdvals

__all__ = [
    "cholesky", "cond", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_norm", "matrix_power",
    "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "vector_norm",
]  # fmt: skip
