"""Activation layers, and looking up an activation by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from minigrad._checks import check_number, check_size
from minigrad._creation import full
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter

__all__ = [
    "ELU", "GELU", "GLU", "SELU", "HardSigmoid", "HardSwish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softplus",
    "Softsign", "Swish", "Tanh",
]  # fmt: skip

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": F.tanh, "sigmoid": F.sigmoid,
    "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "relu6": F.relu6, "mish": F.mish,
    "hardswish": F.hardswish,
}  # fmt: skip
"""Activations that can be given by name."""


def activation_function(activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return an activation function, given its name or itself.

    Args:
        activation: A key of `ACTIVATIONS`, or a function or module.

    Returns:
        A function of a tensor.

    Raises:
        ValueError: The name is unknown.
        TypeError: It is neither a name nor callable.

    Example:
        >>> import minigrad
        >>> from minigrad.nn.layers.activation import activation_function
        >>> activation_function("relu")(minigrad.tensor([-1.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            known = ", ".join(repr(name) for name in ACTIVATIONS)
            raise ValueError(f"activation: {activation!r} is none of {known}; pass a function")
        return ACTIVATIONS[activation]
    if not callable(activation):
        raise TypeError(f"activation: a name or a function expected, got {activation!r}")
    return activation


class _InPlace(Module):
    """An elementwise activation that can overwrite its input."""

    function: Callable[..., Tensor]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return self.function(input_, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """The rectified linear unit max(x, 0).

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReLU()(tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    function = staticmethod(F.relu)


class ReLU6(_InPlace):
    """ReLU with maximum 6: min(max(x, 0), 6).

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReLU6()(tensor([-1.0, 2.0, 7.0])).tolist()
        [0.0, 2.0, 6.0]
    """

    function = staticmethod(F.relu6)


class LeakyReLU(_InPlace):
    """Leaky ReLU: x, or negative_slope · x below 0.

    Args:
        negative_slope: The slope below 0.
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.LeakyReLU(0.5)(tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.leaky_relu(input_, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(_InPlace):
    """The exponential linear unit: x, or alpha · (eˣ - 1) below 0.

    Args:
        alpha: The limit for x → -∞ is -alpha.
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ELU()(tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.elu(input_, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class SELU(_InPlace):
    """The scaled exponential linear unit: see `functional.selu`.

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.SELU()(tensor(1.0)).item(), 4)
        1.0507
    """

    function = staticmethod(F.selu)


class GELU(Module):
    r"""The Gaussian error linear unit :math:`x\,\Phi(x)`.

    Source: Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    Args:
        approximate: "none" for the exact function, "tanh" for the approximation of the paper.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.GELU()(tensor(1.0)).item(), 4)
        0.8413
    """

    repr_fields = ("approximate",)

    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None:
        super().__init__()
        if approximate not in ("none", "tanh"):
            raise ValueError(f"GELU: approximate must be 'none' or 'tanh', got {approximate!r}")
        self.approximate = approximate

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.gelu(input_, self.approximate)


class SiLU(_InPlace):
    """The sigmoid linear unit x · σ(x).

    Source: Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units", 2017.

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.SiLU()(tensor(1.0)).item(), 4)
        0.7311
    """

    function = staticmethod(F.silu)


Swish = SiLU


class Mish(_InPlace):
    """Mish: x · tanh(softplus(x)).

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.Mish()(tensor(1.0)).item(), 4)
        0.8651
    """

    function = staticmethod(F.mish)


class HardSwish(_InPlace):
    """Hard swish: x · hardsigmoid(x), a piecewise approximation of SiLU.

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.HardSwish()(tensor([-4.0, 3.0])).tolist()
        [0.0, 3.0]
    """

    function = staticmethod(F.hardswish)


class HardSigmoid(_InPlace):
    """Hard sigmoid: a piecewise linear approximation of the sigmoid.

    Args:
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.HardSigmoid()(tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """

    function = staticmethod(F.hardsigmoid)


class Tanh(Module):
    """The hyperbolic tangent.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Tanh()(tensor([0.0, 100.0])).tolist()
        [0.0, 1.0]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.tanh(input_)


class Sigmoid(Module):
    """The logistic function 1 / (1 + e⁻ˣ).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Sigmoid()(tensor([0.0, 100.0])).tolist()
        [0.5, 1.0]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.sigmoid(input_)


class Softplus(Module):
    r"""A smooth approximation of ReLU, :math:`\log(1 + e^{\beta x}) / \beta`.

    Source: Dugas et al., "Incorporating second-order functional knowledge for better option
    pricing", 2000.

    Args:
        beta: The sharpness; for large beta it approaches ReLU.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Softplus()(tensor([-1000.0, 1000.0])).tolist()
        [0.0, 1000.0]
    """

    repr_fields = ("beta",)

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        if beta == 0:
            raise ValueError("Softplus: beta must not be 0")
        self.beta = beta

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.softplus(input_, self.beta)


class Softmax(Module):
    """Softmax along an axis: positive values that sum to 1.

    Args:
        axis: The axis.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Softmax()(tensor([7.0, 7.0])).tolist()
        [0.5, 0.5]
    """

    repr_fields = ("axis",)

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function along the axis of a tensor of any shape."""
        return F.softmax(input_, axis=self.axis)


class LogSoftmax(Module):
    """The logarithm of softmax, computed in a numerically stable way.

    Args:
        axis: The axis.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.LogSoftmax()(tensor([0.0, 1000.0])).tolist()
        [-1000.0, 0.0]
    """

    repr_fields = ("axis",)

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function along the axis of a tensor of any shape."""
        return F.log_softmax(input_, axis=self.axis)


class Hardtanh(_InPlace):
    """Limit each element to the range from min_val to max_val.

    Args:
        min_val: The least value.
        max_val: The greatest value.
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Hardtanh()(tensor([-3.0, 0.5, 3.0])).tolist()
        [-1.0, 0.5, 1.0]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val = check_number("Hardtanh", "min_val", min_val)
        self.max_val = check_number("Hardtanh", "max_val", max_val, min_val)

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.hardtanh(input_, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        bounds = f"min_val={self.min_val}, max_val={self.max_val}"
        return ", ".join([bounds, *["inplace=True"] * self.inplace])


class LogSigmoid(Module):
    """The logarithm of the sigmoid, -log(1 + e⁻ˣ), without overflow.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.LogSigmoid()(tensor(-1000.0)).item()
        -1000.0
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.logsigmoid(input_)


class Softsign(Module):
    """Softsign, ``x / (1 + |x|)``.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Softsign()(tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function elementwise to a tensor of any shape."""
        return F.softsign(input_)


class PReLU(Module):
    """Leaky ReLU with a learned slope below 0.

    Source: He et al., "Delving deep into rectifiers", 2015.

    Args:
        num_parameters: 1, or the number C of channels: one slope for each.
        init: The initial slope.

    Attributes:
        weight: The slopes, of shape (num_parameters,).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.PReLU()(tensor([-1.0, 2.0])).tolist()
        [-0.25, 2.0]
    """

    repr_fields = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.num_parameters = check_size("PReLU", "num_parameters", num_parameters)
        self.init = init
        self.weight = Parameter(full(num_parameters, float(init)))

    def reset_parameters(self) -> None:
        """Set every slope to its initial value."""
        init.constant(self.weight, self.init)

    def forward(self, input_: Tensor) -> Tensor:
        """Apply the function to an input of shape (N, C, ...), or any shape with one slope."""
        return F.prelu(input_, self.weight)


class GLU(Module):
    """The gated linear unit: the first half of an axis times the sigmoid of the second.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Args:
        axis: The axis, of even size.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.GLU()(tensor([6.0, 8.0, 0.0, 1000.0])).tolist()
        [3.0, 8.0]
    """

    repr_fields = ("axis",)

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input_: Tensor) -> Tensor:
        """Halve the axis of a tensor of any shape."""
        return F.glu(input_, self.axis)
