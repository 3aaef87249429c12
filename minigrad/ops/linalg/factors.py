"""Triangular factors: cholesky and qr."""

from __future__ import annotations

from bisect import bisect
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import constant, shape_of, within_rule
from minigrad.ops.linalg._matrices import (
    mT,
    no_matrix,
    no_square,
    recorded,
    resolution,
    unless,
    which,
    wide,
)
from minigrad.ops.linalg.solving import solve
from minigrad.support.checks import check_choice

__all__ = ["cholesky", "qr"]


def _cannot_factor(x: Any, upper: bool) -> str | None:
    if no_square(x):
        return no_square(x)
    stack = wide(x).reshape(-1, *x.shape[-2:])
    bad = [indefinite_order(matrix, upper) > 0 for matrix in stack]
    return (
        f"{which(np.reshape(bad, x.shape[:-2]))} is not positive definite (shape {x.shape}); if it "
        f"should be but for rounding, add a small multiple of the identity"
    )


def indefinite_order(matrix: np.ndarray, upper: bool) -> int:
    """The order of the first leading block that is not positive definite; 0 if all of them are."""
    if _is_definite(matrix, upper):
        return 0
    orders = range(1, len(matrix) + 1)  # a block around one that is not positive definite is not
    return 1 + bisect(orders, False, key=lambda n: not _is_definite(matrix[:n, :n], upper))


def _is_definite(matrix: np.ndarray, upper: bool) -> bool:
    try:
        _factored(matrix, upper)
    except np.linalg.LinAlgError:
        return False
    return True


def _factored(x: np.ndarray, upper: bool) -> np.ndarray:
    found = np.linalg.cholesky(wide(x), upper=upper)
    if np.isnan(found).any():  # LAPACK passes over some NaN
        raise np.linalg.LinAlgError("LAPACK failed")
    return found


@primitive(arrays=1, float_inputs=True, explain_error=_cannot_factor)
def _cholesky(x: Any, upper: bool) -> Any:
    return _factored(x, upper).astype(x.dtype, copy=False)


def cholesky(A: Any, *, upper: bool = False) -> Tensor:
    """Compute the triangular factor of a symmetric positive definite matrix, or of each in a stack.

    Only the lower triangle of `A` is read (the upper one with ``upper=True``); symmetry is not
    checked. The gradient is symmetric, as in PyTorch: it is the gradient for symmetric changes of
    `A`, shared evenly between the two triangles.

    Args:
        A: Shape (..., n, n).
        upper: Whether to return the upper factor.

    Returns:
        Shape (..., n, n): a lower triangular `l` with ``A = l lᵀ``, or an upper `u` with
        ``A = uᵀ u``.

    Raises:
        numpy.linalg.LinAlgError: A matrix is not positive definite, holds NaN in the triangle that
        is read, or is not square.

    Source: Murray 2016, "Differentiation of the Cholesky decomposition", arXiv:1602.07527.

    Example:
        >>> import minigrad
        >>> minigrad.linalg.cholesky(minigrad.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
        [[2.0, 0.0], [1.0, 2.0]]
    """
    return _cholesky(A, upper)


def _cholesky_x(g: Any, out: Any, upper: bool) -> Any:
    """``l⁻ᵀ s l⁻¹``, where s is ``lᵀ g`` with its lower triangle mirrored, and halved."""
    if upper:
        g, out = mT(g), mT(out)
    n = out.shape[-1]
    half = (mT(out) @ g) * (np.tri(n, dtype=g.dtype) - 0.5 * np.eye(n, dtype=g.dtype))
    s = 0.5 * (half + mT(half))
    return within_rule(solve, mT(out), mT(within_rule(solve, mT(out), s)))


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Tensor
    R: Tensor


@primitive(
    multiple_outputs=True, arrays=1, float_inputs=True, promote=("x",), explain_error=no_matrix
)
def _qr(x: Any, mode: str) -> Any:
    q, r = np.linalg.qr(wide(x), mode)  # type: ignore[call-overload]
    return q.astype(x.dtype, copy=False), r.astype(x.dtype, copy=False)


def qr(x: Any, mode: str = "reduced") -> Any:
    """Compute the QR decomposition of a matrix, or of each in a stack.

    `minigrad.linalg.qr` says more, and has PyTorch's arguments; these are NumPy's.
    """
    check_choice("qr", "mode", mode, ("reduced", "r", "complete"))
    shape = shape_of(x)
    longer = mode == "complete" and len(shape) > 1 and shape[-2] > shape[-1]
    if longer and recorded(x):
        raise TypeError(
            f"qr: mode='complete' has no derivative for shape {shape}: the last columns of Q are "
            f"an arbitrary basis of a null space; use mode='reduced', or pass .detach()"
        )
    q, r = _qr(x, "complete" if mode == "complete" else "reduced")
    return r if mode == "r" else QRResult(q, r)


def _qr_x(g: Any, out: Any) -> Any:
    """``(g_q + q s) r⁻ᵀ``, where s is ``r g_rᵀ - g_qᵀ q`` with its lower triangle mirrored.

    For a wide matrix ``(y, z) = q (u, v)``, only y = q u is factored, and v = qᵀ z.
    """
    (grad_q, grad_r), (q, r) = g, out
    k, n = r.shape[-2:]
    touched = (constant(grad_q) != 0).any((-2, -1)) | (constant(grad_r) != 0).any((-2, -1))
    grad_v, v = grad_r[..., k:], r[..., k:]
    grad_q = grad_q + q @ (v @ mT(grad_v))
    grad_r, r = grad_r[..., :k], r[..., :k]
    pivots = np.abs(np.diagonal(constant(r), axis1=-2, axis2=-1))
    bad = (pivots <= resolution(pivots, max(q.shape[-2], n))).any(-1)
    q = unless(
        q, bad & touched,
        f"qr: the first {k} columns of {{which}} are linearly dependent, so Q is not determined "
        f"and has no derivative",
    )  # fmt: skip
    if isinstance(bad, Variable) or bad.any():
        r = np.where(bad[..., None, None], np.eye(k, dtype=r.dtype), r)
    product = r @ mT(grad_r) - mT(grad_q) @ q
    lower = np.tri(k, dtype=product.dtype)
    s = product * lower + mT(product * (lower - np.eye(k, dtype=product.dtype)))
    found = mT(within_rule(solve, r, mT(grad_q + q @ s)))
    return np.concatenate([found, q @ grad_v], axis=-1)


_cholesky.defvjp(x=_cholesky_x)
_qr.defvjp(x=_qr_x)
