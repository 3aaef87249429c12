"""Determinants, factors, eigenvalues and singular values of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.call import leaf_of
from minigrad.ops._numerics import values_of
from minigrad.ops.linalg import (
    cholesky,
    det,
    eigh,
    eigvalsh,
    factors,
    slogdet,
    spectra,
    svdvals,
)
from minigrad.ops.linalg._matrices import no_square
from minigrad.ops.linalg.factors import QRResult
from minigrad.ops.linalg.spectra import SVDResult

__all__ = [
    "cholesky", "cholesky_ex", "det", "eigh", "eigvalsh", "qr", "slogdet", "svd", "svdvals",
]  # fmt: skip


class CholeskyExResult(NamedTuple):
    """The result of `cholesky_ex`."""

    L: Any
    info: Any


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> CholeskyExResult:
    """Compute the Cholesky factor, and say which matrices have none.

    Args:
        A: Shape (..., n, n); see `cholesky`.
        upper: Whether to return the upper factor.
        check_errors: Whether a matrix without a factor is an error.

    Returns:
        `L`, which is NaN for a matrix without a factor, and `info` of shape (...): 0, or the order
        of the first leading block that is not positive definite.

    Source: PyTorch 2.13, "torch.linalg.cholesky_ex".

    Example:
        >>> import minigrad
        >>> minigrad.linalg.cholesky_ex(minigrad.tensor([[1.0, 2.0], [2.0, 1.0]])).info.item()
        2
    """
    array = np.asarray(values_of(A))
    info = np.zeros(array.shape[:-2], np.int32)
    try:
        return CholeskyExResult(cholesky(A, upper=upper), leaf_of(info, False))
    except np.linalg.LinAlgError:
        if check_errors or no_square(array):
            raise
    for place in np.ndindex(info.shape):
        info[place] = factors.indefinite_order(array[place], upper)
    bad = info[..., None, None] != 0
    found = cholesky(ops.where(bad, np.eye(array.shape[-1], dtype=bool), A), upper=upper)
    return CholeskyExResult(ops.where(bad, np.nan, found), leaf_of(info, False))


def qr(A: Any, mode: str = "reduced") -> QRResult:
    """Compute the QR decomposition of a matrix, or of each in a stack.

    For a derivative, the first ``k = min(m, n)`` columns of `A` must be linearly independent. If
    they are not, the columns of Q are not unique, and a gradient that reaches them is an error.

    Args:
        A: Shape (..., m, n).
        mode: "reduced"; "r" for R alone, with an empty Q; "complete" for a square Q, which has no
            derivative if it has more columns than `A`.

    Returns:
        `Q` of shape (..., m, k) and `R` of shape (..., k, n), with ``A = Q R``.

    Raises:
        numpy.linalg.LinAlgError: `A` is not a matrix. TypeError: The mode is "complete", ``m > n``,
        and `A` requires a gradient. ValueError: The mode is unknown.

    Source: PyTorch 2.13, "torch.linalg.qr".

    Example:
        >>> import minigrad
        >>> Q, R = minigrad.linalg.qr(minigrad.tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> minigrad.abs(R).numpy().round(4).tolist()
        [[5.0, 2.2], [0.0, 0.4]]
    """
    found: Any = factors.qr(A, mode)
    return QRResult(leaf_of(np.zeros(0, found.dtype), False), found) if mode == "r" else found


def svd(A: Any, full_matrices: bool = True) -> SVDResult:
    """Compute the singular values and vectors of a matrix, or of each in a stack: U diag(S) Vh.

    The singular vectors of equal singular values are not unique, and neither are those of the
    singular value 0 if the matrix is not square. A nonzero gradient that reaches them is an error;
    if it is exactly 0, they count as not used.

    Args:
        A: Shape (..., m, n).
        full_matrices: Whether U and Vh are square. For a matrix that is not square, only
            ``full_matrices=False`` has a derivative.

    Returns:
        With ``k = min(m, n)``: `U` of shape (..., m, k), `S` of shape (..., k) in descending order,
        `Vh` of shape (..., k, n). With `full_matrices`, (..., m, m) and (..., n, n). A loss should
        not depend on the signs of the columns of U and the rows of Vh.

    Raises:
        numpy.linalg.LinAlgError: `A` is not a matrix, or the algorithm did not converge. TypeError:
        `full_matrices`, ``m != n``, and `A` requires a gradient.

    Source: PyTorch 2.13, "torch.linalg.svd".

    Example:
        >>> import minigrad
        >>> U, S, Vh = minigrad.linalg.svd(minigrad.tensor([[3.0, 0.0], [0.0, -4.0]]))
        >>> S.numpy().round(4).tolist()
        [4.0, 3.0]
    """
    found: SVDResult = spectra.svd(A, full_matrices)
    return found
