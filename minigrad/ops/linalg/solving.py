"""Inverses, systems of linear equations, and determinants.

The derivatives of determinants are also correct for singular matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.engine import detach
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import constant, formula, widened, within_rule
from minigrad.ops.argument_errors import checked
from minigrad.ops.linalg._matrices import FLAGS, holds_nan, mT, no_square, singular, unless, which
from minigrad.ops.linalg.results import SlogdetResult
from minigrad.ops.scans import products_of_others
from minigrad.support.checks import common_shape

__all__ = ["det", "inv", "slogdet", "solve", "solve_triangular"]


def _cannot_invert(x: Any) -> str | None:
    return no_square(x) or (
        f"{which(singular(x))} is singular, so it has no inverse (shape {x.shape}); pinv gives "
        f"the pseudo-inverse"
    )


@primitive(numpy=np.linalg.inv, float_inputs=True, explain_error=_cannot_invert)
def inv(x: Any) -> Any:
    """Compute the inverse of a square matrix, or of each in a stack, of shape (..., n, n).

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular, or not square.

    Example:
        >>> import minigrad
        >>> minigrad.linalg.inv(minigrad.tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    return _despite_nan(np.linalg.inv, widened(x)).astype(x.dtype, copy=False)


def _despite_nan(function: Any, a: np.ndarray, *rest: Any) -> Any:
    """Return NaN for matrices with NaN; LAPACK reports some of them as singular."""
    try:
        if not FLAGS and singular(a).any():
            raise np.linalg.LinAlgError("LAPACK failed")
        return function(a, *rest)
    except np.linalg.LinAlgError:
        bad = np.isnan(a).any((-2, -1), keepdims=True)
        if not bad.any() or no_square(a):
            raise
        a = np.where(bad, np.eye(a.shape[-1]), a)
        return np.where(bad, np.nan, _despite_nan(function, a, *rest))


def _cannot_solve(a: Any, b: Any) -> str | None:
    if no_square(a):
        return no_square(a)
    n, shapes = a.shape[-1], f"a {a.shape} and b {np.shape(b)}"
    if np.shape(b)[-2:-1] != (n,) and np.shape(b) != (n,):
        hint = ""
        if np.ndim(b) > 1 and b.shape[-1] == n:
            hint = "; for a stack of vectors pass b[..., None] and take [..., 0] of the result"
        return f"{shapes}: b must be a vector of length {n}, or (..., {n}, k){hint}"
    return _clash(a, b, shapes) or (
        f"{shapes}: {which(singular(a))} is singular, so there is no one solution; lstsq or pinv "
        f"solve it in the least-squares sense"
    )


def _clash(a: Any, b: Any, shapes: str) -> str | None:
    fits = common_shape(a.shape[:-2], b.shape[:-2]) is not None
    return None if fits else f"{shapes}: the leading axes do not broadcast"


@primitive(numpy=np.linalg.solve, float_inputs=True, explain_error=_cannot_solve)
def solve(a: Any, b: Any) -> Any:
    """Solve ``a @ x = b`` for `x`.

    `minigrad.linalg.solve` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if np.ndim(b) == 1:
        return _solve_columns(a, b[:, None])[..., 0]
    return _solve_columns(a, b)


def _solve_columns(a: np.ndarray, b: Any) -> np.ndarray:
    return _despite_nan(np.linalg.solve, widened(a), widened(b)).astype(a.dtype, copy=False)


def _cannot_solve_triangular(a: Any, b: Any, upper: bool, left: bool, *_: Any) -> str | None:
    if no_square(a):
        return no_square(a)
    shapes, axis = f"a {a.shape} and b {np.shape(b)}", -2 if left else -1
    if np.ndim(b) < 2 or np.shape(b)[axis] != a.shape[-1]:
        return f"{shapes}: b must have two axes or more, and axis {axis} length {a.shape[-1]}"
    zeros = (a.diagonal(0, -2, -1) == 0).any(-1)
    return _clash(a, b, shapes) or (
        f"{shapes}: {which(zeros)} has a 0 on its diagonal, so there is no one solution"
    )


@primitive(float_inputs=True, arrays=2, promote=("a", "b"), explain_error=_cannot_solve_triangular)
def _solve_triangular(a: Any, b: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    if np.ndim(b) < 2:  # NumPy would take a vector
        raise ValueError(f"b must have two axes or more, got shape {np.shape(b)}")
    if not left:
        return mT(_solve_triangular.op.forward(mT(a), mT(b), not upper, True, unitriangular))
    triangle = _triangle(a, upper, unitriangular)
    if unitriangular:
        triangle = triangle + np.eye(a.shape[-1], dtype=a.dtype)
    if upper:
        return _solve_columns(triangle, b)
    # Turned around it is an upper triangle, where LU exchanges no rows: it is substitution.
    return _solve_columns(triangle[..., ::-1, ::-1], b[..., ::-1, :])[..., ::-1, :]


def _triangle(a: Any, upper: bool, unitriangular: bool) -> Any:
    """The part that is read, zeros elsewhere."""
    return np.triu(a, int(unitriangular)) if upper else np.tril(a, -int(unitriangular))


@checked
def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solve ``A @ x = B`` for a triangular `A`; the other triangle is not read.

    Args:
        A: Shape (..., n, n).
        B: Shape (..., n, k), or (..., k, n) if not `left`. The leading axes broadcast.
        upper: Whether the upper triangle is read, or the lower one: SciPy's ``lower``, negated.
        left: Whether `A` is on the left; otherwise ``x @ A = B`` is solved.
        unitriangular: Take the diagonal of `A` for ones, and do not read it.

    Returns:
        The shape of `B`, with the broadcast leading axes.

    Raises:
        numpy.linalg.LinAlgError: An element of a diagonal is 0, or a matrix is not square.
        ValueError: The shapes do not fit.

    Example:
        >>> import minigrad
        >>> a = minigrad.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> minigrad.linalg.solve_triangular(a, minigrad.ones((2, 1)), upper=True).tolist()
        [[0.375], [0.25]]
    """
    return _solve_triangular(A, B, upper, left, unitriangular)


@_solve_triangular.defjoint("a", "b")
def _solve_triangular_pull(
    g: Any, needed: tuple[bool, bool], a: Any, out: Any, upper: bool, left: bool,
    unitriangular: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """As for `solve`, from either side; the triangle that is not read has gradient 0."""
    h = within_rule(_solve_triangular, mT(a), g, not upper, left, unitriangular)
    if not needed[0]:
        return None, h
    grad_a = -h @ mT(out) if left else -mT(out) @ h
    return _triangle(grad_a, upper, unitriangular), h


@solve.defjoint("a", "b")
def _solve_pull(
    g: Any, needed: tuple[bool, bool], a: Any, b_shape: tuple[int, ...], out: Any
) -> tuple[Any, Any]:
    """With ``h = solve(aᵀ, g)``: h is the cotangent of `b`, and -h outᵀ that of `a`."""
    vector = len(b_shape) == 1
    if vector:
        g, out = g[..., None], out[..., None]
    h = within_rule(solve, mT(a), g)
    grad_a = -h @ mT(out) if needed[0] else None
    return grad_a, h[..., 0] if vector else h


inv.defvjp(x=lambda g, out: -(mT(out) @ g @ mT(out)))
solve.defformula(
    """
    g = g[..., None] if b.ndim == 1 else g  #
    out = out[..., None] if b.ndim == 1 else out  #
    """,
    a="-inv(a.mT) @ g @ out.mT",
    b="inv(a.mT) @ g",
)


@primitive(numpy=np.linalg.det, float_inputs=True, explain_error=no_square)
def det(x: Any) -> Any:
    """Compute the determinant of a square matrix, or of each in a stack of shape (..., n, n).

    Its gradient is the matrix of cofactors, which is finite everywhere. It is ``det(x) inv(x)ᵀ`` if
    `x` is invertible, has rank 1 if `x` has rank n - 1, and is 0 for lower ranks. The determinant
    of a matrix of shape (0, 0) is 1.

    Raises:
        numpy.linalg.LinAlgError: `x` is not square.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
        >>> minigrad.linalg.det(x).backward()
        >>> x.grad.numpy().round(4).tolist()
        [[4.0, -2.0], [-2.0, 1.0]]
    """
    with np.errstate(invalid="ignore"):
        out = np.linalg.det(widened(x))
    return np.where(holds_nan(x), np.nan, out).astype(x.dtype)


LARGEST = 8
"""The largest size of a matrix of which a polynomial is exact enough."""


def _factors(x: np.ndarray) -> Any:
    """The singular value decomposition; matrices that are not finite are replaced by zeros."""
    return np.linalg.svd(np.where(np.isfinite(x).all((-2, -1), keepdims=True), widened(x), 0))


@formula("det_x[..., None, None] * inv(x).mT  # finite also where x has no inverse")
def _cofactors(x: np.ndarray, det_x: Any) -> np.ndarray:
    """The cofactors of each matrix: ``det(x) inv(x)ᵀ`` if it does not overflow.

    This is accurate also if `x` is nearly singular: both factors use the same LU, so the error of
    its last pivot cancels. Otherwise it is ``det(u) det(v) u cof(s) vᵀ`` with ``x = u s vᵀ``, where
    the cofactors of the diagonal s are the products of its other entries.
    """
    if (np.isfinite(det_x) & (np.abs(det_x) >= np.finfo(x.dtype).tiny)).all():
        with np.errstate(over="ignore"):
            inverse = within_rule(inv, x)
        if np.isfinite(inverse).all():
            return det_x[..., None, None] * mT(inverse)
    u, s, vh = _factors(x)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    out = (u * (sign[..., None] * products_of_others(s))[..., None, :]) @ vh
    return np.where(np.isfinite(x).all((-2, -1), keepdims=True), out, np.nan)


@det.defdecomposition
def _det_decomposition(x: Any) -> Any:
    """For every order: by the logarithm; of a matrix without an inverse, as a polynomial."""
    _, s, _ = _factors(x._data)
    bad = (s <= s[..., :1] * math.sqrt(np.finfo(x.dtype).eps)).any(-1)
    if not bad.any():
        sign, logabsdet = slogdet(x)
        return sign * np.exp(logabsdet)
    if x.shape[-1] > LARGEST:
        raise np.linalg.LinAlgError(
            f"det: {which(bad)} is singular to rounding; of such matrices, larger than {LARGEST} × "
            f"{LARGEST}, there are no derivatives for create_graph=True"
        )
    return _polynomial(x)


def _polynomial(x: Any) -> Any:
    """The determinant without a division by elements that may be zero (Faddeev and LeVerrier)."""
    n = x.shape[-1]
    eye = np.eye(n, dtype=x.dtype)
    product, coefficient = x, -np.trace(x, axis1=-2, axis2=-1)
    for k in range(2, n + 1):
        product = x @ (product + coefficient[..., None, None] * eye)
        coefficient = np.trace(product, axis1=-2, axis2=-1) * (-1 / k)
    return coefficient * (-1) ** n


@primitive(
    residuals=("sign",), multiple_outputs=True, float_inputs=True, promote=("x",),
    explain_error=no_square,
)  # fmt: skip
def _slogdet(x: Any) -> Any:
    with np.errstate(invalid="ignore"):
        found = np.linalg.slogdet(widened(x))
    sign, logabsdet = (np.where(holds_nan(x), np.nan, part).astype(x.dtype) for part in found)
    return (sign, logabsdet), sign


def slogdet(A: Any) -> SlogdetResult:
    """Compute the sign and the logarithm of the absolute value of a determinant, without overflow.

    Returns:
        For `A` of shape (..., n, n), `sign`, which has no derivative, and `logabsdet`, both of
        shape (...). A singular matrix gives 0 and -inf; a gradient that reaches it is an error.

    Raises:
        numpy.linalg.LinAlgError: `A` is not square.

    Example:
        >>> import minigrad
        >>> minigrad.linalg.slogdet(1e-30 * minigrad.eye(2))
        minigrad.return_types.linalg_slogdet(
        sign=tensor(1.),
        logabsdet=tensor(-138.1551))
    """
    sign, logabsdet = _slogdet(A)
    return SlogdetResult(detach(sign), logabsdet)


@formula("g[1][..., None, None] * inv(x).mT")
def _slogdet_x(g: Any, x: Any, sign: Any) -> Any:
    h = g[1]
    bad = constant(sign) == 0
    h = unless(
        h[..., None, None], bad & (constant(h) != 0),
        "slogdet: {which} is singular: log|det| is -inf there and has no derivative",
    )  # fmt: skip
    if isinstance(bad, Variable) or bad.any():
        x = np.where(bad[..., None, None], np.eye(x.shape[-1], dtype=x.dtype), x)
    return h * mT(within_rule(inv, x))


det.defvjp(x=lambda g, x, out: g[..., None, None] * _cofactors(x, out))
_slogdet.defvjp(x=_slogdet_x)
