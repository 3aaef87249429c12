"""Utilities for models: gradients, parameters as a vector, functional calls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes
from minigrad.autograd.events import effect, reading
from minigrad.autograd.mutation import mark_written
from minigrad.nn.module.stateless import evaluating, functional_call
from minigrad.nn.utils import parametrizations as parametrizations
from minigrad.nn.utils import parametrize as parametrize
from minigrad.nn.utils import prune as prune
from minigrad.nn.utils import rnn as rnn
from minigrad.nn.utils.older_norms import remove_spectral_norm as remove_spectral_norm
from minigrad.nn.utils.older_norms import remove_weight_norm as remove_weight_norm
from minigrad.nn.utils.older_norms import spectral_norm as spectral_norm
from minigrad.nn.utils.older_norms import weight_norm as weight_norm
from minigrad.ops._numerics import LEAST, values_of, widened, within_rule
from minigrad.ops.argument_errors import checked
from minigrad.support.checks import check_number
from minigrad.tensors.creation import tensor
from minigrad.tensors.inplace import assign
from minigrad.tensors.rows import held
from minigrad.tensors.tensor import Tensor

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value",
    "clip_grad_value_", "clip_grads_with_norm_", "evaluating", "functional_call", "get_total_norm",
    "grad_norm", "parameters_to_vector", "remove_spectral_norm", "remove_weight_norm",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip


@checked
def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return the p-norm of several tensors, as if they were one vector.

    Of gradients of a model that `minigrad.distributed.parallelize` has divided, take `grad_norm`.

    Args:
        tensors: The tensors.
        norm_type: The p of the p-norm; inf for the largest absolute value.
        error_if_nonfinite: Raise if the norm is infinite or not a number.
        foreach: It changes nothing.

    Source: PyTorch 2.13, "torch.nn.utils.get_total_norm".

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.utils.get_total_norm([tensor([3.0]), tensor([[4.0]])]).item()
        5.0
    """
    total = _total_norm(_listed(tensors), norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(f"get_total_norm: the norm is {total}")
    return tensor(total)


@np.errstate(over="ignore")
def _total_norm(tensors: Iterable[Tensor], norm_type: float) -> float:
    check_number("get_total_norm", "norm_type", norm_type, above=0.0, infinite=True)
    norms = [_norm(widened(held(tensor)).reshape(-1), norm_type) for tensor in tensors]
    return _norm(np.array(norms, np.float64), norm_type)


def _norm(array: np.ndarray, norm_type: float) -> float:
    if norm_type == 2:
        square = float(array.dot(array))
        if LEAST[array.dtype] <= square < math.inf:
            return math.sqrt(square)
    return float(within_rule(ops.norm, array, norm_type))


@reading
@checked
def grad_norm(parameters: Tensor | Iterable[Tensor], norm_type: float = 2.0) -> float:
    """Return the norm of the gradients of some parameters, as if they were one vector.

    Parameters without a gradient are skipped; `norm_type` is that of `get_total_norm`. If some are
    divided among ranks, all of these ranks call it, and get the norm of the whole.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([1.5, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> nn.utils.grad_norm([x])
        5.0
    """
    return _norm_of_gradients(_listed(parameters), norm_type)


def _norm_of_gradients(parameters: list[Tensor], norm_type: float) -> float:
    parts: dict[Any, list[Tensor]] = {None: []}  # by the ranks among which they are divided
    for parameter in parameters:
        part = parts.setdefault(getattr(parameter, "divided_among", None), [])
        if parameter.grad is not None:
            part.append(parameter.grad)
    norms = {comm: _total_norm(gradients, norm_type) for comm, gradients in parts.items()}
    whole = norms.pop(None)
    if not norms:
        return whole
    every = [norm for comm, own in norms.items() for norm in comm.all_gather_object(own)]
    return _norm(np.array([whole, *every], np.float64), norm_type)


@checked
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale gradients in place so that their total norm is at most `max_norm`; return it before.

    Source: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
    2013.

    Args:
        parameters: A tensor, or several; those without a gradient are skipped. If some are divided
            among ranks, all of these ranks call it, and the norm is that of the whole.
        max_norm: The largest norm allowed.
        norm_type: As in `get_total_norm`.
        error_if_nonfinite: The same.
        foreach: It changes nothing.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([3.0, 4.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> nn.utils.clip_grad_norm_([x], max_norm=1.0).item()
        10.0
        >>> [round(part, 3) for part in x.grad.tolist()]
        [0.6, 0.8]
    """
    return tensor(
        clip_grad_norm(parameters, max_norm, norm_type, 1e-6, error_if_nonfinite=error_if_nonfinite)
    )


@effect
@checked
def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    eps: float = 1e-7, *, error_if_nonfinite: bool = False,
) -> float:  # fmt: skip
    """Clip as Lucid 2 does: `eps` is added to the norm, and the result is a float.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([3.0, 4.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> nn.utils.clip_grad_norm([x], max_norm=1.0)
        10.0
    """
    owner = "clip_grad_norm_"
    check_number(owner, "max_norm", max_norm, 0.0, infinite=True)
    check_number(owner, "eps", eps, 0.0)
    several = _listed(parameters)
    total = _norm_of_gradients(several, norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(f"{owner}: the norm of the gradients is {total}")
    _scale(several, max_norm / (total + eps))
    return total


def _scale(parameters: Iterable[Tensor], factor: float) -> None:
    """Multiply gradients by a factor below 1, in place."""
    if factor >= 1.0:  # not for NaN
        return
    for gradient in [parameter.grad for parameter in parameters if parameter.grad is not None]:
        wide = np.result_type(gradient.dtype, np.float32).type(factor)  # float16 would round it
        numbers = held(gradient)
        np.multiply(numbers, wide, out=numbers, casting="same_kind")
        mark_written(numbers)


@effect
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Any,
    foreach: bool | None = None,
) -> None:  # fmt: skip
    """Scale gradients in place, whose total norm is known, so that it is at most `max_norm`.

    `foreach` changes nothing.

    Source: PyTorch 2.13, "torch.nn.utils", `clip_grads_with_norm_`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([3.0, 4.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> nn.utils.clip_grads_with_norm_([x], 1.0, nn.utils.grad_norm([x]))
        >>> round(nn.utils.grad_norm([x]), 3)
        1.0
    """
    check_number("clip_grads_with_norm_", "max_norm", max_norm, 0.0, infinite=True)
    _scale(_listed(parameters), max_norm / (float(total_norm) + 1e-6))


@effect
@checked
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clip each element of the gradients in place to [-clip_value, clip_value].

    `foreach` changes nothing.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([-3.0, 0.25], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> nn.utils.clip_grad_value_([x], 1.0)
        >>> x.grad.tolist()
        [-1.0, 0.5]
    """
    check_number("clip_grad_value_", "clip_value", clip_value, 0.0, infinite=True)
    for parameter in _listed(parameters):
        if (gradient := parameter.grad) is not None:
            numbers = held(gradient)
            np.clip(numbers, -clip_value, clip_value, out=numbers)
            mark_written(numbers)


clip_grad_value = clip_grad_value_  # Lucid 2's name


@checked
def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all parameters as one vector, with a gradient to them.

    Example:
        >>> from minigrad import nn
        >>> nn.utils.parameters_to_vector(nn.Linear(3, 2).parameters()).shape
        minigrad.Size([8])
    """
    return ops.concatenate(list(parameters), axis=None)


@checked
def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write a vector into parameters, in place: the inverse of `parameters_to_vector`.

    Example:
        >>> from minigrad import arange, nn
        >>> layer = nn.Linear(2, 1)
        >>> nn.utils.vector_to_parameters(arange(3.0), layer.parameters())
        >>> layer.weight.tolist(), layer.bias.tolist()
        ([[0.0, 1.0]], [2.0])
    """
    targets = list(parameters)
    ends = np.cumsum([0, *(parameter._data.size for parameter in targets)])
    wanted = f"a vector of shape ({ends[-1]},)"
    refuse_shapes(vec.shape != (ends[-1],), "vector_to_parameters", wanted, vec)
    for parameter, part in zip(targets, np.split(values_of(vec), ends[1:]), strict=False):
        assign(parameter, part.reshape(parameter.shape).astype(parameter.dtype))


def _listed(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if callable(getattr(parameters, "parameters", None)):
        kind = type(parameters).__name__
        raise TypeError(f"parameters: tensors expected, got a {kind}; pass its parameters()")
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)
