"""Activation functions.

``inplace=True`` overwrites the input with the result; it saves no time. It is an error for a leaf,
and in the backward pass if a rule needs the overwritten values.
"""

from __future__ import annotations

from minigrad import ops
from minigrad._checks import check_number
from minigrad._inplace import overwritten
from minigrad._spelling import spelled
from minigrad._tensor import Tensor
from minigrad.ops import gelu, log_softmax, sigmoid, softmax, softplus, tanh
from minigrad.ops.activation import hardtanh

__all__ = [
    "elu", "gelu", "hardsigmoid", "hardswish", "leaky_relu", "log_softmax", "mish", "relu", "relu6",
    "selu", "sigmoid", "silu", "softmax", "softplus", "tanh",
]  # fmt: skip

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
"""The constants of Klambauer et al. that keep mean 0 and variance 1 from layer to layer."""


@spelled
def relu(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute ReLU, max(x, 0): see `minigrad.relu`.

    Args:
        input_: x, a tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([-1.0, 2.0])
        >>> nn.functional.relu(x, inplace=True) is x, x.tolist()
        (True, [0.0, 2.0])
    """
    return overwritten(input_, ops.relu) if inplace else ops.relu(input_)


@spelled
def silu(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute SiLU, x · σ(x): see `minigrad.silu`.

    Args:
        input_: x, a tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.silu(tensor(1.0)).item(), 4)
        0.7311
    """
    return overwritten(input_, ops.silu) if inplace else ops.silu(input_)


@spelled
def leaky_relu(input_: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Compute leaky ReLU: x, or ``negative_slope · x`` below 0.

    Source: Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models",
    2013.

    Args:
        input_: x, a tensor of any shape.
        negative_slope: The slope below 0.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.leaky_relu(tensor([-1.0, 2.0]), 0.5).tolist()
        [-0.5, 2.0]
    """
    if inplace:
        return overwritten(input_, leaky_relu, negative_slope)
    check_number("leaky_relu", "negative_slope", negative_slope)
    return ops.where(input_ > 0, input_, input_ * negative_slope)


@spelled
def elu(input_: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the exponential linear unit: x, or ``alpha · (eˣ - 1)`` below 0.

    Source: Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by
    exponential linear units", 2015.

    Args:
        input_: x, a tensor of any shape.
        alpha: The limit for x → -∞ is -alpha.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.elu(tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """
    if inplace:
        return overwritten(input_, elu, alpha)
    check_number("elu", "alpha", alpha)
    positive = input_ > 0
    below = ops.where(positive, 0.0, input_)  # the exponential must not overflow
    return ops.where(positive, input_, ops.expm1(below) * alpha)


@spelled
def selu(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute the scaled exponential linear unit, which keeps mean 0 and variance 1.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.

    Args:
        input_: A tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> [round(x, 4) for x in nn.functional.selu(tensor([-1000.0, 1.0])).tolist()]
        [-1.7581, 1.0507]
    """
    if inplace:
        return overwritten(input_, selu)
    return elu(input_, SELU_ALPHA) * SELU_SCALE


@spelled
def relu6(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute ReLU with maximum 6: min(max(x, 0), 6).

    Source: Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    Args:
        input_: x, a tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.relu6(tensor([-1.0, 2.0, 7.0])).tolist()
        [0.0, 2.0, 6.0]
    """
    if inplace:
        return overwritten(input_, relu6)
    return hardtanh(input_, 0.0, 6.0)


@spelled
def hardsigmoid(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute the hard sigmoid: 0 up to -3, 1 from 3, and x / 6 + 1/2 between.

    Source: Courbariaux, Bengio and David, "BinaryConnect", 2015.

    Args:
        input_: x, a tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardsigmoid(tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    if inplace:
        return overwritten(input_, hardsigmoid)
    return relu6(input_ + 3) / 6


@spelled
def hardswish(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute hard swish: x · hardsigmoid(x).

    Source: Howard et al., "Searching for MobileNetV3", 2019.

    Args:
        input_: x, a tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardswish(tensor([-4.0, 3.0])).tolist()
        [0.0, 3.0]
    """
    if inplace:
        return overwritten(input_, hardswish)
    return ops.where(input_ <= -3, 0.0, input_ * hardsigmoid(input_))


@spelled
def mish(input_: Tensor, inplace: bool = False) -> Tensor:
    """Compute Mish: x · tanh(softplus(x)).

    Source: Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    Args:
        input_: x, a tensor of any shape.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.functional.mish(tensor(1.0)).item(), 4)
        0.8651
    """
    if inplace:
        return overwritten(input_, mish)
    return input_ * tanh(softplus(input_))
