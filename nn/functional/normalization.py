"""Normalization: layer, root-mean-square, batch and group normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from minigrad import ops
from minigrad._checks import check_number, check_probability, check_size
from minigrad._spelling import spelled
from minigrad._tensor import Tensor
from minigrad.autograd import no_grad
from minigrad.autograd.mode import located

__all__ = ["batch_norm", "group_norm", "layer_norm", "rms_norm"]


@spelled
def layer_norm(
    input_: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Normalize the last axes to mean 0 and variance 1, then scale by `weight`, shift by `bias`.

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.

    Args:
        input_: A tensor of shape ``(..., *normalized_shape)``.
        normalized_shape: The sizes of the axes that are normalized; an int for the last axis.
        weight: A tensor of shape `normalized_shape`, or None for 1.
        bias: A tensor of shape `normalized_shape`, or None for 0.
        eps: Added to the variance.

    Returns:
        A tensor of the shape of `input_`.

    Raises:
        ValueError: The last axes have other sizes.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.layer_norm(tensor([[1.0, 3.0]]), 2, eps=0.0).tolist()
        [[-1.0, 1.0]]
    """
    sizes = _sizes("layer_norm", input_, normalized_shape)
    check_number("layer_norm", "eps", eps, 0.0)
    return ops.layer_norm(input_, weight, bias, ndim=len(sizes), eps=eps)


@spelled
def rms_norm(
    input_: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    r"""Divide by the root mean square of the last axes, then scale by `weight`.

    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019.

    Args:
        input_: A tensor of shape ``(..., *normalized_shape)``.
        normalized_shape: The sizes of the axes that are normalized; an int for the last axis.
        weight: A tensor of shape `normalized_shape`, or None for 1.
        eps: Added to the mean square; by default the machine epsilon of the dtype, as in PyTorch.

    Returns:
        A tensor of the shape of `input_`.

    Raises:
        ValueError: The last axes have other sizes.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.rms_norm(tensor([[1.0, 7.0]]), 2, eps=0.0)
        Tensor([[0.2, 1.4]], dtype=float32)
    """
    sizes = _sizes("rms_norm", input_, normalized_shape)
    if eps is None and input_.dtype.kind == "f":
        eps = float(np.finfo(input_.dtype).eps)
    eps = 0.0 if eps is None else check_number("rms_norm", "eps", eps, 0.0)
    return ops.rms_norm(input_, weight, ndim=len(sizes), eps=eps)


def _sizes(owner: str, input_: Tensor, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    shape = normalized_shape
    sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    if not sizes or tuple(input_.shape[-len(sizes) :]) != sizes:
        raise ValueError(
            located(f"{owner}: the input has shape {input_.shape}, its last axes must be {sizes}")
        )
    return sizes


@spelled
def batch_norm(
    input_: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Normalize each channel to mean 0 and variance 1 over the batch, then scale and shift it.

    In training the statistics of this batch are used, and the running statistics are updated with
    them (with the unbiased variance). Otherwise the running statistics are used, if given.

    Source: Ioffe and Szegedy, "Batch normalization", 2015.

    Args:
        input_: A tensor of shape (N, C, ...).
        running_mean: Shape (C,); updated in place in training.
        running_var: Shape (C,); updated in place in training.
        weight: Scale of shape (C,), or None for 1.
        bias: Shift of shape (C,), or None for 0.
        training: Whether to use the batch statistics and update the running ones.
        momentum: The weight of the batch in the running statistics.
        eps: Added to the variance.

    Returns:
        A tensor of the shape of `input_`.

    Raises:
        ValueError: The shapes do not fit, or in training a channel has only one value.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.batch_norm(tensor([[1.0], [3.0]]), eps=0.0).tolist()
        [[-1.0], [1.0]]
    """
    if input_.ndim < 2:
        raise ValueError(
            located(f"batch_norm: an input of shape (N, C, ...) expected, got {input_.shape}")
        )
    for name, running in (("running_mean", running_mean), ("running_var", running_var)):
        if running is not None and running.shape != input_.shape[1:2]:
            raise ValueError(
                located(
                    f"batch_norm: {name} must have shape {input_.shape[1:2]} for an input of shape "
                    f"{input_.shape}, got {running.shape}"
                )
            )
    check_number("batch_norm", "eps", eps, 0.0)
    check_probability("batch_norm", "momentum", momentum)
    if not training and running_mean is not None and running_var is not None:
        column = (-1, *(1,) * (input_.ndim - 2))
        scale = (running_var + eps) ** -0.5
        if weight is not None:
            scale = scale * weight
        out = (input_ - running_mean.reshape(column)) * scale.reshape(column)
        return out if bias is None else out + bias.reshape(column)
    count = input_.shape[0] * math.prod(input_.shape[2:])
    if training and count == 1:
        raise ValueError(
            located(
                f"batch_norm: an input of shape {input_.shape} has only one value per channel, "
                f"so no variance to learn from; give larger batches, or call .eval()"
            )
        )
    out, mean, var = ops.batch_norm(input_, weight, bias, eps=eps)
    if training and count:
        with no_grad():
            for running, found in (
                (running_mean, mean.detach()),
                (running_var, var.detach() * (count / (count - 1))),
            ):
                if running is not None:
                    running.mul_(1 - momentum).add_(found.astype(running.dtype) * momentum)
    return out


@spelled
def group_norm(
    input_: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Normalize each group of channels of a sample to mean 0 and variance 1, then scale and shift.

    Source: Wu and He, "Group normalization", 2018.

    Args:
        input_: A tensor of shape (N, C, ...).
        num_groups: The number of groups of consecutive channels.
        weight: Scale of each channel, of shape (C,), or None for 1.
        bias: Shift of each channel, of shape (C,), or None for 0.
        eps: Added to the variance.

    Returns:
        A tensor of the shape of `input_`.

    Raises:
        ValueError: The shapes do not fit, or num_groups does not divide C.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.group_norm(tensor([[1.0, 3.0, 10.0, 30.0]]), 2, eps=0.0).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    check_size("group_norm", "num_groups", num_groups)
    if input_.ndim < 2 or input_.shape[1] % num_groups:
        raise ValueError(
            located(
                f"group_norm: an input of shape (N, C, ...) expected, with C divisible by "
                f"{num_groups}, got {input_.shape}"
            )
        )
    channels = input_.shape[1]
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != (channels,):
            raise ValueError(
                located(
                    f"group_norm: {name} must have shape ({channels},) for an input of shape "
                    f"{input_.shape}, got {parameter.shape}"
                )
            )
    check_number("group_norm", "eps", eps, 0.0)
    within = math.prod(input_.shape[1:]) // num_groups
    rows = input_.reshape(input_.shape[0], num_groups, within)  # (N, C, ...) -> (N, G, M)
    out = ops.layer_norm(rows, ndim=1, eps=eps).reshape(input_.shape)
    column = (-1, *(1,) * (input_.ndim - 2))
    if weight is not None:
        out = out * weight.reshape(column)
    return out if bias is None else out + bias.reshape(column)
