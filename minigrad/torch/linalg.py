"""`torch.linalg`: minigrad's linear algebra with PyTorch's names."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from minigrad import linalg as ours
from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.tensors.functions.arguments import axes
from minigrad.torch.build import adopting, made
from minigrad.torch.helpers import refused
from minigrad.torch.modules import missing

__getattr__ = missing(__name__)

LINES = """
cholesky(A, *, upper=False) => ours.cholesky(A, upper=upper)
cholesky_ex(A, *, upper=False, check_errors=False) => (ours.cholesky(A, upper=upper), ops.zeros_like(ops.getitem(A, (..., 0, 0)), dtype="int32"))
inv_ex(A, *, check_errors=False) => (ours.inv(A), ops.zeros_like(ops.getitem(A, (..., 0, 0)), dtype="int32"))
lstsq(A, B, rcond=None, *, driver=None) => least_squares(A, B, rcond, driver)
matrix_rank(A, *, tol=None, atol=None, rtol=None, hermitian=False) => rank(A, tol, atol, rtol)
multi_dot(tensors) => ours.multi_dot(tensors)
solve_ex(A, B, *, left=True, check_errors=False) => (of_vectors(A, B), ops.zeros_like(ops.getitem(A, (..., 0, 0)), dtype="int32"))
tensorinv(A, ind=2) => ops.reshape(ours.inv(ops.reshape(A, (math.prod(A.shape[:ind]), -1))), (*A.shape[ind:], *A.shape[:ind]))
tensorsolve(A, B, dims=None) => ops.reshape(ours.solve(ops.reshape(last(A, dims), (B._data.size, -1)), ops.ravel(B)), last(A, dims).shape[B.ndim:])
vander(x, *, N=None) => ops.expand_dims(x if x.ndim else refused("linalg.vander", "an axis is needed"), -1) ** np.arange(x.shape[-1] if N is None else N)
cross(input, other, *, dim=-1) => ops.cross(input, other, axis=dim)
diagonal(A, *, offset=0, dim1=-2, dim2=-1) => ops.diagonal(A, offset, dim1, dim2)
matmul(input, other) => ops.matmul(input, other)
matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False) => ours.matrix_norm(ops.moveaxis(A, axes(dim), (-2, -1)), keepdims=keepdim, ord=ord)
norm(A, ord=None, dim=None, keepdim=False) => ours.norm(A, ord, axes(dim), keepdim)
pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None) => pseudoinverse(mirrored(A) if hermitian else A, rcond if rtol is None else rtol)
solve(A, B, *, left=True) => of_vectors(A, B) if left else ops.swapaxes(ours.solve(ops.swapaxes(A, -1, -2), ops.swapaxes(B, -1, -2)), -1, -2)
svd(A, full_matrices=True) => ours.svd(A, full_matrices)
vecdot(x, y, *, dim=-1) => ops.vecdot(x, y, dim)
vector_norm(x, ord=2, dim=None, keepdim=False) => ours.vector_norm(x, axis=axes(dim), keepdims=keepdim, ord=ord)
"""


def of_vectors(A: Any, B: Any) -> Any:
    """The solution; B of the shape of A without its last axis is a stack of vectors."""
    if B.ndim == 1 or B.shape != A.shape[:-1]:
        return ours.solve(A, B)
    return ops.squeeze(ours.solve(A, ops.expand_dims(B, -1)), -1)


def last(A: Any, dims: Any) -> Any:
    """The tensor with some axes as its last ones."""
    return A if dims is None else ops.moveaxis(A, tuple(dims), tuple(range(-len(dims), 0)))


def mirrored(A: Any) -> Any:
    """A symmetric matrix, of its lower triangle."""
    return ops.tril(A) + ops.swapaxes(ops.tril(A, -1), -1, -2)


def pseudoinverse(A: Any, rtol: Any) -> Any:
    """The pseudoinverse."""
    return ours.pinv(A) if rtol is None else ours.pinv(A, rtol)


def least_squares(A: Any, B: Any, rcond: Any, driver: str | None) -> Any:
    """The solution, and what the driver of LAPACK tells beside it."""
    found = ours.lstsq(A, B, rcond)
    solution, residuals, rank, values = found
    if driver in (None, "gels", "gelsy"):
        values = ops.getitem(values, slice(0))
    if driver in (None, "gelsy"):
        residuals = ops.getitem(residuals, slice(0))
    if driver == "gels":
        rank = wrap(np.zeros(0, np.int64))
    return Solution(solution, residuals, rank, values)


class Solution(NamedTuple):
    """A solution of least squares."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


def rank(A: Any, tol: Any, atol: Any, rtol: Any) -> Any:
    """The number of singular values above both bounds."""
    if atol is None and tol is None:
        return ours.matrix_rank(A, rtol=rtol)
    values = ours.svdvals(A)
    bound = atol if tol is None else tol
    relative = (rtol or 0) * ops.max(values, -1, True)
    return ops.sum(values > ops.maximum(relative, bound), -1)


LinAlgError = np.linalg.LinAlgError
_names: dict[str, Any] = {
    "axes": axes, "last": last, "least_squares": least_squares, "math": math, "mirrored": mirrored,
    "np": np, "of_vectors": of_vectors, "ops": ops, "ours": ours, "pseudoinverse": pseudoinverse,
    "rank": rank, "refused": refused,
}  # fmt: skip
for _name in ours.__all__:
    globals()[_name] = adopting(getattr(ours, _name))
for _line in LINES.strip().splitlines():
    _function = made(_line, _names, __name__)
    globals()[_function.__name__] = _function
