"""Normalization over an axis, a batch, a group of channels or an instance; unit vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, value_error
from minigrad.autograd.events import effect
from minigrad.linalg import vector_norm
from minigrad.nn.functional.framing import framed
from minigrad.ops.argument_errors import checked
from minigrad.ops.casting import as_tensor, floating
from minigrad.support.checks import check_number, check_probability, check_size
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize",
    "rms_norm",
]  # fmt: skip


@checked
def layer_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    r"""Normalize the last axes to mean 0 and variance 1, then scale by `weight`, shift by `bias`.

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.

    Args:
        input: A tensor of shape ``(..., *normalized_shape)``.
        normalized_shape: The sizes of the axes that are normalized; an int for the last axis.
        weight: A tensor of shape `normalized_shape`, or None for 1.
        bias: A tensor of shape `normalized_shape`, or None for 0.
        eps: Added to the variance.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.layer_norm(tensor([[1.0, 3.0]]), 2, eps=0.0).tolist()
        [[-1.0, 1.0]]
    """
    sizes = _sizes("layer_norm", input, normalized_shape)
    check_number("layer_norm", "eps", eps, 0.0)
    return ops.layer_norm(input, weight, bias, ndim=len(sizes), eps=eps)


@checked
def rms_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:  # fmt: skip
    r"""Divide by the root mean square of the last axes, then scale by `weight`.

    The arguments are those of `layer_norm`. By default eps, which is added to the mean square, is
    the machine epsilon of the dtype, as in PyTorch.

    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.rms_norm(tensor([[1.0, 7.0]]), 2, eps=0.0)
        tensor([[0.2000, 1.4000]])
    """
    sizes = _sizes("rms_norm", input, normalized_shape)
    if eps is None and input.dtype.kind == "f":
        eps = float(np.finfo(input.dtype).eps)
    eps = 0.0 if eps is None else check_number("rms_norm", "eps", eps, 0.0)
    return ops.rms_norm(input, weight, ndim=len(sizes), eps=eps)


def _sizes(owner: str, input: Tensor, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    shape = normalized_shape
    sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    wrong = not sizes or tuple(input.shape[-len(sizes) :]) != sizes
    refuse_shapes(wrong, owner, f"last axes {sizes}", input)
    return sizes


@framed
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    r"""Normalize each channel to mean 0 and variance 1 over the batch, then scale and shift it.

    In training the statistics of this batch are used, and the running statistics are updated with
    them (with the unbiased variance). Otherwise the running statistics are used.

    Source: Ioffe and Szegedy, "Batch normalization", 2015.

    Args:
        input: A tensor of shape (N, C, ...).
        running_mean: Shape (C,), updated in place in training; None in training only.
        running_var: The same for the variance.
        weight: Scale of shape (C,), or None for 1.
        bias: Shift of shape (C,), or None for 0.
        training: Whether to use the batch statistics and update the running ones.
        momentum: The weight of the batch in the running statistics.
        eps: Added to the variance.

    Raises:
        ValueError: The shapes do not fit, in training a channel has only one value, or without it
            there are no running statistics.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[1.0], [3.0]])
        >>> nn.functional.batch_norm(x, None, None, training=True, eps=0.0).tolist()
        [[-1.0], [1.0]]
        >>> nn.functional.batch_norm(x, tensor([1.0]), tensor([4.0]), eps=0.0).tolist()
        [[0.0], [1.0]]
    """
    refuse_shapes(input.ndim < 2, "batch_norm", "an input of shape (N, C, ...)", input)
    _check_channels("batch_norm", input, running_mean=running_mean, running_var=running_var)
    check_number("batch_norm", "eps", eps, 0.0)
    check_probability("batch_norm", "momentum", momentum)
    if not training:
        if running_mean is None or running_var is None:
            raise value_error("batch_norm: evaluation needs running_mean and running_var")
        column = (-1, *(1,) * (input.ndim - 2))
        scale = (running_var + eps) ** -0.5
        if weight is not None:
            scale = scale * weight
        out = (input - running_mean.reshape(column)) * scale.reshape(column)
        return out if bias is None else out + bias.reshape(column)
    count = input.shape[0] * math.prod(input.shape[2:])
    if count == 1:
        what = f"an input of shape {tuple(input.shape)} has only one value per channel"
        remedy = "so no variance to learn from; give larger batches, or call .eval()"
        raise value_error(f"batch_norm: {what}, {remedy}")
    out, mean, var = ops.batch_norm(input, weight, bias, eps=eps)
    if count:
        update_running(running_mean, mean.detach(), momentum)
        update_running(running_var, var.detach() * (count / (count - 1)), momentum)
    return out


def update_running(running: Tensor | None, found: Tensor, momentum: float) -> None:
    """Move a running statistic, if there is one, towards that of a batch."""
    if running is not None:
        move_running(running, found, momentum)


@effect
def move_running(running: Tensor, found: Tensor, momentum: float) -> None:
    """Move a running statistic towards that of a batch."""
    new = found._data.astype(running.dtype) * momentum
    assign(running, running._data * (1 - momentum) + new)  # no op: a checkpoint may run it again


def _check_channels(owner: str, input: Tensor, **parts: Tensor | None) -> None:
    """Raise unless each part has one number for each channel."""
    for name, part in parts.items():
        wrong = part is not None and part.shape != input.shape[1:2]
        refuse_shapes(wrong, owner, f"an input (N, C, ...) and {name} (C,)", input, part)


@checked
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    r"""Normalize each group of channels of a sample to mean 0 and variance 1, then scale and shift.

    Source: Wu and He, "Group normalization", 2018.

    Args:
        input: A tensor of shape (N, C, ...).
        num_groups: The number of groups of consecutive channels.
        weight: Scale of each channel, of shape (C,), or None for 1.
        bias: Shift of each channel, of shape (C,), or None for 0.
        eps: Added to the variance.

    Raises:
        ValueError: The shapes do not fit, or num_groups does not divide C.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.group_norm(tensor([[1.0, 3.0, 10.0, 30.0]]), 2, eps=0.0).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    check_size("group_norm", "num_groups", num_groups)
    check_number("group_norm", "eps", eps, 0.0)
    return ops.group_norm(input, weight, bias, groups=num_groups, eps=eps)


@framed
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    r"""Normalize each channel of each sample to mean 0 and variance 1, then scale and shift it.

    The arguments are those of `batch_norm`. Without `use_input_stats` the running statistics are
    used; otherwise they are updated with the means over the batch.

    Source: Ulyanov, Vedaldi and Lempitsky, "Instance normalization: the missing ingredient for fast
    stylization", 2016.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.instance_norm(tensor([[[1.0, 3.0], [10.0, 30.0]]]), eps=0.0).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    owner = "instance_norm"
    check_probability(owner, "momentum", momentum)
    check_number(owner, "eps", eps, 0.0)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise value_error(f"{owner}: use_input_stats=False needs running_mean and running_var")
        return batch_norm(input, running_mean, running_var, weight, bias, False, eps=eps)
    within = math.prod(input.shape[2:])
    wanted = "an input of shape (N, C, L, ...) with several values per channel"
    refuse_shapes(input.ndim < 2 or within == 1, owner, wanted, input)
    parts = {"running_mean": running_mean, "running_var": running_var}
    _check_channels(owner, input, **parts, weight=weight, bias=bias)
    if (running_mean is not None or running_var is not None) and 0 not in input.shape:
        values = as_tensor(input).detach().reshape(*input.shape[:2], within)
        update_running(running_mean, ops.mean(values, (0, 2)), momentum)
        update_running(running_var, ops.mean(ops.var(values, 2, 1), 0), momentum)
    return group_norm(input, max(input.shape[1], 1), weight, bias, eps)


@framed
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    r"""Divide by the neighbouring channels: :math:`x / (k + \alpha\, \overline{x^2})^\beta`.

    Source: Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional
    neural networks", 2012.

    Args:
        input: A tensor of shape (N, C, L, ...).
        size: How many channels, with this one in their middle, the mean of the squares is over;
            channels beyond the first and the last count as 0.
        alpha: The factor of the mean.
        beta: The exponent.
        k: Added to the mean.

    Example:
        >>> from minigrad import nn, ones
        >>> x = ones(1, 3, 1)
        >>> nn.functional.local_response_norm(x, 3, alpha=3.0, beta=1.0).tolist()
        [[[0.3333333432674408], [0.25], [0.3333333432674408]]]
    """
    check_size("local_response_norm", "size", size)
    for name, value in (("alpha", alpha), ("beta", beta), ("k", k)):
        check_number("local_response_norm", name, value, 0.0)
    refuse_shapes(input.ndim < 3, "local_response_norm", "an input of shape (N, C, L, ...)", input)
    around = ((0, 0), (size // 2, (size - 1) // 2), *((0, 0),) * (input.ndim - 2))
    x = floating(input)
    windows = ops.unfold(ops.pad(x * x, around), 1, size, 1)
    return x / (ops.mean(windows, -1) * alpha + k) ** beta


@checked
@framed
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    r"""Divide vectors by their p-norm: :math:`x / \max(\|x\|_p, \epsilon)`.

    The vectors lie along `dim`, the second axis by default. A zero vector stays zero.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.normalize(tensor([[3.0, 4.0]])).tolist()
        [[0.6000000238418579, 0.800000011920929]]
    """
    check_number("normalize", "p", p, above=0.0, infinite=True)
    check_number("normalize", "eps", eps, 0.0)
    lengths = vector_norm(input, ord=p, dim=dim, keepdim=True)
    return input / ops.maximum(lengths, eps)
