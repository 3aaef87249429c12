"""Flatten and Unflatten: merge axes into one, split one into several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.autograd.mode import located
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of
from minigrad.nn.module.base import Module
from minigrad.tensors.tensor import Tensor

__all__ = ["Flatten", "Unflatten"]


@layer_of(ops.flatten)
class Flatten(UnaryLayer):
    """The axes from start_axis to end_axis as one; by default all but the batch axis.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Flatten()(ones((2, 3, 4, 5))).shape
        (2, 60)
    """

    start_axis: int = 1
    end_axis: int = -1


class Unflatten(Module):
    """One axis as several; one of the new sizes may be -1, to be inferred.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.Unflatten(1, (3, 4, -1))(ones((2, 60))).shape
        (2, 3, 4, 5)
    """

    repr_fields = ("axis", "unflattened_size")

    def __init__(self, axis: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.axis = axis
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input_: Tensor) -> Tensor:
        """Unflatten a tensor whose axis has the product of the sizes as its size."""
        shape, sizes = input_.shape, self.unflattened_size
        if not -len(shape) <= self.axis < len(shape):
            raise IndexError(located(f"Unflatten: there is no axis {self.axis} in shape {shape}"))
        axis = self.axis % len(shape)
        known = math.prod(size for size in sizes if size != -1)
        if sizes.count(-1) > 1 or (
            shape[axis] % known if -1 in sizes and known else shape[axis] != math.prod(sizes)
        ):
            raise value_error(f"Unflatten: axis {axis} of shape {shape} cannot be made {sizes}")
        return input_.reshape(*shape[:axis], *sizes, *shape[axis + 1 :])
