"""Ready parametrizations: spectral normalization."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from minigrad import random
from minigrad.autograd.events import effect
from minigrad.nn.layers.convolution import ConvTranspose1d, ConvTranspose2d
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.utils.parametrize import register_parametrization
from minigrad.ops._numerics import values_of
from minigrad.support.checks import check_number, check_size
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = ["spectral_norm"]

M = TypeVar("M", bound=Module)


class _SpectralNorm(Module):
    """Divide a weight by an estimate of its largest singular value."""

    def __init__(self, weight: Tensor, n_power_iterations: int, axis: int, eps: float) -> None:
        super().__init__()
        self.n_power_iterations, self.axis, self.eps = n_power_iterations, axis, eps
        rows, columns = self.matrix(weight).shape
        for name, n in (("_u", rows), ("_v", columns)):
            drawn = random.generator().standard_normal(n)
            self.register_buffer(name, (drawn / np.linalg.norm(drawn)).astype(weight.dtype))
        self.iterate(weight, 15)

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight with `axis` as its rows, and all others as columns."""
        rows: Tensor = weight.moveaxis(self.axis, 0)
        return rows.reshape(rows.shape[0], -1)

    @effect
    def iterate(self, weight: Tensor, times: int) -> None:
        """Improve the estimates of the singular vectors, by the power method."""
        matrix = values_of(self.matrix(weight.detach()))
        u, v = values_of(self._u), values_of(self._v)  # type: ignore[attr-defined]
        for _ in range(times):
            u = matrix @ v
            u = u / max(np.linalg.norm(u), self.eps)
            v = matrix.T @ u
            v = v / max(np.linalg.norm(v), self.eps)
        assign(self._u, u)  # type: ignore[attr-defined]
        assign(self._v, v)  # type: ignore[attr-defined]

    def forward(self, weight: Tensor) -> Tensor:
        """Divide the weight; in training, improve the estimate first."""
        if self.training:
            self.iterate(weight, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # type: ignore[attr-defined]
        return weight / (u @ (self.matrix(weight) @ v))


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    axis: int | None = None,
) -> M:  # fmt: skip
    r"""Divide a weight by its largest singular value :math:`\sigma`: :math:`w = v / \sigma(v)`.

    It is estimated by the power method, which takes steps whenever the weight is read in training
    mode. `parametrize.remove_parametrizations` undoes it.

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    Args:
        module: The module that has the weight.
        name: The name of the weight.
        n_power_iterations: The number of steps of the power method.
        eps: The least norm to divide by within the power method.
        axis: The axis that is the rows of the matrix; by default 0, of transposed convolutions 1.

    Raises:
        ValueError: There is no such parameter, or it has fewer than two axes.

    Example:
        >>> from minigrad import linalg, nn
        >>> layer = nn.utils.spectral_norm(nn.Linear(4, 3)).eval()
        >>> 0.9 < linalg.norm(layer.weight, 2).item() < 1.1
        True
    """
    check_size("spectral_norm", "n_power_iterations", n_power_iterations)
    check_number("spectral_norm", "eps", eps, above=0.0)
    weight = getattr(module, name, None)
    if not isinstance(weight, Parameter) or weight.ndim < 2:
        raise ValueError(
            f"spectral_norm: {type(module).__name__} has no parameter {name!r} with two axes or "
            f"more"
        )
    if axis is None:
        axis = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d)))
    elif not -weight.ndim <= axis < weight.ndim:
        raise ValueError(f"spectral_norm: axis {axis} does not exist in shape {weight.shape}")
    normalize = _SpectralNorm(weight, n_power_iterations, axis, eps)
    return register_parametrization(module, name, normalize)
