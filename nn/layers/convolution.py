"""1-D and 2-D convolutions and transposed convolutions."""

from __future__ import annotations

import math
from typing import Literal

from minigrad import ops
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.functional.convolution import Border, Sizes, over_a_batch, padding_pairs
from minigrad.nn.functional.padding import MODES
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_size, check_sizes
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d"]

PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]


class _Kernels(Module):
    """The parameters and options that all convolutions share."""

    axes: int
    bias: Parameter | None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes,
        dilation: Sizes, groups: int, bias: bool, transposed: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels = check_size(owner, "in_channels", in_channels)
        self.out_channels = check_size(owner, "out_channels", out_channels)
        self.kernel_size = check_sizes(owner, "kernel_size", kernel_size, self.axes)
        self.stride = check_sizes(owner, "stride", stride, self.axes)
        self.dilation = check_sizes(owner, "dilation", dilation, self.axes)
        self.groups = check_size(owner, "groups", groups)
        for name, count in (("in_channels", in_channels), ("out_channels", out_channels)):
            if count % groups:
                raise ValueError(
                    f"{owner}: {name} ({count}) must be divisible by groups ({groups})"
                )
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *self.kernel_size)))
        self.bias = Parameter(empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        bound = 1.0 / math.sqrt(math.prod(self.weight.shape[1:]))
        init.uniform(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        for name, usual in (
            ("padding", 0), ("output_padding", 0), ("dilation", 1), ("groups", 1),
            ("padding_mode", "zeros"),
        ):  # fmt: skip
            value = getattr(self, name, usual)
            if value not in (usual, (usual,) * self.axes):
                parts.append(f"{name}={value!r}")
        return ", ".join([*parts, *["bias=False"] * (self.bias is None)])


class _Convolution(_Kernels):
    """A convolution along `axes` axes."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Border = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
        padding_mode: PaddingMode = "zeros",
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, dilation, groups, bias, False
        )
        owner = type(self).__name__
        if padding_mode != "zeros" and padding_mode not in MODES:
            raise ValueError(
                f"{owner}: padding_mode must be 'zeros' or one of "
                f"{', '.join(map(repr, MODES))}, got {padding_mode!r}"
            )
        self._pairs = padding_pairs(owner, self.kernel_size, self.stride, padding, self.dilation)
        self.padding = padding if isinstance(padding, str) else tuple(n for n, _ in self._pairs)
        self.padding_mode = padding_mode

    def forward(self, input_: Tensor) -> Tensor:
        """Map a tensor of shape (N, in_channels, ...) to (N, out_channels, ...), or without N."""

        def convolved(x: Tensor) -> Tensor:
            pairs = self._pairs
            if self.padding_mode != "zeros":
                x = ops.pad(x, ((0, 0), (0, 0), *pairs), MODES[self.padding_mode])
                pairs = ((0, 0),) * self.axes
            return ops.convolution(
                x, self.weight, self.bias, self.stride, pairs, self.dilation, self.groups
            )

        return over_a_batch(type(self).__name__, self.axes, input_, convolved)


class Conv1d(_Convolution):
    """A 1-D convolution.

    The arguments are those of `Conv2d`, with one int for each option.

    Weight and bias are initialized uniformly from ±1/√(in_channels / groups · kernel_size), as in
    PyTorch.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Conv1d(3, 8, 5, padding="same")(ones((2, 3, 20))).shape
        (2, 8, 20)
    """

    axes = 1


class Conv2d(_Convolution):
    """A 2-D convolution.

    The options are those of `functional.conv2d`; C is `in_channels`, O `out_channels`, the number
    of kernels, and (K, K') `kernel_size`. `padding_mode` is "zeros", "reflect" (mirrored),
    "replicate" (the edge value repeated) or "circular" (values from the other side).

    The weight has shape (O, C / groups, K, K'). It and the bias are initialized uniformly from
    ±1/√(in_channels / groups · K · K'), as in PyTorch. Options take one int for both axes, or one
    per axis.

    Source: LeCun et al., "Backpropagation applied to handwritten zip code recognition", 1989.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Conv2d(3, 8, 3, stride=2, padding=1)(ones((2, 3, 28, 28))).shape
        (2, 8, 14, 14)
    """

    axes = 2


class _Transposed(_Kernels):
    """A transposed convolution along `axes` axes."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
        dilation: Sizes = 1,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, dilation, groups, bias, True
        )
        owner = type(self).__name__
        self.padding = check_sizes(owner, "padding", padding, self.axes, least=0)
        self.output_padding = check_sizes(
            owner, "output_padding", output_padding, self.axes, least=0
        )

    def forward(self, input_: Tensor) -> Tensor:
        """Map a tensor of shape (N, in_channels, ...) to (N, out_channels, ...), or without N."""
        transposed = F.conv_transpose1d if self.axes == 1 else F.conv_transpose2d
        return transposed(
            input_, self.weight, self.bias, self.stride, self.padding, self.output_padding,
            self.groups, self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_Transposed):
    """A 1-D transposed convolution: see `functional.conv_transpose1d`.

    The arguments are those of `ConvTranspose2d`, with one int for each option.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConvTranspose1d(8, 3, 4, stride=2, padding=1)(ones((2, 8, 10))).shape
        (2, 3, 20)
    """

    axes = 1


class ConvTranspose2d(_Transposed):
    """A 2-D transposed convolution: see `functional.conv_transpose2d`.

    The options are those of `functional.conv_transpose2d`; K and K' are the size of a kernel, C and
    O the numbers of channels in and out. The weight has shape (C, O / groups, K, K').

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1)(ones((2, 8, 7, 7))).shape
        (2, 3, 14, 14)
    """

    axes = 2
