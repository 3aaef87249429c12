"""Layers in the notation of the package einops: Rearrange and Reduce.

A pattern names the axes of the input and of the output: ``"n c h w -> n (h w) c"`` merges two axes
and moves another to the end. ``...`` means any number of axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.nn.module.base import Module
from minigrad.support.checks import optional_package
from minigrad.tensors.tensor import Tensor

__all__ = ["Rearrange", "Reduce"]


class Rearrange(Module):
    """The layer of ``einops.rearrange``, which reorders, splits and merges axes.

    It needs the package einops.

    Args:
        pattern: The axes of the input, an arrow, the axes of the output.
        **shapes: The lengths of axes that cannot be inferred from the input.

    Raises:
        EinopsError: The pattern is invalid, or (when called) does not fit the input.
        ImportError: einops is not installed.

    Example:
        >>> from minigrad import nn, ones
        >>> patches = nn.Rearrange("n (h p) (w q) -> n (h w) (p q)", p=2, q=2)
        >>> patches(ones((3, 8, 8))).shape
        minigrad.Size([3, 16, 4])
    """

    def __init__(self, pattern: str, **shapes: int) -> None:
        super().__init__()
        optional_package("Rearrange", "einops.layers").RearrangeMixin(pattern, **shapes)  # checks
        self.pattern, self.shapes = pattern, shapes

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange the axes; a view where the memory allows it."""
        rearrange = optional_package("Rearrange", "einops").rearrange
        return rearrange(input, self.pattern, **self.shapes)

    def extra_repr(self) -> str:
        return ", ".join([repr(self.pattern), *(f"{axis}={n}" for axis, n in self.shapes.items())])


class Reduce(Module):
    """The layer of ``einops.reduce``, which reduces the axes that the output lacks.

    It needs the package einops.

    Args:
        pattern: The axes of the input, an arrow, the axes of the output.
        reduction: "sum", "mean", "max", "min", "prod", "any" or "all"; or a function of a tensor
            and a tuple of axes.
        **shapes: The lengths of axes that cannot be inferred from the input.

    Example:
        >>> from minigrad import nn, ones
        >>> pool = nn.Reduce("n c (h p) (w q) -> n c h w", "max", p=2, q=2)
        >>> pool(ones((3, 5, 8, 8))).shape
        minigrad.Size([3, 5, 4, 4])
    """

    def __init__(
        self, pattern: str, reduction: str | Callable[[Any, Any], Any], **shapes: int
    ) -> None:
        super().__init__()
        optional_package("Reduce", "einops.layers").ReduceMixin(pattern, reduction, **shapes)
        self.pattern, self.reduction, self.shapes = pattern, reduction, shapes

    def forward(self, input: Tensor) -> Tensor:
        """Reduce and rearrange the axes."""
        einops = optional_package("Reduce", "einops")
        return einops.reduce(input, self.pattern, self.reduction, **self.shapes)

    def extra_repr(self) -> str:
        lengths = [f"{axis}={n}" for axis, n in self.shapes.items()]
        return ", ".join([repr(self.pattern), repr(self.reduction), *lengths])
