"""Ready parametrizations: weight and spectral normalization."""

from __future__ import annotations

from typing import ClassVar, TypeVar

import numpy as np

from minigrad import ops, random
from minigrad.autograd.events import effect
from minigrad.nn.layers.convolution import _ConvTransposeNd
from minigrad.nn.module.base import Module
from minigrad.nn.utils.parametrize import is_parametrized, register_parametrization
from minigrad.ops._numerics import values_of
from minigrad.ops.argument_errors import checked
from minigrad.support.checks import check_choice, check_number, check_size
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class _WeightNorm(Module):
    """A weight of its length g and its direction v."""

    older_names: ClassVar[dict[str, str]] = {"g": "original0", "v": "original1"}

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, g: Tensor, v: Tensor) -> Tensor:
        return v * (g / self._lengths(v))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return self._lengths(weight), weight

    def _lengths(self, v: Tensor) -> Tensor:
        """The norm over all axes but `dim`."""
        if self.dim is None:
            return ops.norm(v)
        axes = tuple(i for i in range(v.ndim) if i != self.dim)
        return ops.norm(v, axis=axes, keepdims=True)


@checked
def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    r"""Replace a weight by its length g and its direction v: :math:`w = g\, v / \|v\|`.

    The parameters ``parametrizations.<name>.original0`` and ``original1`` are trained instead of
    `<name>`, which is computed from them whenever it is read. Their gradients are right for lengths
    from 1e-19 to 1e19. A state dict with the older names `<name>_g` and `<name>_v` is loaded too.

    Source: Salimans and Kingma, "Weight normalization", 2016.

    Args:
        module: The module that has the weight.
        name: The name of the weight.
        dim: The axis with one length for each element; None or -1 for one length in all.

    Raises:
        AttributeError: There is no such parameter, or it is normalized already.
        ValueError: It has no such axis.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))
        >>> [tuple(original.shape) for original in layer.parametrizations.weight.parameters()]
        [(3, 1), (3, 4)]
    """
    axes = range(module.get_parameter(name).ndim)
    check_choice("weight_norm", "dim", dim, [None, -1, *axes])
    return register_parametrization(module, name, _WeightNorm(None if dim == -1 else dim))


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, with estimates of the singular vectors."""

    older_names: ClassVar[dict[str, str]] = {"orig": "original", "u": "0._u", "v": "0._v"}
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps
        matrix = self._as_matrix(weight.detach())
        for name, count in zip(("_u", "_v"), matrix.shape, strict=True):
            drawn = random.generator().standard_normal(count)
            self.register_buffer(name, (drawn / np.linalg.norm(drawn)).astype(weight.dtype))
        _improve(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor, *vectors: Tensor) -> Tensor:
        matrix = self._as_matrix(weight)
        left, right = vectors or (self._u, self._v)
        if self.training:
            across = (matrix, left, right)
            if vectors:  # PyTorch's older function begins with the other one
                across = (ops.swapaxes(matrix, 0, 1), right, left)
            _improve(*across, self.n_power_iterations, self.eps)
        u, v = ops.clone(left), ops.clone(right)  # as they are now
        return weight / ops.matmul(u, ops.matmul(matrix, v))

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight

    def _as_matrix(self, weight: Tensor) -> Tensor:
        """The weight with one axis as its rows, and all others as columns."""
        rows = ops.moveaxis(weight, self.dim, 0)
        return ops.reshape(rows, (rows.shape[0], -1))


@effect
def _improve(matrix: Tensor, left: Tensor, right: Tensor, times: int, eps: float) -> None:
    """Improve the estimates of the singular vectors, by the power method."""
    values, x, y = values_of(matrix), values_of(left), values_of(right)
    for _ in range(times):
        x = values @ y
        x = x / max(np.linalg.norm(x), eps)
        y = values.T @ x
        y = y / max(np.linalg.norm(y), eps)
    assign(left, x)
    assign(right, y)


@checked
def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> M:  # fmt: skip
    r"""Divide a weight by its largest singular value :math:`\sigma`: :math:`w = v / \sigma(v)`.

    The parameter ``parametrizations.<name>.original`` is trained; `<name>` is computed from it
    whenever it is read. The singular value is estimated by the power method, which takes steps in
    training mode. A state dict with the older names `<name>_orig`, `<name>_u` and `<name>_v` is
    loaded too.

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    Args:
        module: The module that has the weight.
        name: The name of the weight.
        n_power_iterations: The number of steps of the power method.
        eps: The least norm to divide by within the power method.
        dim: The axis that is the rows of the matrix; by default 0, of transposed convolutions 1.

    Raises:
        AttributeError: There is no such parameter.

    Example:
        >>> from minigrad import linalg, nn
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)).eval()
        >>> 0.9 < linalg.norm(layer.weight, 2).item() < 1.1
        True
    """
    check_size("spectral_norm", "n_power_iterations", n_power_iterations)
    check_number("spectral_norm", "eps", eps, above=0.0)
    weight = getattr(module, name) if is_parametrized(module, name) else module.get_parameter(name)
    dim = int(isinstance(module, _ConvTransposeNd)) if dim is None else dim
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, norm)
