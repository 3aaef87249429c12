"""The activation functions that overwrite their input: as the others with ``inplace=True``."""

from __future__ import annotations

from minigrad.nn.functional import activation
from minigrad.nn.functional.framing import framed
from minigrad.tensors.tensor import Tensor

__all__ = [
    "celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_",
]  # fmt: skip


@framed
def relu_(input: Tensor) -> Tensor:
    """Overwrite a tensor with its `relu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([-1.0, 2.0])
        >>> nn.functional.relu_(x) is x, x.tolist()
        (True, [0.0, 2.0])
    """
    return activation.relu(input, inplace=True)


@framed
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Overwrite a tensor with its `leaky_relu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.leaky_relu_(tensor([-1.0, 2.0]), 0.5).tolist()
        [-0.5, 2.0]
    """
    return activation.leaky_relu(input, negative_slope, inplace=True)


@framed
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Overwrite a tensor with its `elu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.elu_(tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """
    return activation.elu(input, alpha, inplace=True)


@framed
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Overwrite a tensor with its `celu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.celu_(tensor([-1000.0, 2.0]), 2.0).tolist()
        [-2.0, 2.0]
    """
    return activation.celu(input, alpha, inplace=True)


@framed
def selu_(input: Tensor) -> Tensor:
    """Overwrite a tensor with its `selu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> [round(x, 4) for x in nn.functional.selu_(tensor([-1000.0, 1.0])).tolist()]
        [-1.7581, 1.0507]
    """
    return activation.selu(input, inplace=True)


@framed
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Overwrite a tensor with its `hardtanh`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.hardtanh_(tensor([-3.0, 0.5, 3.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    return activation.hardtanh(input, min_val, max_val, inplace=True)


@framed
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Overwrite a tensor with its `threshold`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.threshold_(tensor([0.5, 2.0]), 1.0, -1.0).tolist()
        [-1.0, 2.0]
    """
    return activation.threshold(input, threshold, value, inplace=True)


@framed
def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """Overwrite a tensor with its `rrelu`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.rrelu_(tensor([-1.0, 2.0]), 0.25, 0.75).tolist()
        [-0.5, 2.0]
    """
    return activation.rrelu(input, lower, upper, training, inplace=True)
