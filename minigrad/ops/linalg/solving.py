"""Inverses and systems of linear equations: inv, solve and solve_triangular."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._numerics import within_rule
from minigrad.ops.linalg._matrices import FLAGS, mT, no_square, singular, which, wide

__all__ = ["inv", "solve", "solve_triangular"]


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
    return _despite_nan(np.linalg.inv, wide(x)).astype(x.dtype, copy=False)


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
        return np.where(
            bad, np.nan, _despite_nan(function, np.where(bad, np.eye(a.shape[-1]), a), *rest)
        )


def _cannot_solve(a: Any, b: Any) -> str | None:
    if no_square(a):
        return no_square(a)
    n, shapes = a.shape[-1], f"a {a.shape} and b {np.shape(b)}"
    if not np.ndim(b):
        return f"{shapes}: b must be a vector, a matrix or a stack of matrices"
    if np.ndim(b) == 1 and b.shape != (n,):
        return f"{shapes}: a vector b must have length {n}"
    if np.ndim(b) > 1 and b.shape[-2] != n:
        hint = ""
        if b.shape[-1] == n:
            hint = "; for a stack of vectors pass b[..., None] and take [..., 0] of the result"
        return f"{shapes}: the second-last axis of b must be {n}{hint}"
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        return f"{shapes}: the leading axes do not broadcast"
    return (
        f"{shapes}: {which(singular(a))} is singular, so there is no one solution; lstsq or pinv "
        f"solve it in the least-squares sense"
    )


@primitive(numpy=np.linalg.solve, float_inputs=True, explain_error=_cannot_solve)
def solve(a: Any, b: Any) -> Any:
    """Solve ``a @ x = b`` for `x`.

    `minigrad.linalg.solve` says more, and has PyTorch's arguments; these are NumPy's.
    """
    if np.ndim(b) == 1:
        return _solve_columns(a, b[:, None])[..., 0]
    return _solve_columns(a, b)


def _solve_columns(a: np.ndarray, b: Any) -> np.ndarray:
    return _despite_nan(np.linalg.solve, wide(a), wide(b)).astype(a.dtype, copy=False)


def _cannot_solve_triangular(a: Any, b: Any, upper: bool, left: bool, *_: Any) -> str | None:
    if no_square(a):
        return no_square(a)
    shapes, axis = f"a {a.shape} and b {np.shape(b)}", -2 if left else -1
    if np.ndim(b) < 2 or np.shape(b)[axis] != a.shape[-1]:
        return f"{shapes}: b must have two axes or more, and axis {axis} length {a.shape[-1]}"
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        return f"{shapes}: the leading axes do not broadcast"
    zeros = (a.diagonal(0, -2, -1) == 0).any(-1)
    return f"{shapes}: {which(zeros)} has a 0 on its diagonal, so there is no one solution"


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


def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solve ``A @ x = B`` for a triangular `A`; the other triangle is not read.

    Args:
        A: Shape (..., n, n).
        B: Shape (..., n, k), or (..., k, n) if not `left`. The leading axes broadcast.
        upper: Whether the upper triangle is read, or the lower one.
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
