"""Flatten and Unflatten: merge axes into one, split one into several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import located
from minigrad.nn.module.base import Module
from minigrad.tensors.tensor import Tensor

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """The axes from start_dim to end_dim as one; by default all but the batch axis.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Flatten()(ones((2, 3, 4, 5))).shape
        minigrad.Size([2, 60])
    """

    repr_fields = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Flatten the axes."""
        return ops.flatten(input, self.start_dim, self.end_dim)


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
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """Unflatten a tensor whose axis has the product of the sizes as its size."""
        shape, sizes = input.shape, self.unflattened_size
        if not -len(shape) <= self.dim < len(shape):
            raise IndexError(located(f"Unflatten: there is no axis {self.dim} in shape {shape}"))
        axis = self.dim % len(shape)
        known = math.prod(size for size in sizes if size != -1)
        if sizes.count(-1) > 1 or (
            shape[axis] % known if -1 in sizes and known else shape[axis] != math.prod(sizes)
        ):
            raise value_error(f"Unflatten: axis {axis} of shape {shape} cannot be made {sizes}")
        return ops.reshape(input, (*shape[:axis], *sizes, *shape[axis + 1 :]))
