"""Normal distributions of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import linalg, ops
from minigrad.distributions.distribution import Distribution
from minigrad.ops._numerics import values_of
from minigrad.tensors.tensor import Tensor


class MultivariateNormal(Distribution):
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
    _parameters = ("loc", "scale_tril")

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._validates(validate_args)
        owner = "MultivariateNormal"
        matrices = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }  # fmt: skip
        given = [name for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(f"{owner}: one of {', '.join(matrices)} expected, got {given}")
        self._shown = ("loc", given[0])
        mean, matrix = self._floats("loc", loc), self._floats(given[0], matrices[given[0]])
        if not mean.ndim or matrix.shape[-2:] != mean.shape[-1:] * 2:
            raise ValueError(
                f"{owner}: loc of shape (..., k) and {given[0]} of shape (..., k, k) expected, got "
                f"{tuple(mean.shape)} and {tuple(matrix.shape)}"
            )
        if scale_tril is not None:
            if (
                self._validate_args
                and not (np.diagonal(values_of(matrix), axis1=-2, axis2=-1) > 0).all()
            ):
                raise ValueError(f"{owner}: the diagonal of scale_tril must be above 0")
            factor = ops.tril(matrix)
        else:
            factor = linalg.cholesky(matrix if precision_matrix is None else linalg.inv(matrix))
        k = mean.shape[-1]
        batch = np.broadcast_shapes(mean.shape[:-1], factor.shape[:-2])
        self.loc = ops.broadcast_to(mean, (*batch, k))
        self.scale_tril = ops.broadcast_to(factor, (*batch, k, k))
        super().__init__(batch, (k,))

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix, shape ``(*batch_shape, k, k)``."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix, shape ``(*batch_shape, k, k)``."""
        return linalg.inv(self.covariance_matrix)

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
        if x.shape[-1:] != self.event_shape:
            raise ValueError(
                f"MultivariateNormal.log_prob: values of shape (..., {self.event_shape[0]}) "
                f"expected, got {tuple(x.shape)}"
            )
        distance = _solved(self.scale_tril, (x - self.loc)[..., None])[..., 0]
        constant = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + ops.sum(ops.square(distance), axis=-1)) - self._half_log_det

    @property
    def _half_log_det(self) -> Tensor:
        """Half of the logarithm of the determinant of the covariance matrix."""
        return ops.sum(ops.log(ops.diagonal(self.scale_tril, 0, -2, -1)), axis=-1)

    def entropy(self) -> Tensor:
        return self._half_log_det + 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi))

    def kl(self, other: MultivariateNormal) -> Tensor:
        ratio = ops.sum(ops.square(_solved(other.scale_tril, self.scale_tril)), axis=(-2, -1))
        distance = _solved(other.scale_tril, (other.loc - self.loc)[..., None])
        squares = ratio + ops.sum(ops.square(distance), axis=(-2, -1)) - self.event_shape[0]
        return other._half_log_det - self._half_log_det + 0.5 * squares


def _solved(factor: Tensor, b: Tensor) -> Tensor:
    """The solution of a lower triangular system; the stacks broadcast."""
    batch = np.broadcast_shapes(factor.shape[:-2], b.shape[:-2])
    return linalg.solve_triangular(
        ops.broadcast_to(factor, (*batch, *factor.shape[-2:])),
        ops.broadcast_to(b, (*batch, *b.shape[-2:])), upper=False,
    )  # fmt: skip
