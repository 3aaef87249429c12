"""Normal distributions of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.distributions.constraints import lower_cholesky, real_vector
from minigrad.distributions.distribution import Family, floats
from minigrad.linalg import cholesky, inv, solve_triangular
from minigrad.tensors.tensor import Tensor


class MultivariateNormal(Family):
    """Normal distributions of vectors of length k, with correlated elements.

    Args:
        loc: The mean, shape ``(..., k)``.
        covariance_matrix: The covariance matrix, shape ``(..., k, k)``, positive definite.
        precision_matrix: Its inverse instead.
        scale_tril: Its Cholesky factor instead: lower triangular, with a positive diagonal.
        validate_args: As in `Distribution`.

    Attributes:
        scale_tril: The Cholesky factor of the covariance matrix.

    Raises:
        ValueError: Not exactly one of the matrices is given, or a shape or a diagonal is wrong.
        numpy.linalg.LinAlgError: A matrix is not positive definite.

    Example:
        >>> from minigrad.distributions import MultivariateNormal
        >>> normal = MultivariateNormal([0.0, 1.0], [[4.0, 0.0], [0.0, 1.0]])
        >>> normal.variance.tolist(), round(normal.log_prob([0.0, 1.0]).item(), 4)
        ([4.0, 1.0], -2.531)
    """

    has_rsample = True
    arg_constraints = MappingProxyType({"loc": real_vector, "scale_tril": lower_cholesky})
    support = real_vector

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        owner = "MultivariateNormal"
        matrices = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }  # fmt: skip
        given = [name for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(f"{owner}: one of {', '.join(matrices)} expected, got {given}")
        self._given = ("loc", given[0])
        (mean,), (factor,) = floats(loc), floats(matrices[given[0]])
        if not mean.ndim or factor.shape[-2:] != mean.shape[-1:] * 2:
            raise ValueError(
                f"{owner}: loc of shape (..., k) and {given[0]} of shape (..., k, k) expected, got "
                f"{mean.shape} and {factor.shape}"
            )
        if scale_tril is None:
            factor = cholesky(factor if precision_matrix is None else inv(factor))
        k = mean.shape[-1]
        batch = np.broadcast_shapes(mean.shape[:-1], factor.shape[:-2])
        self.loc = ops.broadcast_to(mean, (*batch, k))
        self.scale_tril = ops.broadcast_to(factor, (*batch, k, k))
        super().__init__(batch, (k,), validate_args)

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix, shape ``(*batch_shape, k, k)``."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix, shape ``(*batch_shape, k, k)``."""
        return inv(self.covariance_matrix)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return ops.sum(ops.square(self.scale_tril), axis=-1)

    def rsample(self, sample_shape: int | Sequence[int] = ()) -> Tensor:
        noise = self._drawn("standard_normal", sample_shape, self.loc.dtype)
        return self.loc + (self.scale_tril @ noise[..., None])[..., 0]

    def log_prob(self, value: Any) -> Tensor:
        x = self._values("log_prob", value)
        distance = solve_triangular(self.scale_tril, (x - self.loc)[..., None], upper=False)
        constant = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + ops.sum(ops.square(distance), axis=(-2, -1))) - self._half_log_det

    @property
    def _half_log_det(self) -> Tensor:
        """Half of the logarithm of the determinant of the covariance matrix."""
        return ops.sum(ops.log(ops.diagonal(self.scale_tril, 0, -2, -1)), axis=-1)

    def entropy(self) -> Tensor:
        return self._half_log_det + 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi))

    def kl(self, other: MultivariateNormal) -> Tensor:
        factor = other.scale_tril
        ratios = solve_triangular(factor, ops.tril(self.scale_tril), upper=False)
        distance = solve_triangular(factor, (other.loc - self.loc)[..., None], upper=False)
        squares = ops.sum(ops.square(ratios), axis=(-2, -1)) - self.event_shape[0]
        squares = squares + ops.sum(ops.square(distance), axis=(-2, -1))
        return other._half_log_det - self._half_log_det + 0.5 * squares
