"""1-D and 2-D convolutions and transposed convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minigrad.autograd.errors import value_error
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.functional import convolution
from minigrad.nn.functional.convolution import Border, PaddingMode
from minigrad.nn.functional.windows import Sizes, size_of_input, window_of
from minigrad.nn.layers.function_layer import unusual
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support import checks
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d"]


class _ConvNd(Module):
    """The parameters and options that all convolutions share."""

    axes: int
    transposed = False
    bias: Parameter | None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Border = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
        padding_mode: PaddingMode = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels = checks.check_size(owner, "in_channels", in_channels)
        self.out_channels = checks.check_size(owner, "out_channels", out_channels)
        checked: Any = window_of if self.transposed else convolution.convolution_window
        window = checked(owner, self.axes, kernel_size, stride, padding, dilation)
        self.kernel_size, self.stride, pairs, self.dilation = window
        self.padding = padding if isinstance(padding, str) else tuple(n for n, _ in pairs)
        self.output_padding: tuple[int, ...] = (0,) * self.axes
        self.groups = checks.check_size(owner, "groups", groups)
        checks.check_divisible(owner, in_channels=in_channels, groups=groups)
        checks.check_divisible(owner, out_channels=out_channels, groups=groups)
        modes = ["zeros"] if self.transposed else ["zeros", *convolution.MODES]
        self.padding_mode = checks.check_choice(owner, "padding_mode", padding_mode, modes)
        first, second = out_channels, in_channels
        if self.transposed:
            first, second = second, first
        self.weight = Parameter(empty((first, second // groups, *self.kernel_size)))
        checks.check_flag(owner, "bias", bias)
        self.bias = Parameter(empty(out_channels)) if bias else None
        self.reset_parameters()
        self.to(dtype=dtype, device=device)

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        bound = 1.0 / math.sqrt(math.prod(self.weight.shape[1:]))
        init.uniform(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        sizes = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        options = unusual(self, padding=0, dilation=1, output_padding=0, groups=1)
        if self.bias is None:
            options.append("bias=False")
        options += unusual(self, padding_mode="zeros")
        return ", ".join([sizes, f"stride={self.stride}", *options])


class _Convolution(_ConvNd):
    """A convolution along `axes` axes."""

    def forward(self, input: Tensor) -> Tensor:
        """Map a tensor of shape (N, in_channels, ...) to (N, out_channels, ...), or without N."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution of the layer, with another weight: subclasses of PyTorch's call it."""
        options = self.stride, self.padding, self.dilation, self.groups, self.padding_mode
        owner = type(self).__name__
        return convolution.convolved(owner, self.axes, input, weight, bias, *options)


class Conv1d(_Convolution):
    """A 1-D convolution.

    The arguments are those of `Conv2d`, with one int for each option.

    Weight and bias are initialized uniformly from ±1/√(in_channels / groups · kernel_size), as in
    PyTorch.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Conv1d(3, 8, 5, padding="same")(ones((2, 3, 20))).shape
        minigrad.Size([2, 8, 20])
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
        minigrad.Size([2, 8, 14, 14])
    """

    axes = 2


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution along `axes` axes."""

    transposed = True
    padding: tuple[int, ...]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
        dilation: Sizes = 1, padding_mode: PaddingMode = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        options = stride, padding, dilation, groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, kernel_size, *options)
        owner, name = type(self).__name__, "output_padding"
        self.output_padding = checks.check_sizes(owner, name, output_padding, self.axes, least=0)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Map a tensor of shape (N, in_channels, ...) to (N, out_channels, ...), or without N.

        Args:
            input: The tensor.
            output_size: The sizes of the last axes of the result, which the stride leaves open; in
                place of `output_padding`.
        """
        transposed = F.conv_transpose1d if self.axes == 1 else F.conv_transpose2d
        more = self.output_padding if output_size is None else self._missing(input, output_size)
        options = self.stride, self.padding, more, self.groups, self.dilation
        return transposed(input, self.weight, self.bias, *options)

    def _missing(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """How many elements each axis is short of an output size."""
        owner, axes, wanted = type(self).__name__, self.axes, tuple(output_size)[-self.axes :]
        sizes = self.kernel_size, self.stride, self.padding, self.dilation
        least = size_of_input(window_of(owner, axes, *sizes), input.shape[-axes:])
        short = tuple(size - n for size, n in zip(wanted, least, strict=True))
        if any(not 0 <= n < s for n, s in zip(short, self.stride, strict=True)):
            most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
            raise value_error(f"{owner}: output_size {wanted} is not between {least} and {most}")
        return short


class ConvTranspose1d(_ConvTransposeNd):
    """A 1-D transposed convolution: see `functional.conv_transpose1d`.

    The arguments are those of `ConvTranspose2d`, with one int for each option.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConvTranspose1d(8, 3, 4, stride=2, padding=1)(ones((2, 8, 10))).shape
        minigrad.Size([2, 3, 20])
    """

    axes = 1


class ConvTranspose2d(_ConvTransposeNd):
    """A 2-D transposed convolution: see `functional.conv_transpose2d`.

    The options are those of `functional.conv_transpose2d`; K and K' are the size of a kernel, C and
    O the numbers of channels in and out. The weight has shape (C, O / groups, K, K').

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1)(ones((2, 8, 7, 7))).shape
        minigrad.Size([2, 3, 14, 14])
    """

    axes = 2
