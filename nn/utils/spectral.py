"""Spectral normalization: a weight divided by its largest singular value."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from minigrad import ops, random
from minigrad.autograd.events import effect
from minigrad.nn.layers.convolution import _ConvTransposeNd
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.utils.computed import computed, fix, set_computed
from minigrad.ops._numerics import values_of
from minigrad.support.checks import check_number, check_size
from minigrad.tensors.functions.arguments import spelled
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = ["remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound=Module)


class _SpectralNorm:
    """Compute a weight from the original one, with estimates u and v of its singular vectors."""

    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        self.name, self.n_power_iterations, self.eps, self.dim = name, n_power_iterations, eps, dim

    def __call__(self, module: Module) -> Tensor:
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = as_matrix(weight, self.dim)
        if module.training:
            improve(ops.swapaxes(matrix, 0, 1), v, u, self.n_power_iterations, self.eps)
        return normalized(weight, matrix, u, v)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with one axis as its rows, and all others as columns."""
    rows = ops.moveaxis(weight, dim, 0)
    return ops.reshape(rows, (rows.shape[0], -1))


def first_guess(count: int, weight: Tensor) -> np.ndarray:
    """A random vector of length 1."""
    drawn = random.generator().standard_normal(count)
    return (drawn / np.linalg.norm(drawn)).astype(weight.dtype)


@effect
def improve(matrix: Tensor, left: Tensor, right: Tensor, times: int, eps: float) -> None:
    """Improve the estimates of the singular vectors, by the power method."""
    values, x, y = values_of(matrix), values_of(left), values_of(right)
    for _ in range(times):
        x = values @ y
        x = x / max(np.linalg.norm(x), eps)
        y = values.T @ x
        y = y / max(np.linalg.norm(y), eps)
    assign(left, x)
    assign(right, y)


def normalized(weight: Tensor, matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The weight, divided by the singular value of the vectors as they are now."""
    u, v = ops.clone(u), ops.clone(v)
    return weight / ops.matmul(u, ops.matmul(matrix, v))


def checked(
    module: Module, name: str, n_power_iterations: int, eps: float, dim: int | None
) -> tuple[Parameter, int]:
    """The weight of a module, and its axis of rows: by default 0, of transposed convolutions 1."""
    check_size("spectral_norm", "n_power_iterations", n_power_iterations)
    check_number("spectral_norm", "eps", eps, above=0.0)
    weight = getattr(module, name, None)
    if not isinstance(weight, Parameter) or weight.ndim < 2:
        raise ValueError(
            f"spectral_norm: {type(module).__name__} has no parameter {name!r} with two axes or "
            f"more"
        )
    if dim is None:
        dim = int(isinstance(module, _ConvTransposeNd))
    elif not -weight.ndim <= dim < weight.ndim:
        raise ValueError(f"spectral_norm: dim {dim} does not exist in shape {tuple(weight.shape)}")
    return weight, dim


@spelled
def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> M:  # fmt: skip
    r"""Divide a weight by its largest singular value :math:`\sigma`: :math:`w = v / \sigma(v)`.

    The parameter `<name>_orig` is trained; `<name>` is computed from it whenever it is read. The
    singular value is estimated by the power method with the buffers `<name>_u` and `<name>_v`,
    which takes steps in training mode. `parametrizations.spectral_norm` is PyTorch's newer form.

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    Args:
        module: The module that has the weight.
        name: The name of the weight.
        n_power_iterations: The number of steps of the power method.
        eps: The least norm to divide by within the power method.
        dim: The axis that is the rows of the matrix; by default 0, of transposed convolutions 1.

    Raises:
        ValueError: There is no such parameter, or it has fewer than two axes.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.spectral_norm(nn.Linear(4, 3))
        >>> [name for name, _ in layer.named_parameters()], layer.weight_u.shape
        (['bias', 'weight_orig'], minigrad.Size([3]))
    """
    weight, dim = checked(module, name, n_power_iterations, eps, dim)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    rows, columns = as_matrix(weight, dim).shape
    module.register_buffer(f"{name}_u", first_guess(rows, weight))
    module.register_buffer(f"{name}_v", first_guess(columns, weight))
    norm = _SpectralNorm(name, n_power_iterations, eps, dim)
    set_computed(module, {**computed(module), name: norm})
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Undo `spectral_norm`: the weight becomes a parameter again, with its present values.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(4, 3)))
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    norm = computed(module).get(name)
    if not isinstance(norm, _SpectralNorm):
        raise ValueError(
            f"remove_spectral_norm: {name!r} of {type(module).__name__} is not normalized"
        )
    u, v, weight = (getattr(module, f"{name}_{part}") for part in ("u", "v", "orig"))
    value = normalized(weight, as_matrix(weight, norm.dim), u, v).detach()
    fix(module, name, value, ("u", "v", "orig"))
    return module
