"""Ready parametrizations: spectral and weight normalization."""

from __future__ import annotations

from typing import TypeVar

from minigrad.nn.module.base import Module
from minigrad.nn.utils.magnitudes import weight_norm
from minigrad.nn.utils.parametrize import register_parametrization
from minigrad.nn.utils.spectral import as_matrix, checked, first_guess, improve, normalized
from minigrad.tensors.functions.arguments import spelled
from minigrad.tensors.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class _SpectralNorm(Module):
    """Divide a weight by an estimate of its largest singular value."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps
        matrix = as_matrix(weight.detach(), dim)
        for name, count in zip(("_u", "_v"), matrix.shape, strict=True):
            self.register_buffer(name, first_guess(count, weight))
        improve(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        """Divide the weight; in training, improve the estimate first."""
        matrix = as_matrix(weight, self.dim)
        if self.training:
            improve(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        return normalized(weight, matrix, self._u, self._v)


@spelled
def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> M:  # fmt: skip
    """Divide a weight by its largest singular value, by a parametrization.

    It does what `utils.spectral_norm` does, with the same arguments, and its estimate is good from
    the beginning. `parametrize.remove_parametrizations` undoes it.

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    Raises:
        ValueError: There is no such parameter, or it has fewer than two axes.

    Example:
        >>> from minigrad import linalg, nn
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)).eval()
        >>> 0.9 < linalg.norm(layer.weight, 2).item() < 1.1
        True
    """
    weight, dim = checked(module, name, n_power_iterations, eps, dim)
    normalize = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, normalize)
