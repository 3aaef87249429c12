"""Linear and bilinear maps, the identity, and layers that change only the shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_flag, check_size
from minigrad.tensors import functions
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["Bilinear", "Flatten", "Identity", "Linear", "Unflatten"]


class Linear(Module):
    r"""The affine map :math:`y = x W^\top + b` of the last axis.

    Weight and bias are initialized uniformly from ±1/√in_features, as in PyTorch.

    Args:
        in_features: The size of the last axis of the input.
        out_features: The size of the last axis of the output.
        bias: Whether to add b.
        device: "cpu".
        dtype: The dtype of the parameters; by default the default dtype.

    Attributes:
        weight: W, of shape (out_features, in_features).
        bias: b, of shape (out_features,), or None.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Linear(4, 3)(ones((2, 5, 4))).shape
        minigrad.Size([2, 5, 3])
    """

    repr_fields = ("in_features", "out_features", "bias")
    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features = check_size("Linear", "in_features", in_features)
        self.out_features = check_size("Linear", "out_features", out_features)
        self.weight = Parameter(empty((out_features, in_features)))
        self.bias = Parameter(empty(out_features)) if check_flag("Linear", "bias", bias) else None
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        bound = 1.0 / math.sqrt(self.in_features)
        init.uniform(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Map a tensor of shape (..., in_features) to (..., out_features)."""
        return F.linear(input, self.weight, self.bias)


class Bilinear(Module):
    r"""The bilinear map :math:`y_o = x_1^\top W_o\, x_2 + b_o` of the last axes.

    See `functional.bilinear`.

    Weight and bias are initialized uniformly from ±1/√in1_features, as in PyTorch.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Bilinear(4, 3, 2)(ones((5, 4)), ones((5, 3))).shape
        minigrad.Size([5, 2])
    """

    repr_fields = ("in1_features", "in2_features", "out_features", "bias")
    bias: Parameter | None

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in1_features = check_size("Bilinear", "in1_features", in1_features)
        self.in2_features = check_size("Bilinear", "in2_features", in2_features)
        self.out_features = check_size("Bilinear", "out_features", out_features)
        self.weight = Parameter(empty((out_features, in1_features, in2_features)))
        self.bias = Parameter(empty(out_features)) if check_flag("Bilinear", "bias", bias) else None
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        bound = 1.0 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            init.uniform(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Map tensors of shape (..., in1_features) and (..., in2_features)."""
        return F.bilinear(input1, input2, self.weight, self.bias)


class Identity(Module):
    """The identity: the output is the input. It takes any arguments, which change nothing.

    Example:
        >>> from minigrad import nn
        >>> nn.Identity(54, unused=True)(3)
        3
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002 - it stands for others
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


@layer_of(functions.flatten)
class Flatten(UnaryLayer):
    """The axes from start_dim to end_dim as one; by default all but the batch axis.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Flatten()(ones((2, 3, 4, 5))).shape
        minigrad.Size([2, 60])
    """

    start_dim: int = 1
    end_dim: int = -1


class Unflatten(Module):
    """One axis as several; one of the new sizes may be -1, to be inferred.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Unflatten(1, (3, 4, -1))(ones((2, 60))).shape
        minigrad.Size([2, 3, 4, 5])
    """

    repr_fields = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, Iterable):
            raise TypeError(f"Unflatten: a tuple of sizes expected, got {unflattened_size!r}")
        self.dim = dim
        kept = isinstance(unflattened_size, (tuple, list))
        self.unflattened_size = unflattened_size if kept else tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """Unflatten a tensor whose axis has the product of the sizes as its size."""
        return functions.unflatten(input, self.dim, self.unflattened_size)
