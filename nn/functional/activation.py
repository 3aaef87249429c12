"""Activation functions: each takes a tensor of any shape, and returns one of the same shape.

``inplace=True`` overwrites the input with the result; it saves no time. It is an error for a leaf,
and in the backward pass if a rule needs the overwritten values.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.call import rounded_once
from minigrad.autograd.errors import refuse_shapes, value_error
from minigrad.nn.functional.framing import framed
from minigrad.ops import activation as own
from minigrad.ops import gelu, sigmoid, tanh
from minigrad.ops.argument_errors import checked
from minigrad.ops.casting import floating
from minigrad.support.checks import check_flag, check_number
from minigrad.tensors.inplace import overwritten
from minigrad.tensors.tensor import Tensor

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "logsigmoid", "mish", "prelu", "relu",
    "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
"""The constants of Klambauer et al. that keep mean 0 and variance 1 from layer to layer."""


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute ReLU, max(x, 0): see `minigrad.relu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([-1.0, 2.0])
        >>> nn.functional.relu(x, inplace=True) is x, x.tolist()
        (True, [0.0, 2.0])
    """
    if inplace and check_flag("relu", "inplace", inplace):
        return overwritten(input, ops.relu)
    return ops.relu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute SiLU, x · σ(x): see `minigrad.silu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.silu(tensor(1.0)).item(), 4)
        0.7311
    """
    if inplace and check_flag("silu", "inplace", inplace):
        return overwritten(input, ops.silu)
    return ops.silu(input)


@framed
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Compute leaky ReLU: x, or ``negative_slope · x`` below 0.

    Source: Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models",
    2013.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.leaky_relu(tensor([-1.0, 2.0]), 0.5).tolist()
        [-0.5, 2.0]
    """
    return _applied(inplace, _sloped, input, negative_slope)


def _sloped(x: Tensor, slope: Any) -> Tensor:
    return ops.where(x > 0, x, x * slope)


def _applied(inplace: bool, function: Callable[..., Tensor], x: Tensor, *numbers: Any) -> Tensor:
    """What a function computes; in place, it is written over the input."""
    return overwritten(x, function, *numbers) if inplace else function(x, *numbers)


@framed
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the exponential linear unit: x, or ``alpha · (eˣ - 1)`` below 0.

    Source: Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by
    exponential linear units", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.elu(tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """
    return _applied(inplace, _elu, input, alpha)


def _composed(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of several ops: float16 is computed in float32, and rounded once."""

    def call(x: Tensor, *numbers: float) -> Tensor:
        if getattr(x, "dtype", None) != np.float16:  # it may be a number
            return function(x, *numbers)
        return rounded_once(function, (x,), numbers, np.float32)

    return call


@_composed
def _elu(x: Tensor, alpha: float, width: float = 1.0) -> Tensor:
    """ELU, stretched below 0 along the axis of x."""
    positive = x > 0
    below = ops.where(positive, 0.0, x)  # the exponential must not overflow
    below = below if width == 1 else below / width
    return ops.where(positive, x, ops.expm1(below) * alpha)


@framed
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the ELU whose slope is 1 at 0 for every alpha: x, or ``alpha · (e^(x/alpha) - 1)``.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.celu(tensor([-1000.0, 2.0]), alpha=2.0).tolist()
        [-2.0, 2.0]
    """
    check_number("celu", "alpha", alpha, above=0.0)
    return _applied(inplace, _elu, input, alpha, alpha)


@framed
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute the scaled exponential linear unit, which keeps mean 0 and variance 1.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
        >>> from minigrad import nn, tensor
        >>> [round(x, 4) for x in nn.functional.selu(tensor([-1000.0, 1.0])).tolist()]
        [-1.7581, 1.0507]
    """
    return _applied(inplace, _composed(lambda x: _elu(x, SELU_ALPHA) * SELU_SCALE), input)


@checked
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute ReLU with maximum 6: min(max(x, 0), 6).

    Source: Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.relu6(tensor([-1.0, 2.0, 7.0])).tolist()
        [0.0, 2.0, 6.0]
    """
    return _applied(inplace, _limited, input, "relu6", 0.0, 6.0)


@framed
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute the hard sigmoid: 0 up to -3, 1 from 3, and x / 6 + 1/2 between.

    Source: Courbariaux, Bengio and David, "BinaryConnect", 2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardsigmoid(tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return _applied(inplace, _composed(lambda x: own.hardtanh(x + 3, 0.0, 6.0) / 6), input)


@framed
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute hard swish: x · hardsigmoid(x).

    Source: Howard et al., "Searching for MobileNetV3", 2019.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardswish(tensor([-4.0, 3.0])).tolist()
        [0.0, 3.0]
    """
    swish = _composed(lambda x: ops.where(x <= -3, 0.0, x * hardsigmoid(x)))
    return _applied(inplace, swish, input)


@framed
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute Mish: x · tanh(softplus(x)).

    Source: Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.mish(tensor(1.0)).item(), 4)
        0.8651
    """
    return _applied(inplace, _composed(lambda x: x * tanh(ops.softplus(x))), input)


@checked
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Limit each element to the range from min_val to max_val, with slope 0 at the bounds.

    Integers stay integers: the bounds are then cut to whole numbers.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardtanh(tensor([-3.0, 0.5, 3.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    check_number("hardtanh", "max_val", max_val, min_val)
    return _applied(inplace, _limited, input, "hardtanh", float(min_val), float(max_val))


def _limited(x: Tensor, owner: str, low: float, high: float) -> Tensor:
    kind = getattr(x, "dtype", np.dtype(float)).kind
    if kind not in "iu":
        return own.hardtanh(x, low, high)
    if kind == "u" and low < 0:
        raise value_error(f"{owner}: {x.dtype.name} has no negative numbers, got min_val={low}")
    return ops.clip(x, int(low), int(high))


@framed
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replace each element that is not above a threshold by a value.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.threshold(tensor([0.5, 1.0, 2.0]), 1.0, -1.0).tolist()
        [-1.0, -1.0, 2.0]
    """
    return _applied(inplace, _above, input, threshold, value)


def _above(x: Tensor, threshold: float, value: float) -> Tensor:
    return ops.where(x <= threshold, np.asarray(value, x.dtype), x)


@framed
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Set the elements from -lambd to lambd to 0.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardshrink(tensor([-2.0, 0.25, 1.0])).tolist()
        [-2.0, 0.0, 1.0]
    """
    x = floating(input)
    return ops.where(ops.abs(x) <= lambd, 0.0, x)


@framed
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Move each element towards 0 by lambd, and those from -lambd to lambd to 0.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softshrink(tensor([-2.0, 0.25, 1.0])).tolist()
        [-1.5, 0.0, 0.5]
    """
    check_number("softshrink", "lambd", lambd, 0.0)
    x = floating(input)
    return ops.where(ops.abs(x) <= lambd, 0.0, x - lambd * ops.sign(x))


@framed
def tanhshrink(input: Tensor) -> Tensor:
    """Compute x - tanh(x).

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.tanhshrink(tensor(1.0)).item(), 4)
        0.2384
    """
    return input - tanh(input)


@framed
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False,
    inplace: bool = False,
) -> Tensor:  # fmt: skip
    """Compute leaky ReLU with a random slope below 0, from lower to upper for each element.

    Without `training` the slope is the mean of the two.

    Source: Xu et al., "Empirical evaluation of rectified activations in convolutional network",
    2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.rrelu(tensor([-1.0, 2.0]), 0.25, 0.75).tolist()
        [-0.5, 2.0]
    """
    check_number("rrelu", "upper", upper, lower)
    x = floating(input)
    slope: Any = (lower + upper) / 2
    if training:
        slope = random.uniform(lower, upper, x.shape, x.dtype)
    return _applied(inplace, _sloped, input if inplace else x, slope)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Compute a smooth ReLU, ``log(1 + exp(beta · x)) / beta``, without overflow.

    Args:
        input: x, a tensor of any shape.
        beta: The sharpness of the bend.
        threshold: Where beta · x is above it, the result is x. From 20 on, the default, nothing is
            replaced: the difference is less than 3e-9.

    Raises:
        ValueError: beta is 0.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softplus(tensor([-1000.0, 1000.0])).tolist()
        [0.0, 1000.0]
        >>> nn.functional.softplus(tensor([1.0]), threshold=0.5).tolist()
        [1.0]
    """
    soft = ops.softplus(input, beta)
    return soft if threshold >= 20 else ops.where(input * beta > threshold, input, soft)


@framed
def logsigmoid(input: Tensor) -> Tensor:
    """Compute the logarithm of the sigmoid, -log(1 + e⁻ˣ), without overflow.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.logsigmoid(tensor(-1000.0)).item()
        -1000.0
    """
    return -ops.softplus(-floating(input))


@framed
def softsign(input: Tensor) -> Tensor:
    """Compute softsign, ``x / (1 + |x|)``.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softsign(tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """
    return _composed(lambda x: x / (1.0 + ops.abs(x)))(input)


@framed
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Compute leaky ReLU with a slope below 0 that is a tensor.

    Source: He et al., "Delving deep into rectifiers", 2015.

    Args:
        input: Shape (N, C, ...), or any shape if there is one slope.
        weight: The slopes below 0, of shape (C,), (1,) or ().

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.prelu(tensor([[-1.0, -1.0, 2.0]]), tensor([0.5, 0.25, 0.0])).tolist()
        [[-0.5, -0.25, 2.0]]
    """
    channels = input.shape[1] if input.ndim > 1 else 1
    wrong = weight.ndim > 1 or math.prod(weight.shape) not in (1, channels)
    wanted = f"an input with {channels} channels and a weight of shape ({channels},) or (1,)"
    refuse_shapes(wrong, "prelu", wanted, input, weight)
    positive = input > 0
    slope = weight.reshape(-1, *(1,) * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(())
    return ops.where(positive, input, slope * ops.where(positive, 0.0, input))


@checked
@framed
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Compute the gated linear unit: the first half of an axis times the sigmoid of the second.

    The axis `dim` has an even size, and half of it in the result.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.glu(tensor([6.0, 8.0, 0.0, 1000.0])).tolist()
        [3.0, 8.0]
    """
    values, gates = ops.split(input, 2, dim)
    return values * sigmoid(gates)


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function with an underscore: it writes its result over the input."""

    @functools.wraps(function)
    def call(input: Tensor, *args: Any, **options: Any) -> Tensor:
        return function(input, *args, inplace=True, **options)

    call.__name__ = call.__qualname__ = f"{function.__name__}_"
    return call


celu_, elu_ = _in_place(celu), _in_place(elu)
hardtanh_, leaky_relu_ = _in_place(hardtanh), _in_place(leaky_relu)
relu_, rrelu_ = _in_place(relu), _in_place(rrelu)
selu_, threshold_ = _in_place(selu), _in_place(threshold)
