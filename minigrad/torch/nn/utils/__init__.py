"""`torch.nn.utils`: clipping, vectors of parameters, weight normalization, packed sequences."""

from __future__ import annotations

import math
from typing import Any

from minigrad.nn import utils as ours
from minigrad.nn.utils import remove_weight_norm as remove_weight_norm
from minigrad.nn.utils import vector_to_parameters as vector_to_parameters
from minigrad.tensors.creation import tensor
from minigrad.torch.modules import missing as _missing
from minigrad.torch.nn.classes import adopt_module
from minigrad.torch.nn.utils import parametrize as parametrize
from minigrad.torch.nn.utils import rnn as rnn
from minigrad.torch.tensor import Tensor, adopt

__getattr__ = _missing(__name__)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Any:  # fmt: skip
    """Scale gradients so that their norm is at most `max_norm`; returns the norm before."""
    return tensor(
        ours.clip_grad_norm(
            parameters, max_norm, norm_type, 1e-6, error_if_nonfinite=error_if_nonfinite
        )
    )


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Clip every element of the gradients."""
    ours.clip_grad_value(parameters, clip_value)


def parameters_to_vector(parameters: Any) -> Any:
    """All parameters as one vector."""
    return adopt(ours.parameters_to_vector(parameters))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Divide a weight by its largest singular value."""
    return adopt_module(ours.spectral_norm(module, name, n_power_iterations, eps, dim))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the norm and the direction of a weight apart."""
    return adopt_module(ours.weight_norm(module, name, dim))


clip_grad_norm = clip_grad_norm_


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    """The norm of several tensors, as if they were one vector."""
    total = ours.get_total_norm([tensors] if isinstance(tensors, Tensor) else tensors, norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(f"get_total_norm: the norm is {total}")
    return tensor(total)


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: Any = None
) -> None:
    """Scale gradients whose norm is known so that it is at most `max_norm`."""
    factor = min(max_norm / (float(total_norm) + 1e-6), 1.0)
    for each in [parameters] if isinstance(parameters, Tensor) else parameters:
        if each.grad is not None:
            each.grad.mul_(factor)
