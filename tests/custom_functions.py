"""Functions with a backward of their own, for the tests of whatever meets one."""

from typing import Any

import minigrad
from minigrad import Tensor
from minigrad.autograd import Function


class Cube(Function):
    """Its rule is the derivative, of what it saved."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * g * x * x


class StraightThrough(Function):
    """Its rule is not the derivative, and means it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return minigrad.round(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g


class Reversal(Function):
    """The gradient turned round, by a factor that is not a tensor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return -ctx.factor * g, None
