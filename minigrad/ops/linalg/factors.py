"""Factors of matrices: triangular ones, eigenvalues and singular values with their vectors."""

from __future__ import annotations

import functools
import operator
from bisect import bisect
from typing import Any, Literal, NoReturn

import numpy as np

from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import constant, shape_of, widened, within_rule
from minigrad.ops.linalg._matrices import (
    computed,
    mT,
    no_matrix,
    no_square,
    recorded,
    resolution,
    unless,
    which,
)
from minigrad.ops.linalg.results import EighResult, QRResult, SVDResult
from minigrad.ops.linalg.solving import solve
from minigrad.support.checks import check_choice

__all__ = ["cholesky", "eigh", "eigvalsh", "qr", "svd", "svdvals"]


def _cannot_factor(x: Any, upper: bool) -> str | None:
    if no_square(x):
        return no_square(x)
    stack = widened(x).reshape(-1, *x.shape[-2:])
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
    found = np.linalg.cholesky(widened(x), upper=upper)
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


@primitive(
    multiple_outputs=True, arrays=1, float_inputs=True, promote=("x",), explain_error=no_matrix
)
def _qr(x: Any, mode: str) -> Any:
    q, r = np.linalg.qr(widened(x), mode)  # type: ignore[call-overload]
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


def _inverse_gaps(op: str, values: Any, size: int, *turns: Any) -> Any:
    """``1 / (values[j] - values[i])`` at (i, j); 0 on the diagonal and for equal values.

    From shape (..., k) to (..., k, k). An error says if a cotangent for vectors of equal values is
    not 0: `turns` are those of rotations between pairs of vectors; `size` is the matrix's longer
    side.
    """
    gaps = values[..., None, :] - values[..., :, None]
    known = constant(values)
    close = np.abs(constant(gaps)) <= resolution(known, size)[..., None]
    inverse = ~close / np.where(close, 1, gaps)
    equal = close & ~np.eye(known.shape[-1], dtype=bool)
    of_samples = isinstance(equal, Variable)  # whose other values nobody knows
    if of_samples or equal.any():
        turned = [constant(turn) != 0 for turn in turns]
        clash = equal & functools.reduce(operator.or_, [*turned, *map(mT, turned)])
        if of_samples:
            return np.where(clash, np.nan, inverse)
        if clash.any():
            _refuse_equal(op, known, clash)
    return inverse


def _refuse_equal(op: str, values: np.ndarray, clash: np.ndarray) -> NoReturn:
    place = tuple(np.argwhere(clash)[0].tolist())
    i, j = place[-2:]
    one, other = (values[(*place[:-2], index)] for index in (i, j))
    kind, alone = ("eigenvalues", "eigvalsh") if op == "eigh" else ("singular values", "svdvals")
    raise np.linalg.LinAlgError(
        f"{op}: {kind} {i} and {j} of {which(clash.any((-2, -1)))} are equal to rounding "
        f"({one:.9g} and {other:.9g}), so their vectors are any basis of a plane and have no "
        f"derivative; {alone} gives the values alone: their first derivative needs no vectors, a "
        f"second one does"
    )


def _no_spectrum(x: Any, UPLO: Literal["L", "U"]) -> str | None:
    if no_square(x):
        return no_square(x)
    if str(UPLO).upper() not in ("L", "U"):
        return f'UPLO must be "L" or "U", got {UPLO!r}'
    return f"{which(~np.isfinite(x).all((-2, -1)))}: the algorithm did not converge"


@primitive(
    multiple_outputs=True, arrays=1, float_inputs=True, promote=("x",), explain_error=_no_spectrum
)
def _eigh(x: Any, UPLO: Literal["L", "U"]) -> Any:
    values, vectors = computed(np.linalg.eigh(widened(x), UPLO))
    return values.astype(x.dtype, copy=False), vectors.astype(x.dtype, copy=False)


def eigh(A: Any, UPLO: Literal["L", "U"] = "L") -> EighResult:
    """Compute the eigenvalues and eigenvectors of a symmetric matrix, or of each in a stack.

    Only one triangle of `A` is read; symmetry is not checked. The gradient is symmetric: it is the
    gradient for symmetric changes of `A`, shared evenly between the two triangles.

    The eigenvectors of equal eigenvalues are not unique. A nonzero gradient that reaches them is an
    error; if it is exactly 0, they count as not used. Equal eigenvalues still have gradients, which
    are correct for every function that treats them alike. Second derivatives involve all
    eigenvectors, so for them equal eigenvalues are an error.

    Args:
        A: Shape (..., n, n).
        UPLO: The triangle to read, "L" or "U".

    Returns:
        `eigenvalues` of shape (..., n) in ascending order, and `eigenvectors` of shape (..., n, n),
        one a column. A loss should not depend on their signs.

    Raises:
        numpy.linalg.LinAlgError: `A` is not square, or the algorithm did not converge.
        ValueError: `UPLO` is neither.

    Source: Giles 2008, "An extended collection of matrix derivative results for forward and reverse
    mode algorithmic differentiation", section 3.1.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[2.0, 1.0], [1.0, 2.0]])
        >>> minigrad.linalg.eigh(x).eigenvalues.numpy().round(4).tolist()
        [1.0, 3.0]
    """
    return EighResult(*_eigh(A, UPLO))


def _eigh_x(g: Any, out: Any) -> Any:
    (grad_values, grad_vectors), (values, vectors) = g, out
    turn = mT(vectors) @ grad_vectors
    turned = (turn - mT(turn)) * _inverse_gaps("eigh", values, values.shape[-1], turn) * 0.5
    return (vectors * grad_values[..., None, :] + vectors @ turned) @ mT(vectors)


@primitive(numpy=np.linalg.eigvalsh, arrays=1, float_inputs=True, explain_error=_no_spectrum)
def eigvalsh(x: Any, UPLO: Literal["L", "U"] = "L") -> Any:
    """Compute the eigenvalues of a symmetric matrix, or of each in a stack, in ascending order.

    One triangle is read, and the gradient is symmetric; arguments and errors are as for `eigh`. For
    equal eigenvalues, the gradient is correct for every function that treats them alike, such as
    sums and norms.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[2.0, 1.0], [1.0, 2.0]])
        >>> minigrad.linalg.eigvalsh(x).numpy().round(4).tolist()
        [1.0, 3.0]
    """
    return computed(np.linalg.eigvalsh(widened(x), UPLO)).astype(x.dtype, copy=False)


def _eigvalsh_x(g: Any, x: Any, UPLO: Literal["L", "U"]) -> Any:
    _, vectors = within_rule(_eigh, x, UPLO)
    return (vectors * g[..., None, :]) @ mT(vectors)


def _no_singular_values(x: Any, *_: Any) -> str | None:
    return no_matrix(x) or (
        f"{which(~np.isfinite(x).all((-2, -1)))}: the algorithm did not converge; NaN or infinity "
        f"among the elements is the usual reason"
    )


@primitive(
    multiple_outputs=True, arrays=1, float_inputs=True, promote=("x",),
    explain_error=_no_singular_values,
)  # fmt: skip
def _svd(x: Any, full: bool) -> Any:
    parts = computed(np.linalg.svd(widened(x), full_matrices=full))
    return tuple(part.astype(x.dtype, copy=False) for part in parts)


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Compute the singular values and vectors of a matrix, or of each in a stack: U diag(S) Vh.

    `minigrad.linalg.svd` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if not compute_uv:
        return svdvals(x)
    shape = shape_of(x)
    longer = full_matrices and len(shape) > 1 and shape[-1] != shape[-2]
    if longer and recorded(x):
        raise TypeError(
            f"svd: full_matrices=True has no derivative for shape {shape}: the extra vectors are "
            f"an arbitrary basis of a null space; pass full_matrices=False, or .detach()"
        )
    return SVDResult(*_svd(x, full_matrices))


def _svd_x(g: Any, out: Any) -> Any:
    (grad_u, grad_s, grad_vh), (u, s, vh) = g, out
    m, n = u.shape[-2], vh.shape[-1]
    grad_v, v = mT(grad_vh), mT(vh)
    turn_u, turn_v = mT(u) @ grad_u, vh @ grad_v
    gaps = _inverse_gaps("svd", s, max(m, n), turn_u, turn_v)
    zero = constant(s) <= resolution(constant(s), max(m, n))
    sums = s[..., None, :] + s[..., :, None]
    # 1 / (s_j² - s_i²); the sum is zero only where the difference is, so nothing is lost.
    inverse = gaps / np.where(constant(sums) == 0, 1, sums)
    inner = (turn_u - mT(turn_u)) * inverse * s[..., None, :]
    inner = inner + (turn_v - mT(turn_v)) * inverse * s[..., :, None]
    # As with abs, the slope of a singular value at 0 is 0.
    found = (u * (grad_s * (constant(s) != 0))[..., None, :] + u @ inner) @ vh
    if m == n:
        return found
    beside = constant(grad_u if m > n else grad_v)
    found = unless(
        found, (zero & (beside != 0).any(-2)).any(-1),
        f"svd: a singular value of {{which}} is 0 to rounding, so its vector in the longer of the "
        f"spaces ({m} and {n}) is not determined and has no derivative; svdvals has one",
    )  # fmt: skip
    scale = np.where(zero, 1, s)[..., None, :]
    if m > n:
        return found + ((grad_u - u @ turn_u) / scale) @ vh
    return found + (u / scale) @ mT(grad_v - v @ turn_v)


@primitive(numpy=np.linalg.svdvals, float_inputs=True, explain_error=_no_singular_values)
def svdvals(x: Any) -> Any:
    """Compute the singular values of a matrix, or of each in a stack, in descending order.

    For equal values, the gradient is correct for every function that treats them alike, such as
    sums and norms; at 0 the slope is 0.

    Raises:
        numpy.linalg.LinAlgError: `x` is not a matrix, or the algorithm did not converge.

    Example:
        >>> import minigrad
        >>> values = minigrad.linalg.svdvals(minigrad.tensor([[3.0, 0.0], [0.0, -4.0]]))
        >>> values.numpy().round(4).tolist()
        [4.0, 3.0]
    """
    return computed(np.linalg.svd(widened(x), compute_uv=False)).astype(x.dtype, copy=False)


def _svdvals_x(g: Any, x: Any) -> Any:
    u, s, vh = within_rule(_svd, x, False)
    return (u * (g * (constant(s) != 0))[..., None, :]) @ vh


_eigh.defvjp(x=_eigh_x)
eigvalsh.defvjp(x=_eigvalsh_x)
_svd.defvjp(x=_svd_x)
svdvals.defvjp(x=_svdvals_x)
