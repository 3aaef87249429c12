"""Linear algebra on matrices and stacks of matrices, under the names of `numpy.linalg`."""

from __future__ import annotations

from minigrad.ops.linalg import (
    cholesky,
    cond,
    det,
    eigh,
    eigvalsh,
    inv,
    lstsq,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    norm,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svdvals,
    vector_norm,
)

__all__ = [
    "cholesky", "cond", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_norm", "matrix_power",
    "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "vector_norm",
]  # fmt: skip
