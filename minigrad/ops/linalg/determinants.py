"""Determinants, whose derivatives are also correct for singular matrices."""

import math
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.engine import detach
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import constant, formula, within_rule
from minigrad.ops.linalg._matrices import holds_nan, mT, no_square, unless, which, wide
from minigrad.ops.linalg.solving import inv

__all__ = ["det", "slogdet"]


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
        out = np.linalg.det(wide(x))
    return np.where(holds_nan(x), np.nan, out).astype(x.dtype)


LARGEST = 8
"""The largest size of a matrix of which a polynomial is exact enough."""


def _factors(x: np.ndarray) -> Any:
    """The singular value decomposition; matrices that are not finite are replaced by zeros."""
    return np.linalg.svd(np.where(np.isfinite(x).all((-2, -1), keepdims=True), wide(x), 0))


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
    before = np.cumprod(s, axis=-1)
    before = np.concatenate([np.ones_like(s[..., :1]), before[..., :-1]], axis=-1)
    after = np.cumprod(s[..., ::-1], axis=-1)
    after = np.concatenate([np.ones_like(s[..., :1]), after[..., :-1]], axis=-1)[..., ::-1]
    sign = np.linalg.det(u) * np.linalg.det(vh)
    out = (u * (sign[..., None] * before * after)[..., None, :]) @ vh
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


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Any
    logabsdet: Any


@primitive(
    residuals=("sign",), multiple_outputs=True, float_inputs=True, promote=("x",),
    explain_error=no_square,
)  # fmt: skip
def _slogdet(x: Any) -> Any:
    with np.errstate(invalid="ignore"):
        found = np.linalg.slogdet(wide(x))
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
        SlogdetResult(sign=tensor(1.), logabsdet=tensor(-138.1551))
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
