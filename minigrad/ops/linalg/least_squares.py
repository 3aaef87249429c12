"""Least squares: pinv and lstsq."""

from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.ops import reductions
from minigrad.ops._numerics import shape_of
from minigrad.ops.elementwise import square, subtract
from minigrad.ops.indexing import getitem
from minigrad.ops.linalg._matrices import mT, no_matrix, not_finite, wide
from minigrad.ops.linalg.norms import matrix_rank
from minigrad.ops.linalg.spectra import svdvals
from minigrad.ops.products import matmul
from minigrad.ops.shapes import ravel

__all__ = ["lstsq", "pinv"]


@primitive(numpy=np.linalg.pinv, arrays=1, float_inputs=True)
def pinv(x: Any, rtol: Any = None) -> Any:
    """Compute the pseudo-inverse of Moore and Penrose, of a matrix or of each in a stack.

    `minigrad.linalg.pinv` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if reason := no_matrix(x) or not_finite(x):
        raise np.linalg.LinAlgError(reason)
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    if (np.asarray(rtol) < 0).any():
        raise ArgumentError(f"rtol must be at least 0, got {rtol!r}")
    return np.linalg.pinv(wide(x), rcond=rtol).astype(x.dtype, copy=False)


def _pinv_x(g: Any, x: Any, out: Any) -> Any:
    p, q, h = out, mT(out), mT(g)
    left = h - x @ (p @ h)  # (1 - x p) gᵀ
    right = h - (h @ p) @ x  # gᵀ (1 - p x)
    return left @ (p @ q) + (q @ p) @ right - q @ g @ q


class LstsqResult(NamedTuple):
    """The result of `lstsq`."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


def lstsq(a: Any, b: Any, rcond: float | None = None) -> LstsqResult:
    """Compute the least-squares solution of ``a @ x = b``, of several the one with the least norm.

    `minigrad.linalg.lstsq` says more, and has PyTorch's arguments; these are NumPy's.
    """
    left, right = shape_of(a), shape_of(b)
    if len(left) != 2 or len(right) not in (1, 2) or left[0] != right[0]:
        raise ValueError(
            f"lstsq: a of shape (m, n) and b of shape (m,) or (m, k) expected, got {left} and "
            f"{right}"
        )
    solution = matmul(pinv(a, rcond), b)
    rank = matrix_rank(a, rtol=rcond)
    if left[1] == int(rank) < left[0]:
        squares = square(subtract(matmul(a, solution), b))
        residuals = ravel(reductions.sum(squares, axis=0))
    else:
        residuals = getitem(ravel(solution), slice(0))
    return LstsqResult(solution, residuals, rank, svdvals(a))


pinv.defvjp(x=_pinv_x)
