"""Activation functions: each takes a tensor of any shape, and returns one of the same shape.

``inplace=True`` overwrites the input with the result; it saves no time. It is an error for a leaf,
and in the backward pass if a rule needs the overwritten values.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minigrad import ops, random
from minigrad.autograd.call import rounded_once
from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import located
from minigrad.nn.functional.framing import framed
from minigrad.ops import activation as own
from minigrad.ops import gelu, log_softmax, sigmoid, softmax, softplus, tanh
from minigrad.ops._numerics import values_of
from minigrad.ops.casting import floating
from minigrad.support.checks import check_number
from minigrad.tensors.inplace import overwritten
from minigrad.tensors.tensor import Tensor

__all__ = [
    "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid",
    "silu", "softmax", "softplus", "softsign", "tanh",
]  # fmt: skip

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
"""The constants of Klambauer et al. that keep mean 0 and variance 1 from layer to layer."""


def relu(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute ReLU, max(x, 0): see `minigrad.relu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([-1.0, 2.0])
        >>> nn.functional.relu(x, inplace=True) is x, x.tolist()
        (True, [0.0, 2.0])
    """
    return overwritten(input_, ops.relu) if inplace else ops.relu(input_)


def silu(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute SiLU, x · σ(x): see `minigrad.silu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.silu(tensor(1.0)).item(), 4)
        0.7311
    """
    return overwritten(input_, ops.silu) if inplace else ops.silu(input_)


@framed
def leaky_relu(input_: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Compute leaky ReLU: x, or ``negative_slope · x`` below 0.

    Source: Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models",
    2013.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.leaky_relu(tensor([-1.0, 2.0]), 0.5).tolist()
        [-0.5, 2.0]
    """
    if inplace:
        return overwritten(input_, leaky_relu, negative_slope)
    check_number("leaky_relu", "negative_slope", negative_slope)
    return ops.where(input_ > 0, input_, input_ * negative_slope)


@framed
def elu(input_: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the exponential linear unit: x, or ``alpha · (eˣ - 1)`` below 0.

    Source: Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by
    exponential linear units", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.elu(tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """
    if inplace:
        return overwritten(input_, elu, alpha)
    check_number("elu", "alpha", alpha)
    return _composed(_elu, input_, alpha)


def _composed(function: Callable[..., Tensor], x: Tensor, *numbers: float) -> Tensor:
    """Call a function of several ops; float16 is computed in float32, and rounded once."""
    if getattr(x, "dtype", None) != np.float16:  # it may be a number
        return function(x, *numbers)
    rounded: Tensor = rounded_once(function, (x,), numbers, np.float32)
    return rounded


def _elu(x: Tensor, alpha: float, width: float = 1.0) -> Tensor:
    """ELU, stretched below 0 along the axis of x."""
    positive = x > 0
    below = ops.where(positive, 0.0, x)  # the exponential must not overflow
    below = below if width == 1 else below / width
    return ops.where(positive, x, ops.expm1(below) * alpha)


@framed
def celu(input_: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the ELU whose slope is 1 at 0 for every alpha: x, or ``alpha · (e^(x/alpha) - 1)``.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.celu(tensor([-1000.0, 2.0]), alpha=2.0).tolist()
        [-2.0, 2.0]
    """
    if inplace:
        return overwritten(input_, celu, alpha)
    check_number("celu", "alpha", alpha, above=0.0)
    return _composed(_elu, input_, alpha, alpha)


@framed
def selu(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute the scaled exponential linear unit, which keeps mean 0 and variance 1.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
        >>> from minigrad import nn, tensor
        >>> [round(x, 4) for x in nn.functional.selu(tensor([-1000.0, 1.0])).tolist()]
        [-1.7581, 1.0507]
    """
    if inplace:
        return overwritten(input_, selu)
    return _composed(lambda x: _elu(x, SELU_ALPHA) * SELU_SCALE, input_)


def relu6(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute ReLU with maximum 6: min(max(x, 0), 6).

    Source: Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.relu6(tensor([-1.0, 2.0, 7.0])).tolist()
        [0.0, 2.0, 6.0]
    """
    if inplace:
        return overwritten(input_, relu6)
    return own.hardtanh(input_, 0.0, 6.0)


@framed
def hardsigmoid(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute the hard sigmoid: 0 up to -3, 1 from 3, and x / 6 + 1/2 between.

    Source: Courbariaux, Bengio and David, "BinaryConnect", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardsigmoid(tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    if inplace:
        return overwritten(input_, hardsigmoid)
    return _composed(lambda x: own.hardtanh(x + 3, 0.0, 6.0) / 6, input_)


@framed
def hardswish(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute hard swish: x · hardsigmoid(x).

    Source: Howard et al., "Searching for MobileNetV3", 2019.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardswish(tensor([-4.0, 3.0])).tolist()
        [0.0, 3.0]
    """
    if inplace:
        return overwritten(input_, hardswish)
    return _composed(lambda x: ops.where(x <= -3, 0.0, x * hardsigmoid(x)), input_)


@framed
def mish(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute Mish: x · tanh(softplus(x)).

    Source: Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.mish(tensor(1.0)).item(), 4)
        0.8651
    """
    if inplace:
        return overwritten(input_, mish)
    return _composed(lambda x: x * tanh(softplus(x)), input_)


def hardtanh(
    input_: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Limit each element to the range from min_val to max_val, with slope 0 at the bounds.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardtanh(tensor([-3.0, 0.5, 3.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    if inplace:
        return overwritten(input_, hardtanh, min_val, max_val)
    check_number("hardtanh", "min_val", min_val)
    check_number("hardtanh", "max_val", max_val, min_val)
    return own.hardtanh(input_, float(min_val), float(max_val))


@framed
def logsigmoid(input_: Tensor) -> Tensor:
    """Compute the logarithm of the sigmoid, -log(1 + e⁻ˣ), without overflow.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.logsigmoid(tensor(-1000.0)).item()
        -1000.0
    """
    return -softplus(-floating(input_))


@framed
def softsign(input_: Tensor) -> Tensor:
    """Compute softsign, ``x / (1 + |x|)``.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softsign(tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """
    return _composed(lambda x: x / (1.0 + ops.abs(x)), input_)


@framed
def prelu(input_: Tensor, weight: Tensor) -> Tensor:
    """Compute leaky ReLU with a slope below 0 that is a tensor.

    Source: He et al., "Delving deep into rectifiers", 2015.

    Args:
        input_: Shape (N, C, ...), or any shape if there is one slope.
        weight: The slopes below 0, of shape (C,), (1,) or ().

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.prelu(tensor([[-1.0, -1.0, 2.0]]), tensor([0.5, 0.25, 0.0])).tolist()
        [[-0.5, -0.25, 2.0]]
    """
    channels = input_.shape[1] if input_.ndim > 1 else 1
    if weight.ndim > 1 or math.prod(weight.shape) not in (1, channels):
        raise value_error(
            f"prelu: an input of shape {input_.shape} has {channels} channels, so weight must "
            f"have shape ({channels},) or (1,), got {weight.shape}"
        )
    positive = input_ > 0
    slope = weight.reshape(-1, *(1,) * (input_.ndim - 2)) if input_.ndim > 1 else weight.reshape(())
    return ops.where(positive, input_, slope * ops.where(positive, 0.0, input_))


@framed
def glu(input_: Tensor, axis: int = -1) -> Tensor:
    """Compute the gated linear unit: the first half of an axis times the sigmoid of the second.

    The axis has an even size, and half of it in the result.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.glu(tensor([6.0, 8.0, 0.0, 1000.0])).tolist()
        [3.0, 8.0]
    """
    place = normalize_axis_index(axis, input_.ndim, located("glu"))
    size = input_.shape[place]
    if size % 2:
        raise value_error(
            f"glu: axis {axis} of shape {input_.shape} must have an even size, got {size}"
        )
    values, gates = ops.split(input_, 2, place)
    return values * sigmoid(gates)


@framed
def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, *, axis: int = -1
) -> Tensor:
    r"""Draw from the Gumbel-softmax distribution, :math:`\mathrm{softmax}((x + g) / \tau)`.

    Source: Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017.

    Args:
        logits: x, unnormalized log-probabilities, a tensor of any shape.
        tau: The temperature τ; positive.
        hard: Whether to return one-hot vectors, with the gradient of the soft ones.
        axis: The axis of the classes.

    Example:
        >>> from minigrad import nn, zeros
        >>> nn.functional.gumbel_softmax(zeros(2, 5), hard=True).sum(axis=1).tolist()
        [1.0, 1.0]
    """
    check_number("gumbel_softmax", "tau", tau, above=0.0)
    noise = random.generator().gumbel(size=logits.shape)
    soft = softmax((logits + noise.astype(logits.dtype)) / tau, axis)
    if not hard:
        return soft
    chosen = np.zeros(soft.shape, soft.dtype)
    if chosen.size:
        np.put_along_axis(chosen, values_of(soft).argmax(axis, keepdims=True), 1, axis)
    return soft - soft.detach() + chosen
