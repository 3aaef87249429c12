"""Activation layers, and looking up an activation by name.

The functions of the same names give the sources. ``inplace=True`` overwrites the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from minigrad.autograd.errors import refuse_shapes
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.function_layer import FunctionLayer, InPlaceLayer, UnaryLayer, layer_of
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_choice, check_size
from minigrad.tensors.creation import full
from minigrad.tensors.tensor import Tensor

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "HardSigmoid", "HardSwish", "Hardshrink", "Hardsigmoid",
    "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU",
    "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink",
    "Softsign", "Swish", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": F.tanh, "sigmoid": F.sigmoid,
    "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "relu6": F.relu6, "mish": F.mish,
    "hardswish": F.hardswish,
}  # fmt: skip
"""Activations that can be given by name."""


def activation_function(activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return an activation function, given itself or its name, a key of `ACTIVATIONS`."""
    if isinstance(activation, str):
        check_choice("a layer", "activation", activation, ACTIVATIONS)
        return ACTIVATIONS[activation]
    if not callable(activation):
        raise TypeError(f"activation: a name or a function expected, got {activation!r}")
    return activation


@layer_of(F.relu)
class ReLU(InPlaceLayer):
    """The rectified linear unit max(x, 0).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReLU()(tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """


@layer_of(F.relu6)
class ReLU6(InPlaceLayer):
    """ReLU with maximum 6: min(max(x, 0), 6).

    See `functional.relu6`.
    """


@layer_of(F.leaky_relu)
class LeakyReLU(UnaryLayer):
    """Leaky ReLU: x, or negative_slope · x below 0.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.LeakyReLU(0.5)(tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    negative_slope: float = 0.01
    inplace: bool = False


@layer_of(F.elu)
class ELU(UnaryLayer):
    """The exponential linear unit: x, or alpha · (eˣ - 1) below 0.

    See `functional.elu`.
    """

    alpha: float = 1.0
    inplace: bool = False


@layer_of(F.celu)
class CELU(UnaryLayer):
    """The ELU whose slope is 1 at 0 for every alpha: see `functional.celu`."""

    alpha: float = 1.0
    inplace: bool = False


@layer_of(F.selu)
class SELU(InPlaceLayer):
    """The scaled exponential linear unit: see `functional.selu`."""


@layer_of(F.gelu)
class GELU(UnaryLayer):
    r"""The Gaussian error linear unit :math:`x\,\Phi(x)`.

    Args:
        approximate: "none" for the exact function, "tanh" for the approximation of the paper.

    Example:
        >>> from minigrad import nn, tensor
        >>> round(nn.GELU()(tensor(1.0)).item(), 4)
        0.8413
    """

    approximate: Literal["none", "tanh"] = "none"


@layer_of(F.silu)
class SiLU(InPlaceLayer):
    """The sigmoid linear unit x · σ(x): see `functional.silu`."""


Swish = SiLU  # Lucid 2's name


@layer_of(F.mish)
class Mish(InPlaceLayer):
    """Mish: x · tanh(softplus(x)).

    See `functional.mish`.
    """


@layer_of(F.hardswish)
class Hardswish(InPlaceLayer):
    """Hard swish (Lucid 2's `HardSwish`): x · hardsigmoid(x), a piecewise approximation of SiLU.

    See `functional.hardswish`.
    """


@layer_of(F.hardsigmoid)
class Hardsigmoid(InPlaceLayer):
    """Hard sigmoid (Lucid 2's `HardSigmoid`): a piecewise linear approximation of the sigmoid.

    See `functional.hardsigmoid`.
    """


Hardswish.repr_fields = Hardsigmoid.repr_fields = ()  # PyTorch's do not show it either
HardSwish, HardSigmoid = Hardswish, Hardsigmoid  # Lucid 2's names


@layer_of(F.hardshrink)
class Hardshrink(UnaryLayer):
    """Hard shrinkage: x, or 0 from -lambd to lambd.

    See `functional.hardshrink`.
    """

    lambd: float = 0.5
    repr_sizes = ("lambd",)


@layer_of(F.softshrink)
class Softshrink(UnaryLayer):
    """Soft shrinkage: x moved towards 0 by lambd, or 0 from -lambd to lambd.

    See `functional.softshrink`.
    """

    lambd: float = 0.5

    repr_sizes = ("lambd",)


@layer_of(F.tanhshrink)
class Tanhshrink(UnaryLayer):
    """The difference x - tanh(x): see `functional.tanhshrink`."""


@layer_of(F.threshold)
class Threshold(UnaryLayer):
    """Each element that is above a threshold, and a value in place of the others.

    See `functional.threshold`.
    """

    threshold: float
    value: float
    inplace: bool = False


@layer_of(F.rrelu)
class RReLU(FunctionLayer):
    """Leaky ReLU whose slope below 0 is random in training, and the middle of its range otherwise.

    Source: Xu et al., "Empirical evaluation of rectified activations in convolutional network",
    2015.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.RReLU(0.25, 0.75).eval()(tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function, with slopes that are drawn in training mode."""
        return self._result(input, training=self.training)


@layer_of(F.tanh)
class Tanh(UnaryLayer):
    """The hyperbolic tangent: see `functional.tanh`."""


@layer_of(F.sigmoid)
class Sigmoid(UnaryLayer):
    """The logistic function 1 / (1 + e⁻ˣ): see `functional.sigmoid`."""


@layer_of(F.softplus)
class Softplus(UnaryLayer):
    r"""A smooth approximation of ReLU, :math:`\log(1 + e^{\beta x}) / \beta`.

    Args:
        beta: The sharpness; for large beta it approaches ReLU.
        threshold: Where beta · x is above it, the result is x itself.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Softplus()(tensor([-1000.0, 1000.0])).tolist()
        [0.0, 1000.0]
    """

    beta: float = 1.0
    threshold: float = 20.0


@layer_of(F.softmax)
class Softmax(UnaryLayer):
    """Softmax along an axis: positive values that sum to 1.

    Args:
        dim: The axis; it may be left out for inputs of one or two axes, where it is the last.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.Softmax(dim=-1)(tensor([7.0, 7.0])).tolist()
        [0.5, 0.5]
    """

    dim: int | None = None


@layer_of(F.softmin)
class Softmin(UnaryLayer):
    """The softmax of -x along an axis: see `Softmax`.

    See `functional.softmin`.
    """

    dim: int | None = None


@layer_of(F.log_softmax)
class LogSoftmax(UnaryLayer):
    """The logarithm of `Softmax`, computed in a numerically stable way.

    See `functional.log_softmax`.
    """

    dim: int | None = None


class Softmax2d(Module):
    """The softmax over the channels of images (N, C, H, W) or (C, H, W).

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Softmax2d()(ones((1, 2, 3, 3))).sum().item()
        9.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply softmax along the third axis from the end."""
        wanted = "an input of shape (N, C, H, W) or (C, H, W)"
        refuse_shapes(input.ndim not in (3, 4), "Softmax2d", wanted, input)
        return F.softmax(input, -3)


@layer_of(F.hardtanh)
class Hardtanh(UnaryLayer):
    """Each element limited to the range from min_val to max_val: see `functional.hardtanh`."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


@layer_of(F.logsigmoid)
class LogSigmoid(UnaryLayer):
    """The logarithm of the sigmoid, -log(1 + e⁻ˣ), without overflow.

    See `functional.logsigmoid`.
    """


@layer_of(F.softsign)
class Softsign(UnaryLayer):
    """Softsign, ``x / (1 + |x|)``: see `functional.softsign`."""


class PReLU(Module):
    """Leaky ReLU with a learned slope below 0.

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

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = check_size("PReLU", "num_parameters", num_parameters)
        self.init = init
        self.weight = Parameter(full(num_parameters, float(init)))
        self.to(dtype=dtype, device=device)

    def reset_parameters(self) -> None:
        """Set every slope to its initial value."""
        init.constant(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to an input of shape (N, C, ...), or any shape with one slope."""
        return F.prelu(input, self.weight)


@layer_of(F.glu)
class GLU(UnaryLayer):
    """The gated linear unit: the first half of an axis, of even size, times σ of the second.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.GLU()(tensor([6.0, 8.0, 0.0, 1000.0])).tolist()
        [3.0, 8.0]
    """

    dim: int = -1
