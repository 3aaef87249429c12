"""Weight and spectral normalization whose tensors have PyTorch's older names."""

from __future__ import annotations

from typing import TypeVar

from minigrad.nn.module.base import Module
from minigrad.nn.utils import parametrizations
from minigrad.nn.utils.parametrize import remove_older_names, use_older_names
from minigrad.ops.argument_errors import checked

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


@checked
def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Normalize a weight as `parametrizations.weight_norm` does, with the same arguments.

    The parameters are the module's own, `<name>_g` and `<name>_v`, also in its state dict.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.weight_norm(nn.Linear(4, 3))
        >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
        [('bias', (3,)), ('weight_g', (3, 1)), ('weight_v', (3, 4))]
    """
    return use_older_names(parametrizations.weight_norm(module, name, dim), name)


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo `weight_norm`: the weight becomes a parameter again, with its present values.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(4, 3)))
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    return remove_older_names("remove_weight_norm", module, name)


@checked
def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> M:  # fmt: skip
    """Normalize a weight as `parametrizations.spectral_norm` does, with the same arguments.

    The parameter `<name>_orig` and the buffers `<name>_u` and `<name>_v` are the module's own, also
    in its state dict.

    Example:
        >>> from minigrad import nn
        >>> list(nn.utils.spectral_norm(nn.Linear(4, 3)).state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    made = parametrizations.spectral_norm(module, name, n_power_iterations, eps, dim)
    return use_older_names(made, name)


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Undo `spectral_norm`, as `remove_weight_norm` does.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(4, 3)))
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    return remove_older_names("remove_spectral_norm", module, name)
