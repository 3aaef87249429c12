"""Products of vectors and matrices, and functions of matrices under their short names."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.dtype_class import printed_as
from minigrad.autograd.typing import Tensor
from minigrad.ops import linalg
from minigrad.ops._numerics import values_of
from minigrad.ops.argument_errors import checked
from minigrad.ops.linalg import matrix_exp as matrix_exp
from minigrad.ops.linalg.lu import lu_unpack as unpacked
from minigrad.tensors.functions.arguments import with_axes

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "cholesky",
    "cholesky_inverse", "cholesky_solve", "corrcoef", "cov", "cross", "dot", "ger", "logdet", "lu",
    "lu_unpack", "matrix_exp", "matrix_rank", "mm", "mv", "outer", "pdist", "pinverse", "qr",
    "renorm", "svd", "tensordot", "triangular_solve", "vander",
]  # fmt: skip


def mm(input: Any, mat2: Any) -> Tensor:
    """Multiply two matrices; `matmul` multiplies stacks of them too.

    Example:
        >>> import minigrad
        >>> minigrad.mm(minigrad.ones(2, 3), minigrad.ones(3, 1)).tolist()
        [[3.0], [3.0]]
    """
    return ops.matmul(with_axes(input, 2, "mm"), with_axes(mat2, 2, "mm"))


def bmm(input: Any, mat2: Any) -> Tensor:
    """Multiply two stacks of matrices.

    Example:
        >>> import minigrad
        >>> minigrad.bmm(minigrad.ones(5, 2, 3), minigrad.ones(5, 3, 4)).shape
        minigrad.Size([5, 2, 4])
    """
    return ops.matmul(with_axes(input, 3, "bmm"), with_axes(mat2, 3, "bmm"))


def mv(input: Any, vec: Any) -> Tensor:
    """Multiply a matrix by a vector.

    Example:
        >>> import minigrad
        >>> minigrad.mv(minigrad.eye(2), minigrad.tensor([3.0, 4.0])).tolist()
        [3.0, 4.0]
    """
    return ops.matmul(with_axes(input, 2, "mv"), with_axes(vec, 1, "mv"))


def dot(input: Any, tensor: Any) -> Tensor:
    """Multiply two vectors: the sum of the products of their elements.

    Example:
        >>> import minigrad
        >>> minigrad.dot(minigrad.tensor([1.0, 2.0]), minigrad.tensor([3.0, 4.0])).item()
        11.0
    """
    return ops.dot(with_axes(input, 1, "dot"), with_axes(tensor, 1, "dot"))


def outer(input: Any, vec2: Any) -> Tensor:
    """Multiply each element of a vector by each of another one.

    Example:
        >>> import minigrad
        >>> minigrad.outer(minigrad.tensor([1, 2]), minigrad.tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    return ops.outer(with_axes(input, 1, "outer"), with_axes(vec2, 1, "outer"))


ger = outer


def _sum(input: Any, beta: float, product: Any, alpha: float) -> Any:
    """The sum of both, each times a number; times 0, the first counts as 0 whatever it holds."""
    first = input if beta == 1 else 0 if beta == 0 else input * beta
    return first + (product if alpha == 1 else alpha * product)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Compute beta * input + alpha * mat1 @ mat2.

    Example:
        >>> import minigrad
        >>> minigrad.addmm(minigrad.ones(2), minigrad.eye(2), minigrad.eye(2)).tolist()
        [[2.0, 1.0], [1.0, 2.0]]
    """
    return _sum(input, beta, ops.matmul(mat1, mat2), alpha)


def addmv(input: Any, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Compute beta * input + alpha * mat @ vec.

    Example:
        >>> import minigrad
        >>> minigrad.addmv(minigrad.ones(2), minigrad.eye(2), minigrad.tensor([3.0, 4.0])).tolist()
        [4.0, 5.0]
    """
    return _sum(input, beta, ops.matmul(mat, vec), alpha)


def addr(input: Any, vec1: Any, vec2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Compute beta * input + alpha * outer(vec1, vec2).

    Example:
        >>> import minigrad
        >>> minigrad.addr(minigrad.ones(2, 2), minigrad.ones(2), minigrad.ones(2), alpha=3).tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    return _sum(input, beta, ops.outer(vec1, vec2), alpha)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Compute beta * input + alpha * batch1 @ batch2, for stacks of matrices.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(5, 2, 2)
        >>> minigrad.baddbmm(minigrad.ones(2), x, x).shape
        minigrad.Size([5, 2, 2])
    """
    return _sum(input, beta, ops.matmul(batch1, batch2), alpha)


def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Compute beta * input + alpha * the sum of the products of two stacks of matrices.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(5, 2, 2)
        >>> minigrad.addbmm(minigrad.ones(2), x, x).tolist()
        [[11.0, 11.0], [11.0, 11.0]]
    """
    products = ops.matmul(batch1, batch2)
    return _sum(input, beta, ops.sum(products, 0).astype(products.dtype), alpha)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Tensor:
    """Sum products along so many last axes of `a` and first ones of `b`, or along named ones.

    Example:
        >>> import minigrad
        >>> minigrad.tensordot(minigrad.ones(2, 3, 4), minigrad.ones(3, 4, 5)).shape
        minigrad.Size([2, 5])
    """
    return ops.tensordot(a, b, dims)


@checked
def cross(input: Any, other: Any, dim: int | None = None) -> Tensor:
    """Compute the cross product of vectors of three numbers.

    Raises:
        ValueError: `dim` is left out, and the first axis of length 3 is not the last one: PyTorch
            takes the first, NumPy the last.

    Example:
        >>> import minigrad
        >>> minigrad.cross(minigrad.tensor([1.0, 0, 0]), minigrad.tensor([0.0, 1, 0])).tolist()
        [0.0, 0.0, 1.0]
    """
    if dim is None:
        shape = np.broadcast_shapes(np.shape(input), np.shape(other))
        threes = [i for i, n in enumerate(shape) if n == 3]
        if threes and threes[0] != len(shape) - 1:
            others = "PyTorch takes the first axis of length 3, NumPy the last"
            raise ValueError(f"cross: dim must be given for shape {shape}: {others}")
        dim = -1
    return ops.cross(input, other, axis=dim)


def pdist(input: Any, p: float = 2) -> Tensor:
    """Compute the p-norm distances of the pairs of rows.

    Example:
        >>> import minigrad
        >>> minigrad.pdist(minigrad.tensor([[0.0], [1.0], [3.0]])).tolist()
        [1.0, 3.0, 2.0]
    """
    return ops.getitem(ops.cdist(input, input, p), np.triu_indices(len(input), 1))


def chain_matmul(*matrices: Any) -> Tensor:
    """Multiply matrices in the cheapest order.

    Example:
        >>> import minigrad
        >>> x, y = minigrad.ones(2, 3), minigrad.ones(3, 2)
        >>> minigrad.chain_matmul(x, y, x, y).shape
        minigrad.Size([2, 2])
    """
    return linalg.multi_dot(matrices)


# Functions of matrices

lu_unpack = checked(unpacked)


@printed_as("svd")
class Svd(NamedTuple):
    """The factors of a singular value decomposition."""

    U: Tensor
    S: Tensor
    V: Tensor


@printed_as("triangular_solve")
class TriangularSolution(NamedTuple):
    """The solution of a system with a triangular matrix, and the matrix."""

    solution: Tensor
    cloned_coefficient: Tensor


def logdet(input: Any) -> Tensor:
    """Compute the logarithm of the determinant.

    Example:
        >>> import minigrad
        >>> minigrad.logdet(minigrad.eye(2)).item()
        0.0
    """
    return ops.log(linalg.det(input))


def cholesky(input: Any, upper: bool = False) -> Tensor:
    """Factor a symmetric positive definite matrix: see `linalg.cholesky`.

    Example:
        >>> import minigrad
        >>> minigrad.cholesky(minigrad.tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
        [[2.0, 0.0], [0.0, 3.0]]
    """
    return linalg.cholesky(input, upper=upper)


def _gram(L: Any, upper: bool) -> Any:
    across = ops.swapaxes(L, -1, -2)
    return ops.matmul(across, L) if upper else ops.matmul(L, across)


def cholesky_inverse(L: Any, upper: bool = False) -> Tensor:
    """Invert the matrix of which L is the Cholesky factor.

    Example:
        >>> import minigrad
        >>> minigrad.cholesky_inverse(minigrad.tensor([[2.0]])).tolist()
        [[0.25]]
    """
    return linalg.inv(_gram(L, upper))


def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Tensor:
    """Solve A X = B for the matrix A of which L is the Cholesky factor.

    Example:
        >>> import minigrad
        >>> minigrad.cholesky_solve(minigrad.ones(1, 1), minigrad.tensor([[2.0]])).tolist()
        [[0.25]]
    """
    return linalg.solve(_gram(L, upper), B)


def qr(input: Any, some: bool = True) -> Any:
    """Factor into an orthogonal and a triangular matrix: see `linalg.qr`.

    Example:
        >>> import minigrad
        >>> q, r = minigrad.qr(minigrad.ones(3, 2))
        >>> q.shape, r.shape
        (minigrad.Size([3, 2]), minigrad.Size([2, 2]))
    """
    return linalg.qr(input, "reduced" if some else "complete")


def lu(A: Any, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """Factor into triangular matrices in one, and pivots: see `linalg.lu_factor_ex`.

    Example:
        >>> import minigrad
        >>> minigrad.lu(minigrad.tensor([[4.0, 2.0], [2.0, 2.0]]))[0].tolist()
        [[4.0, 2.0], [0.5, 1.0]]
    """
    return tuple(linalg.lu_factor_ex(A, pivot=pivot))[: 2 + get_infos]


def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> TriangularSolution:
    """Solve ``A @ x = b`` or, to `transpose`, ``A.mT @ x = b``: see `linalg.solve_triangular`.

    Example:
        >>> import minigrad
        >>> minigrad.triangular_solve(minigrad.ones(2, 1), 2 * minigrad.eye(2)).solution.tolist()
        [[0.5], [0.5]]
    """
    matrix = ops.swapaxes(A, -1, -2) if transpose else A
    x = linalg.solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return TriangularSolution(x, ops.clone(A))


def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Svd:
    """Compute U, S and V, with input = U diag(S) Vᵀ; `linalg.svd` gives Vᵀ.

    Example:
        >>> import minigrad
        >>> u, s, v = minigrad.svd(minigrad.ones(3, 2))
        >>> u.shape, s.shape, v.shape
        (minigrad.Size([3, 2]), minigrad.Size([2]), minigrad.Size([2, 2]))
    """
    u, s, vt = linalg.svd(input, not some)
    return Svd(u, s, ops.swapaxes(vt, -1, -2))


def pinverse(input: Any, rcond: float = 1e-15) -> Tensor:
    """Compute the pseudo-inverse: see `linalg.pinv`.

    Example:
        >>> import minigrad
        >>> minigrad.pinverse(minigrad.tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
    """
    return linalg.pinv(input, rcond)


def matrix_rank(input: Any, tol: Any = None, symmetric: bool = False) -> Tensor:
    """Compute the rank: see `linalg.matrix_rank`.

    Example:
        >>> import minigrad
        >>> minigrad.matrix_rank(minigrad.ones(2, 2)).item()
        1
    """
    return linalg.matrix_rank(input, tol)


# Statistics of rows


def cov(
    input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None
) -> Tensor:  # fmt: skip
    """Compute the covariance of rows; a number for one row.

    Args:
        input: Shape (variables, observations), or (observations,).
        correction: How many degrees of freedom are lost.
        fweights: How often each observation was made, integers of shape (observations,).
        aweights: The weight of each observation, of the same shape.

    Example:
        >>> import minigrad
        >>> minigrad.cov(minigrad.tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    rows = ops.reshape(input, (1, -1)) if input.ndim < 2 else with_axes(input, 2, "cov")
    kinds = ("fweights", fweights, "iu", "integers"), ("aweights", aweights, "f", "floats")
    for name, weights, letters, sort in kinds:
        if weights is not None and (
            getattr(weights, "shape", None) != rows.shape[1:]
            or np.dtype(weights.dtype).kind not in letters
            or (values_of(weights) < 0).any()
        ):
            wanted = f"a tensor of {rows.shape[1]} {sort}, one of at least 0 for each column,"
            raise ValueError(f"cov: {name}: {wanted} expected, got {weights!r}")
    left: Any
    given = [weights for weights in (fweights, aweights) if weights is not None]
    if given:
        weights = reduce(operator.mul, given)
        count = ops.sum(weights)
        if not values_of(count):
            raise ValueError("cov: weights with a sum above 0 expected, got 0")
        centred = rows - ops.sum(rows * weights, -1, True) / count
        lost = 1 if aweights is None else ops.sum(weights * aweights) / count
        weighted, left = centred * weights, ops.maximum(count - correction * lost, 0)
    else:
        weighted = centred = rows - ops.mean(rows, -1, True)
        left = max(rows.shape[1] - correction, 0)
    joint = ops.matmul(weighted, ops.swapaxes(centred, -1, -2)) / left
    return ops.reshape(joint, ()) if len(rows) == 1 else joint


def corrcoef(input: Any) -> Tensor:
    """Compute the correlation of rows; a number for one row.

    Example:
        >>> import minigrad
        >>> minigrad.corrcoef(minigrad.tensor([[1.0, 2.0], [2.0, 1.0]]))
        tensor([[ 1.0000, -1.0000],
                [-1.0000,  1.0000]])
    """
    joint = cov(input if input.ndim < 2 else with_axes(input, 2, "corrcoef"))
    if not joint.ndim:
        return joint / joint
    spread = ops.sqrt(ops.diagonal(joint))
    return joint / ops.outer(spread, spread)


@checked
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale the parts along an axis so that each has at most a norm.

    Example:
        >>> import minigrad
        >>> minigrad.renorm(minigrad.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    norms = ops.norm(ops.reshape(ops.moveaxis(input, dim, 0), (input.shape[dim], -1)), p, 1)
    norms = ops.reshape(norms, (-1,) + (1,) * (input.ndim - 1 - dim % input.ndim))
    return input * ops.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Write the powers of each element, as columns.

    Example:
        >>> import minigrad
        >>> minigrad.vander(minigrad.tensor([2.0, 3.0]), 3).tolist()
        [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    powers = np.arange(len(x) if N is None else N)
    return ops.power(ops.expand_dims(x, -1), powers if increasing else powers[::-1])
