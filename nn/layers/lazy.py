"""Layers that learn the size of their input from the first one: LazyLinear and others."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.errors import value_error
from minigrad.nn.functional.convolution import Border, PaddingMode
from minigrad.nn.functional.windows import Sizes
from minigrad.nn.layers.convolution import Conv1d, Conv2d
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import BatchNorm1d, BatchNorm2d
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_size
from minigrad.tensors.creation import zeros
from minigrad.tensors.tensor import Tensor

__all__ = ["LazyBatchNorm1d", "LazyBatchNorm2d", "LazyConv1d", "LazyConv2d", "LazyLinear"]


class _Lazy(Module):
    """A layer whose parameters have no elements until it grows into one of another class.

    Parameters remain the same objects: an optimizer may be made before.
    """

    cls_to_become: ClassVar[type[Module] | None] = None
    """The class that it grows into; without one it stays what it is."""
    learned: ClassVar[str]
    """The attribute that is the size."""
    input_axis: ClassVar[int]
    weight_axis: ClassVar[int] = 1
    groups: int = 1
    _grown = False

    def has_uninitialized_params(self) -> bool:
        """Whether it has not grown yet."""
        return not self._grown

    def reset_parameters(self) -> None:
        """Initialize the parameters again, if it has grown."""
        if self._grown:
            super().reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Grow to the size of the first input, and map it as the layer that this one has become."""
        if self._grown:
            return super().forward(input)
        axis = self.input_axis
        self._grow(input.shape[axis] if -input.ndim <= axis < input.ndim else 0)
        return self.forward(input)  # that of the other class

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """Grow to the size of the loaded values."""
        shape = np.shape(state.get("weight", ()))
        if not self._grown and 0 not in shape:
            self._grow(shape[self.weight_axis] * self.groups)
        return state

    def _resize(self, size: int) -> None:
        setattr(self, self.learned, size)
        axis, count = self.weight_axis, size // self.groups
        for _, tensor in (*self._own_parameters(), *self._own_buffers()):
            if tensor.ndim > axis:
                shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :])
                tensor.data = zeros(shape, dtype=tensor.dtype)

    def _grow(self, size: int) -> None:
        if not size or size % self.groups:
            what = f"{self.learned}, axis {self.input_axis} of the input,"
            wanted = f"above 0 and divisible by groups ({self.groups})"
            raise value_error(f"{type(self).__name__}: {what} must be {wanted}, got {size}")
        self._resize(size)
        self._grown = True
        self.__class__ = self.cls_to_become or type(self)  # type: ignore[assignment]
        self.reset_parameters()


class LazyLinear(_Lazy, Linear):
    """A `Linear` layer whose `in_features` is the last axis of its first input.

    It then becomes a `Linear`. Until then its weight has the shape (out_features, 0).

    Example:
        >>> from minigrad import nn, ones
        >>> layer = nn.LazyLinear(3)
        >>> layer(ones((2, 5, 4))).shape, layer
        (minigrad.Size([2, 5, 3]), Linear(in_features=4, out_features=3, bias=True))
    """

    cls_to_become, learned, input_axis = Linear, "in_features", -1

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(1, out_features, bias, device, dtype)
        self._resize(0)


class _LazyConvolution(_Lazy):
    learned = "in_channels"

    def __init__(
        self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Border = 0,
        dilation: Sizes = 1, groups: int = 1, bias: bool = True,
        padding_mode: PaddingMode = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        groups = check_size(type(self).__name__, "groups", groups)
        options = stride, padding, dilation, groups, bias, padding_mode, device, dtype
        super().__init__(groups, out_channels, kernel_size, *options)  # type: ignore[call-arg]
        self._resize(0)


class LazyConv1d(_LazyConvolution, Conv1d):
    """A `Conv1d` whose `in_channels` is that of its first input: see `LazyLinear`."""

    cls_to_become, input_axis = Conv1d, -2


class LazyConv2d(_LazyConvolution, Conv2d):
    """A `Conv2d` whose `in_channels` is that of its first input: see `LazyLinear`.

    Example:
        >>> from minigrad import nn, ones
        >>> model = nn.Sequential(nn.LazyConv2d(8, 3), nn.Flatten(), nn.LazyLinear(10))
        >>> model(ones((2, 3, 6, 6))).shape, model[0].in_channels, model[2].in_features
        (minigrad.Size([2, 10]), 3, 128)
    """

    cls_to_become, input_axis = Conv2d, -3


class _LazyBatchNorm(_Lazy):
    learned, input_axis, weight_axis = "num_features", 1, 0

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        options = eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(1, *options, bias=bias)  # type: ignore[call-arg]
        self._resize(0)


class LazyBatchNorm1d(_LazyBatchNorm, BatchNorm1d):
    """A `BatchNorm1d` whose `num_features` is that of its first input: see `LazyLinear`."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyBatchNorm, BatchNorm2d):
    """A `BatchNorm2d` whose `num_features` is that of its first input: see `LazyLinear`.

    Example:
        >>> from minigrad import nn, ones
        >>> layer = nn.LazyBatchNorm2d()
        >>> layer(ones((2, 3, 4, 4))).shape, layer.num_features
        (minigrad.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = BatchNorm2d
