"""Layers that put a border around the last one or two axes; `functional.pad` is the function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from minigrad.nn import functional as F
from minigrad.nn.functional.padding import PadMode
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_number, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "CircularPad1d", "CircularPad2d", "ConstantPad1d", "ConstantPad2d", "ReflectionPad1d",
    "ReflectionPad2d", "ReplicationPad1d", "ReplicationPad2d", "ZeroPad1d", "ZeroPad2d",
]  # fmt: skip


Constant = float
"""Any number, -inf too."""


class _Pad(Module):
    """A border around the last `axes` axes."""

    axes: ClassVar[int]
    mode: ClassVar[PadMode]
    value: float | None = None

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        least = 0 if self.mode != "constant" else -(2**31)
        self.padding = check_sizes(type(self).__name__, "padding", padding, 2 * self.axes, least)

    def forward(self, input: Tensor) -> Tensor:
        """Pad an input of shape (..., L) or (..., H, W)."""
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: Constant) -> None:
        super().__init__(padding)
        if value != -math.inf:
            check_number(type(self).__name__, "value", value, infinite=True)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Padding of sequences (..., L) with a constant.

    Args:
        padding: The width, or (left, right); a negative one removes elements.
        value: The constant.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConstantPad1d((1, 2), 5.0)(ones((1, 2))).tolist()
        [[5.0, 1.0, 1.0, 5.0, 5.0]]
    """

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Padding of images (..., H, W) with a constant.

    Args:
        padding: The width, or (left, right, top, bottom); a negative one removes pixels.
        value: The constant.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ConstantPad2d((1, 0, 0, 0), 5.0)(ones((1, 2, 2))).tolist()
        [[[5.0, 1.0, 1.0], [5.0, 1.0, 1.0]]]
    """

    axes = 2


class ZeroPad1d(_Pad):
    """Padding of sequences (..., L) with zeros.

    Args:
        padding: The width, or (left, right); a negative one removes elements.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ZeroPad1d((1, 2))(ones((1, 2))).tolist()
        [[0.0, 1.0, 1.0, 0.0, 0.0]]
    """

    axes, mode = 1, "constant"


class ZeroPad2d(_Pad):
    """Padding of images (..., H, W) with zeros.

    Args:
        padding: The width, or (left, right, top, bottom); a negative one removes pixels.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.ZeroPad2d((1, 0, 0, 0))(ones((1, 2, 2))).tolist()
        [[[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]]
    """

    axes, mode = 2, "constant"


class ReflectionPad1d(_Pad):
    """Padding of sequences (..., L) with their reflection, without the edge.

    Args:
        padding: The width, or (left, right); each less than L.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReflectionPad1d((2, 0))(tensor([[1.0, 2.0, 3.0]])).tolist()
        [[3.0, 2.0, 1.0, 2.0, 3.0]]
    """

    axes, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding of images (..., H, W) with their reflection, without the edge.

    Args:
        padding: The width, or (left, right, top, bottom); each less than the size of its axis.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReflectionPad2d((2, 0, 0, 0))(tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 2.0, 1.0, 2.0, 3.0]]]
    """

    axes, mode = 2, "reflect"


class ReplicationPad1d(_Pad):
    """Padding of sequences (..., L) with their first and last element.

    Args:
        padding: The width, or (left, right).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReplicationPad1d((2, 1))(tensor([[1.0, 2.0]])).tolist()
        [[1.0, 1.0, 1.0, 2.0, 2.0]]
    """

    axes, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding of images (..., H, W) with their edges.

    Args:
        padding: The width, or (left, right, top, bottom).

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.ReplicationPad2d((2, 1, 0, 0))(tensor([[[1.0, 2.0]]])).tolist()
        [[[1.0, 1.0, 1.0, 2.0, 2.0]]]
    """

    axes, mode = 2, "replicate"


class CircularPad1d(_Pad):
    """Circular padding: elements of the other side before and after sequences (..., L).

    Args:
        padding: The width, or (left, right); each at most L.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.CircularPad1d((2, 1))(tensor([[1.0, 2.0, 3.0]])).tolist()
        [[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]]
    """

    axes, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Circular padding: pixels of the other side around images (..., H, W).

    Args:
        padding: The width, or (left, right, top, bottom); each at most the size of its axis.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.CircularPad2d((2, 1, 0, 0))(tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]]]
    """

    axes, mode = 2, "circular"
