"""Blocks of layers that convolutional networks repeat, under Lucid's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes
from minigrad.nn.functional.convolution import Border
from minigrad.nn.functional.windows import Sizes
from minigrad.nn.layers.activation import ReLU, Sigmoid, Softmax
from minigrad.nn.layers.convolution import Conv1d, Conv2d
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import BatchNorm1d, BatchNorm2d
from minigrad.nn.layers.pooling import AdaptiveAvgPool2d
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleList, Sequential
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = [
    "ConvBNReLU1d", "ConvBNReLU2d", "DepthSeparableConv1d", "DepthSeparableConv2d", "SEModule",
    "SelectiveKernel",
]  # fmt: skip


def _reduced(owner: str, name: str, channels: int, reduction: int) -> int:
    """The number of channels divided by the reduction, at least 1."""
    if check_size(owner, name, channels) < check_size(owner, "reduction", reduction):
        raise ValueError(f"{owner}: reduction ({reduction}) must be at most {name} ({channels})")
    return channels // reduction


class _ConvBNReLU(Module):
    """The layers of both blocks."""

    layers: ClassVar[tuple[type[Conv1d | Conv2d], type[BatchNorm1d | BatchNorm2d]]]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Border = 0, dilation: Sizes = 1, groups: int = 1, conv_bias: bool = True,
        eps: float = 1e-5, momentum: float | None = 0.1, bn_affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        convolution, normalization = self.layers
        options = stride, padding, dilation, groups, conv_bias
        self.conv = convolution(in_channels, out_channels, kernel_size, *options)
        self.bn = normalization(out_channels, eps, momentum, bn_affine, track_running_stats)
        self.relu = ReLU()

    def forward(self, input: Tensor) -> Tensor:
        """Map a tensor of shape (N, in_channels, ...) to (N, out_channels, ...)."""
        return self.relu(self.bn(self.conv(input)))


class ConvBNReLU1d(_ConvBNReLU):
    """A 1-D convolution, batch normalization and ReLU, with the arguments of `ConvBNReLU2d`."""

    layers = (Conv1d, BatchNorm1d)


class ConvBNReLU2d(_ConvBNReLU):
    """A 2-D convolution, batch normalization and ReLU.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: The height and width of the kernels: one int for both, or one for each.
        stride: The step between windows.
        padding: The zeros around the image, or "same" or "valid".
        dilation: The step between the elements of a kernel.
        groups: The number of groups of channels that are convolved separately.
        conv_bias: Whether the convolution has a bias; the normalization subtracts it again.
        eps: The number that is added to the variance.
        momentum: The weight of a batch in the running statistics; None averages all batches.
        bn_affine: Whether the normalization learns a scale and a shift.
        track_running_stats: Whether it keeps statistics for `eval()`.

    Attributes:
        conv: The `Conv2d`.
        bn: The `BatchNorm2d`.
        relu: The `ReLU`.

    Raises:
        ValueError: An argument is out of its range; the error names the layer.

    Source: Ioffe and Szegedy, "Batch normalization", 2015.

    Example:
        >>> from minigrad import nn, ones
        >>> block = nn.ConvBNReLU2d(3, 8, 3, stride=2, padding=1, conv_bias=False)
        >>> block(ones((2, 3, 28, 28))).shape
        minigrad.Size([2, 8, 14, 14])
    """

    layers = (Conv2d, BatchNorm2d)


class _DepthSeparableConv(Module):
    """The two convolutions."""

    layer: ClassVar[type[Conv1d | Conv2d]]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Border = 0, dilation: Sizes = 1, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        options = stride, padding, dilation, in_channels, bias
        self.depthwise = self.layer(in_channels, in_channels, kernel_size, *options)
        self.pointwise = self.layer(in_channels, out_channels, 1, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Map a tensor of shape (N, in_channels, ...) to (N, out_channels, ...)."""
        return self.pointwise(self.depthwise(input))


class DepthSeparableConv1d(_DepthSeparableConv):
    """A depthwise separable 1-D convolution, with the arguments of `DepthSeparableConv2d`."""

    layer = Conv1d


class DepthSeparableConv2d(_DepthSeparableConv):
    """A depthwise separable 2-D convolution: each channel by itself, then a mix of the channels.

    It has in_channels · (K · K' + out_channels) weights, where a convolution has
    in_channels · K · K' · out_channels.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: The height and width of the kernels: one int for both, or one for each.
        stride: The step between windows.
        padding: The zeros around the image, or "same" or "valid".
        dilation: The step between the elements of a kernel.
        bias: Whether both convolutions have a bias.

    Attributes:
        depthwise: The `Conv2d` with one kernel for each channel.
        pointwise: The `Conv2d` of size 1.

    Raises:
        ValueError: An argument is out of its range; the error names the layer.

    Source: Chollet, "Xception: deep learning with depthwise separable convolutions", 2017.

    Example:
        >>> from minigrad import nn, ones
        >>> block = nn.DepthSeparableConv2d(4, 8, 3, padding=1, bias=False)
        >>> block(ones((2, 4, 5, 5))).shape, block.count_parameters()
        (minigrad.Size([2, 8, 5, 5]), 68)
    """

    layer = Conv2d


class SEModule(Module):
    r"""Squeeze and excitation: weigh each channel by what all of them hold on average.

    With the mean s of each channel, it is
    :math:`x \cdot \sigma(W_2 \operatorname{ReLU}(W_1 s + b_1) + b_2)`.

    Args:
        in_channels: The channels C of the image.
        reduction: C divided by the hidden width.

    Attributes:
        fc1: The `Linear` from C to C // reduction.
        fc2: The `Linear` back to C.

    Raises:
        ValueError: `reduction` is larger than `in_channels`.

    Source: Hu et al., "Squeeze-and-excitation networks", 2018.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.SEModule(32)(ones((2, 32, 5, 5))).shape
        minigrad.Size([2, 32, 5, 5])
    """

    def __init__(self, in_channels: int, reduction: int = 16) -> None:
        super().__init__()
        hidden = _reduced("SEModule", "in_channels", in_channels, reduction)
        self.avgpool = AdaptiveAvgPool2d(1)
        self.fc1 = Linear(in_channels, hidden)
        self.fc2 = Linear(hidden, in_channels)
        self.relu, self.sigmoid = ReLU(), Sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        """Weigh the channels of images of shape (N, C, H, W)."""
        refuse_shapes(x.ndim != 4, "SEModule", "images of shape (N, C, H, W)", x)
        means = ops.flatten(self.avgpool(x), 1)
        weights = self.sigmoid(self.fc2(self.relu(self.fc1(means))))
        return x * ops.expand_dims(weights, (-2, -1))


class SelectiveKernel(Module):
    """Convolutions with kernels of several sizes, mixed by weights that depend on the image.

    For each image, a softmax over the branches gives the weight of each.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels C of the output.
        kernel_sizes: The size of the kernels of each branch.
        stride: The step between windows.
        padding: The zeros around the image, or "same" or "valid"; None is half of each kernel size.
        groups: The number of groups of channels that are convolved separately.
        reduction: C divided by the hidden width of the network that chooses.

    Attributes:
        branches: A `Conv2d` without bias for each kernel size.
        attention: The network that scores the branches.

    Raises:
        ValueError: There is no kernel size, sizes are even while `padding` is None, or `reduction`
            is larger than `out_channels`.

    Source: Li et al., "Selective kernel networks", 2019.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.SelectiveKernel(3, 16, [3, 5])(ones((2, 3, 8, 8))).shape
        minigrad.Size([2, 16, 8, 8])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_sizes: Sequence[int],
        stride: int = 1, padding: Border | None = None, groups: int = 1, reduction: int = 16,
    ) -> None:  # fmt: skip
        super().__init__()
        hidden = _reduced("SelectiveKernel", "out_channels", out_channels, reduction)
        sizes = [check_size("SelectiveKernel", "each of kernel_sizes", k) for k in kernel_sizes]
        if not sizes or (padding is None and not all(size % 2 for size in sizes)):
            remedy = f"kernel_sizes must be odd numbers, got {sizes}, or pass padding="
            raise ValueError(f"SelectiveKernel: {remedy}")
        self.branches = ModuleList(
            Conv2d(
                in_channels, out_channels, size, stride, size // 2 if padding is None else padding,
                groups=groups, bias=False,
            )
            for size in sizes
        )  # fmt: skip
        self.attention = Sequential(
            AdaptiveAvgPool2d(1),
            Conv2d(out_channels, hidden, 1, bias=False),
            BatchNorm2d(hidden),
            ReLU(),
            Conv2d(hidden, len(sizes), 1, bias=False),
        )
        self.softmax = Softmax(dim=1)

    def forward(self, x: Tensor) -> Tensor:
        """Map images of shape (N, in_channels, H, W) to (N, out_channels, ...)."""
        refuse_shapes(x.ndim != 4, "SelectiveKernel", "images of shape (N, C, H, W)", x)
        found = ops.stack([branch(x) for branch in self.branches], 1)  # (N, branches, C, H, W)
        weights = self.softmax(self.attention(ops.sum(found, 1)))  # (N, branches, 1, 1)
        return ops.sum(found * ops.expand_dims(weights, 2), 1)
